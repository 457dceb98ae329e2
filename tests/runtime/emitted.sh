# shellcheck shell=bash
# Shared by tests with emitted programs; sourced from the root of the tree. `work` is a folder for
# scratch files, emptied unless `keep` is set; RT, RTLIB and SIM_OUT name a built runtime and
# simulated device.
export RT="${RT-$PWD}" RTLIB="${RTLIB-$PWD/build/libruntime.a}" SIM_OUT="${SIM_OUT-$PWD/build/sim}"
export GPUOPT_DEVICE=sim GPUOPT_SIM_DIR="$SIM_OUT" OPENBLAS_NUM_THREADS=1
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID GPUOPT_JIT
[ "${keep-}" ] || rm -rf "$work"
mkdir -p "$work"

# program NAME SPEC [KEY=VALUE]...
program() {
    local dir=$work/$1 spec=$2 sets=()
    shift 2
    for setting in "$@"; do sets+=(--set "$setting"); done
    ./gpuopt-gen "$spec" "${sets[@]}" -o "$dir" >"$dir.log" 2>&1 &&
        make -s -C "$dir" DEVICE=sim >>"$dir.log" 2>&1
}
