
DEVICE  ?= auto
JIT     ?= 0
ARGS    ?=
# RANKS: what the program was generated for. NP: processes to start, one per rank.
RANKS   ?= 1
# Data paths in the experiment are relative to this folder.
FROM    ?= .
# RT: the folder that holds runtime/. RTLIB: a library built from the runtime's sources, if any.
RT      ?= .
RTLIB   ?=
SIM_OUT ?= $(CURDIR)/sim
CFLAGS  ?= -O2 -g
STRICT  ?= -Wall -Wextra

include $(RT)/runtime/folder.mk
include $(RT)/runtime/processes.mk
include $(RT)/runtime/toolkit.mk
include $(RT)/runtime/target.mk
include $(RT)/runtime/comm/mpi/mpi.mk
NVCC    ?= $(or $(wildcard $(CUDA_HOME)/bin/nvcc),$(shell command -v nvcc 2>/dev/null))

# The module of kernels per kind of device. With JIT=1 there is none for cuda: the program compiles it.
module_sim    := kernels.sim
module_cuda   := $(if $(filter 1,$(JIT)),,kernels.cubin)
simulator_sim := $(SIM_OUT)/simcc

# Several ranks need MPI, and on the simulated device its NCCL.
mpi := $(filter-out 1,$(RANKS))
ifneq ($(mpi),)
simulator_sim += $(SIM_OUT)/libnccl.so.2
endif
launch = $(if $(filter-out 1,$(NP)),$(MPIRUN) $(call mpirun_flags,$(target)) -np $(NP))
# With auto, a program built for a GPU must not run on the simulated device, for which it has no kernels.
chosen = $(if $(filter cuda,$(target)),cuda,$(DEVICE))
environment = GPUOPT_DEVICE=$(chosen) GPUOPT_JIT=$(JIT) GPUOPT_SIM_DIR=$(abspath $(SIM_OUT)) CUDA_HOME=$(CUDA_HOME)
# Fails if the program refuses its options, or if there is no device for its only rank.
probe  = cd '$(subst ','\'',$(FROM))' && $(environment) $(CURDIR)/run --probe $(ARGS)
will_run := $(filter run ready,$(MAKECMDGOALS))

.DELETE_ON_ERROR:
.PHONY: all probe ready run clean need_host need_nvcc
.DEFAULT_GOAL := all
all: $(CURDIR)/run $(if $(mpi),libgpuopt_mpi.so) $(module_$(target)) $(simulator_$(target))

# exec, so that make passes a signal on to the program and waits for its checkpoint.
run: all $(if $(filter-out 1,$(NP)),need_mpi)
	@cd '$(subst ','\'',$(FROM))' && exec env $(environment) $(launch) $(CURDIR)/run $(ARGS)

# Only checks the options and that there is a device, without kernels.
probe: $(CURDIR)/run
	@$(probe)

# Builds what run needs, and checks that it can start.
ready: all
	@$(probe)

# ---- the program -------------------------------------------------------------------------------

warnings := -std=c17 -D_GNU_SOURCE $(STRICT) -ffp-contract=off
includes := -I. -I$(RT) -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include
# The folders in which the program finds the simulated device, and NVRTC runtime/kernel.cuh.
obj/runtime/device/device.o: defines := -DGPUOPT_SIM_DIR='"$(abspath $(SIM_OUT))"'
obj/runtime/device/jit.o: defines := -DGPUOPT_RUNTIME_PARENT='"$(if $(filter .,$(RT)),.,$(abspath $(RT)))"'
# Link static libraries where installed, so that the program runs on machines without the libraries.
static    = $(or $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a)),-l$(1))
sources  := $(filter-out $(RT)/runtime/sim/%,$(wildcard $(RT)/runtime/*/*.c))
runtime  := $(sources:$(RT)/%.c=obj/%.o)
objects  := obj/program.o obj/values.o $(if $(RTLIB),,$(runtime))

$(CURDIR)/run: $(objects) $(RTLIB)
	$(CC) $(LDFLAGS) -o $@ $^ $(call static,jansson) $(call static,z) -ldl -lm -lpthread

# The runtime as a library, for programs that share RT.
runtime.a: $(runtime)
	$(AR) rcs $@ $^

# With a runtime in another folder, use its header: the copy here, which the compiler would find
# first, may be older.
obj/%.o: header := $(if $(filter-out .,$(RT)),-include $(RT)/runtime/runtime.h)
obj/%.o: %.c | need_host
	@mkdir -p $(@D)
	$(CC) $(warnings) $(CFLAGS) $(header) $(includes) -MMD -MP -c -o $@ $<

obj/runtime/%.o: $(RT)/runtime/%.c | need_host
	@mkdir -p $(@D)
	$(CC) $(warnings) $(CFLAGS) $(defines) $(includes) -MMD -MP -c -o $@ $<

libgpuopt_mpi.so: $(RT)/runtime/comm/mpi/mpi_shim.c $(RT)/runtime/comm/mpi/mpi_shim.h | need_mpi
	$(MPICC) -std=c17 $(STRICT) $(CFLAGS) -shared -fPIC -o $@ $<

-include $(wildcard obj/*.d obj/runtime/*/*.d)

need_host:
	@$(need_toolkit)
	@echo '#include <jansson.h>' | $(CC) -E -o /dev/null - 2>/dev/null || \
	    { echo "error: jansson.h is not there: install jansson (Debian: libjansson-dev)"; exit 1; } >&2
	@echo '#include <zlib.h>' | $(CC) -E -o /dev/null - 2>/dev/null || \
	    { echo "error: zlib.h is not there: install zlib (Debian: zlib1g-dev)"; exit 1; } >&2

# ---- the kernels -------------------------------------------------------------------------------

comma   := ,
wanted  := $(subst $(comma), ,$(ARCH))
known    = $(if $(NVCC),$(shell $(NVCC) --list-gpu-code))
archs    = $(foreach a,$(wanted),$(if $(filter $(patsubst %a,%,$a),$(known)),$a))
lacking  = $(filter-out $(archs),$(wanted))
gencode  = $(foreach a,$(archs),-gencode arch=$(a:sm_%=compute_%)$(comma)code=$a)

# Kernels take long to compile; if they cannot run here, that is said before.
kernels.cubin: kernels.cu $(RT)/runtime/kernel.cuh | need_nvcc $(if $(will_run),$(CURDIR)/run)
	@$(if $(will_run),$(probe))
	@$(if $(lacking),echo "note: this nvcc does not know $(lacking); skipped" >&2,:)
	$(NVCC) $(if $(word 2,$(archs)),-fatbin,-cubin) $(gencode) -std=c++17 -fmad=false -lineinfo -I$(RT) -o $@ $<

need_nvcc:
	@test -n "$(NVCC)" || \
	    { echo "error: nvcc is not there: install the CUDA toolkit or name its folder in CUDA_HOME; JIT=1 and DEVICE=sim do without"; exit 1; } >&2
	@test -z "$(NVCC)" || test -n "$(archs)" || \
	    { echo "error: this nvcc knows none of $(wanted): take a newer CUDA toolkit, or name others in ARCH"; exit 1; } >&2

# It is linked against the simulated device, which must be whole.
kernels.sim: kernels.cu $(RT)/runtime/kernel.cuh $(simulator_sim) | need_host
	CUDA_HOME=$(CUDA_HOME) $(SIM_OUT)/simcc -I $(RT) $< -o $@

sim_make = $(MAKE) -f $(RT)/runtime/sim/Makefile.inc RT=$(RT)/runtime SIM_OUT=$(SIM_OUT) CUDA_HOME=$(CUDA_HOME)
$(SIM_OUT)/simcc: | need_host
	+$(sim_make) sim

$(SIM_OUT)/libnccl.so.2: $(SIM_OUT)/simcc | need_mpi
	+$(sim_make) sim_ranks

clean:
	rm -rf run runtime.a libgpuopt_mpi.so obj kernels.cubin kernels.sim kernels.nvrtc.* sim
