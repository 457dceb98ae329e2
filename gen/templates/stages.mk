
DEVICE  ?= auto
JIT     ?= 0
ARGS    ?=
# Data paths in the experiment are relative to this folder.
FROM    ?= .
# RT: the folder that holds runtime/. RTLIB: a library built from the runtime's sources, if any.
RT      ?= .
RTLIB   ?=
SIM_OUT ?= $(CURDIR)/sim

include $(RT)/runtime/folder.mk
include $(RT)/runtime/processes.mk
include $(RT)/runtime/toolkit.mk
include $(RT)/runtime/target.mk
include $(RT)/runtime/comm/mpi/mpi.mk

stages := $(shell seq -f stage_%g 0 $$(($(STAGES) - 1)))
each   := $(shell echo $$(($(RANKS) / $(STAGES))))
common  = DEVICE=$(DEVICE) JIT=$(JIT) RT=$(abspath $(RT)) SIM_OUT=$(abspath $(SIM_OUT))
library = $(if $(RTLIB),$(RTLIB),$(CURDIR)/stage_0/runtime.a)

probe   = cd '$(subst ','\'',$(FROM))' && $(CURDIR)/stage_0/run --probe $(ARGS)

.PHONY: all probe run clean runtime $(stages)
.DEFAULT_GOAL := all
all: $(stages) $(CURDIR)/run

# Compile the runtime only once.
runtime:
	$(if $(RTLIB),,$(MAKE) -C stage_0 $(common) runtime.a)

# The other stages wait for stage_0, so that only one make builds the simulated device.
$(stages): runtime
	$(MAKE) -C $@ $(common) RTLIB=$(library)
$(foreach s,$(wordlist 2,$(STAGES),$(stages)),$(eval $s: stage_0))

# The command of every process: it starts the program of the process's stage.
define choose_stage
#!/bin/sh
# Consecutive ranks belong to the same stage.
rank=$${OMPI_COMM_WORLD_RANK:-$${PMI_RANK:-$${SLURM_PROCID:-0}}}
exec "$${0%/*}/stage_$$((rank / $(each)))/run" "$$@"
endef
$(CURDIR)/run: Makefile
	$(file >$@,$(choose_stage))chmod +x $@

# exec, so that make passes a signal on to mpirun and waits for it.
run: all need_mpi
	@cd '$(subst ','\'',$(FROM))' && exec env GPUOPT_DEVICE=$(DEVICE) GPUOPT_JIT=$(JIT) \
	    GPUOPT_SIM_DIR=$(abspath $(SIM_OUT)) CUDA_HOME=$(CUDA_HOME) $(MPIRUN) $(call mpirun_flags,$(target)) -np $(NP) $(CURDIR)/run $(ARGS)

# Only checks the options, by the program of the first stage, without kernels.
probe: runtime
	@$(MAKE) -C stage_0 $(common) RTLIB=$(library) FROM='$(abspath $(FROM))' ARGS='$(subst ','\'',$(ARGS))' probe

clean:
	rm -rf run sim
	$(foreach s,$(stages),$(MAKE) -C $s $(common) clean;)
