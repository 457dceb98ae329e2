# Which kind of device to build for, cuda or sim: the one place that decides, for every emitted program and
# for studies. auto means cuda if a driver has created its files in /dev; the program asks the driver.
#
#     include runtime/target.mk                       sets target, from DEVICE
#     make -s -f runtime/target.mk DEVICE=auto        prints it, for scripts

target_mk := $(lastword $(MAKEFILE_LIST))
target_is_asked := $(filter $(target_mk),$(firstword $(MAKEFILE_LIST)))

target := $(if $(filter auto,$(DEVICE)),$(if $(wildcard /dev/nvidiactl /dev/dxg),cuda,sim),$(DEVICE))
ifeq ($(filter cuda sim,$(target)),)
$(error DEVICE=$(DEVICE): it can be auto, cuda or sim)
endif

ifneq ($(target_is_asked),)
.PHONY: target
target:
	@echo $(target)
endif
