# Which MPI, and how to launch ranks with it: MPI_HOME, else the PATH.
MPICC  ?= $(if $(MPI_HOME),$(MPI_HOME)/bin/)mpicc
MPIRUN ?= $(if $(MPI_HOME),$(MPI_HOME)/bin/)mpirun

.PHONY: need_mpi
need_mpi:
	@command -v $(MPICC) >/dev/null || { echo "error: $(MPICC) is not there, and several ranks need \
MPI: install Open MPI (Debian: openmpi-bin libopenmpi-dev), or name its folder in MPI_HOME" >&2; exit 1; }

# What the machine can do that mpirun does not know: root may be all there is, ranks on the simulated
# device need no core of their own, and a rank's threads prepare data on more than one core.
open_mpi      = $(shell $(MPIRUN) --version 2>/dev/null | grep -q 'Open MPI' && echo yes)
mpirun_flags  = $(if $(open_mpi),--bind-to none $(if $(filter 0,$(shell id -u)),--allow-run-as-root) \
    $(if $(filter sim,$(1)),--oversubscribe))
