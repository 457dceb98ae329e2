# shellcheck shell=sh
# The environment of tests that build and run programs. Sourced from the root of the tree. RT, RTLIB
# and SIM_OUT name a built runtime and simulated device, CC a compiler and CUDA_HOME a toolkit.
export RT="${RT:-$PWD}" RTLIB="${RTLIB:-$PWD/build/libruntime.a}" SIM_OUT="${SIM_OUT:-$PWD/build/sim}"
export DEVICE=sim GPUOPT_DEVICE=sim GPUOPT_SIM_DIR="$SIM_OUT" OPENBLAS_NUM_THREADS=1
export CUDA_HOME="${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}"
CC=${CC:-gcc}
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID GPUOPT_JIT
