# NP: how many processes to start, as many as the program was generated for (RANKS). mpirun would add an error
# of its own to the program's.
ifeq ($(strip $(NP)),)
override NP := $(RANKS)
endif
ifneq ($(NP),$(RANKS))
ifeq ($(shell echo '$(NP)' | grep -xE '[1-9][0-9]{0,5}'),)
$(error NP=$(NP): it is how many processes to start, a number from 1)
endif
made    := $(if $(filter 1,$(RANKS)),one rank,$(RANKS) ranks)
spec    := $(firstword $(wildcard spec.toml ../spec.toml))
layouts := $(shell awk -v own=$(RANKS) -v ranks=$(NP) -f $(RT)/runtime/comm/layouts.awk $(spec))
$(error NP=$(NP): this program was generated for $(made): leave NP out, or generate it for another layout: $(layouts))
endif
