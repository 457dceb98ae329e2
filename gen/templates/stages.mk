
DEVICE  ?= auto
JIT     ?= 0
ARGS    ?=
ifeq ($(strip $(NP)),)
override NP := $(RANKS)
endif
ifneq ($(NP),$(RANKS))
$(error NP=$(NP): these are $(STAGES) stages for $(RANKS) processes in all; leave NP out, or generate them for others)
endif
# Paths of data in the experiment are relative to this folder.
FROM    ?= .
# The folder that holds runtime/, or a library made of the runtime's sources.
RT      ?= .
RTLIB   ?=
SIM_OUT ?= $(CURDIR)/sim

include $(RT)/runtime/toolkit.mk
include $(RT)/runtime/comm/mpi/mpi.mk

ifneq ($(word 2,$(CURDIR)),)
$(error make cannot build in "$(CURDIR)", for it splits names at spaces: copy this folder to a path without)
endif

target := $(if $(filter auto,$(DEVICE)),$(if $(wildcard /dev/nvidiactl /dev/dxg),cuda,sim),$(DEVICE))
stages := $(shell seq -f stage_%g 0 $$(($(STAGES) - 1)))
each   := $(shell echo $$(($(RANKS) / $(STAGES))))
common  = DEVICE=$(DEVICE) JIT=$(JIT) RT=$(abspath $(RT)) SIM_OUT=$(abspath $(SIM_OUT))
library = $(if $(RTLIB),$(RTLIB),$(CURDIR)/stage_0/runtime.a)

.PHONY: all run clean runtime $(stages)
.DEFAULT_GOAL := all
all: $(stages) $(CURDIR)/run

# The runtime is compiled once.
runtime:
	$(if $(RTLIB),,$(MAKE) -C stage_0 $(common) runtime.a)

# One after the other where they would build the simulated device at once.
$(stages): runtime
	$(MAKE) -C $@ $(common) RTLIB=$(library)
$(foreach s,$(wordlist 2,$(STAGES),$(stages)),$(eval $s: stage_0))

# What all processes are started as.
define choose_stage
#!/bin/sh
# A rank's number counts the stages slowest.
rank=$${OMPI_COMM_WORLD_RANK:-$${PMI_RANK:-$${SLURM_PROCID:-0}}}
exec "$${0%/*}/stage_$$((rank / $(each)))/run" "$$@"
endef
$(CURDIR)/run: Makefile
	$(file >$@,$(choose_stage))chmod +x $@

run: all need_mpi
	cd $(FROM) && GPUOPT_DEVICE=$(DEVICE) GPUOPT_JIT=$(JIT) GPUOPT_SIM_DIR=$(abspath $(SIM_OUT)) \
	    CUDA_HOME=$(CUDA_HOME) $(MPIRUN) $(call mpirun_flags,$(target)) -np $(NP) $(CURDIR)/run $(ARGS)

clean:
	rm -rf run sim
	$(foreach s,$(stages),$(MAKE) -C $s $(common) clean;)
