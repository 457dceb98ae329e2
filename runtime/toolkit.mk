# Which CUDA toolkit: the one place that decides, for the project, the simulated device and every
# emitted program. CUDA_HOME, else the toolkit of the nvcc on the PATH, else the usual place, else the
# wheels that `make deps` fetched; empty where there is none.
#
#     include runtime/toolkit.mk       sets CUDA_HOME, and need_toolkit for recipes
#     make -s -f runtime/toolkit.mk    prints it, for scripts

toolkit_mk := $(lastword $(MAKEFILE_LIST))
toolkit_is_asked := $(filter $(toolkit_mk),$(firstword $(MAKEFILE_LIST)))

ifndef CUDA_HOME
nvcc_found := $(realpath $(shell command -v nvcc 2>/dev/null))
CUDA_HOME  := $(firstword $(patsubst %/include/cuda.h,%,$(wildcard $(addsuffix /include/cuda.h,\
    $(nvcc_found:%/bin/nvcc=%) /usr/local/cuda $(abspath $(dir $(toolkit_mk))../build/deps/cuda)))))
endif

# One line, before a compiler says it in a hundred.
need_toolkit = test -f "$(CUDA_HOME)/include/cuda.h" || { echo "error: no CUDA toolkit$(if \
    $(CUDA_HOME), in $(CUDA_HOME)): install CUDA 12.4 to 13, or name its folder in CUDA_HOME" >&2; exit 1; }

ifneq ($(toolkit_is_asked),)
.PHONY: toolkit
toolkit:
	@echo $(CUDA_HOME)
endif
