# Which MPI, and how to launch ranks with it: MPI_HOME, else the PATH.
MPICC  ?= $(if $(MPI_HOME),$(MPI_HOME)/bin/)mpicc
MPIRUN ?= $(if $(MPI_HOME),$(MPI_HOME)/bin/)mpirun

.PHONY: need_mpi
need_mpi:
	@command -v $(MPICC) >/dev/null || { echo "error: $(MPICC) not found, but several ranks need \
MPI: install Open MPI (Debian: openmpi-bin libopenmpi-dev) or set MPI_HOME to its folder" >&2; exit 1; }

# mpirun's defaults are too strict here: containers may run as root, ranks on the simulated device need
# no core of their own, and the threads of a rank prepare data on more than one core.
open_mpi      = $(shell $(MPIRUN) --version 2>/dev/null | grep -q 'Open MPI' && echo yes)
mpirun_flags  = $(if $(open_mpi),--bind-to none $(if $(filter 0,$(shell id -u)),--allow-run-as-root) \
    $(if $(filter sim,$(1)),--oversubscribe))

# What the program refuses is refused by one process before mpirun starts, which would add an error of its own.
ifneq ($(filter-out 1,$(NP)),)
.PHONY: check_options
run: check_options
check_options: all
	@$(probe)
endif
