#!/bin/bash
# job.sbatch on a one-node Slurm that this script starts: two ranks and an array on the simulated
# device, and a job that ends by a signal and resumes. Skips if Slurm (Debian: slurm-wlm, munge) is
# missing or does not start.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/slurm
. tests/runtime/emitted.sh
suite=slurm
export SLURM_CONF=$work/slurm.conf

for command in slurmctld slurmd munged sbatch srun sinfo; do
    command -v $command >/dev/null || skip "no $command here (Debian: slurm-wlm, munge)"
done
[ "$(id -u)" = 0 ] || skip "slurmd needs root"

started=()
stop_all() {
    [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
    wait
}
trap stop_all EXIT

# Starts a program in the background that ends with this script.
start() {
    local log=$work/$1.log
    "$@" >"$log" 2>&1 &
    started+=($!)
}

# Keeps everything in one folder, and uses ports that are unlikely to be taken.
start_slurm() {
    local host cores port=$((20000 + $$ % 20000))
    host=$(hostname -s) cores=$(nproc)
    mkdir -p "$work/spool" "$work/state" && chmod 755 "$work" "$work/spool" "$work/state" || return 1
    head -c 128 /dev/urandom >"$work/munge.key" && chmod 400 "$work/munge.key"
    cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
SwitchType=switch/none
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=$((cores < 8 ? 8 : cores)) Gres=gpu:4 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
    touch "$work"/gpu{0,1,2,3}
    echo "NodeName=$host Name=gpu File=$work/gpu[0-3]" >"$work/gres.conf"
    start munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
        --pid-file="$work/munge.pid" --log-file="$work/munge.log" --seed-file="$work/munge.seed"
    sleep 1
    start slurmctld -D
    start slurmd -D -N "$host"
    local i
    for i in $(seq 30); do
        sinfo -h -o %t 2>/dev/null | grep -q '^\(idle\|mix\)' && return 0
        sleep 1
    done
    return 1
}

# job FOLDER [OPTION]...: submits a job and waits; the exit code is the job's.
job() {
    local folder=$1
    shift
    timeout 300 sbatch --wait "$@" "$folder/job.sbatch" >"$folder.sbatch" 2>&1
}

spec=tests/oracle/cases/demo/spec.toml
start_from=(data.eval_batches=1 training.steps=4)

test_two_ranks() {
    ./gpuopt-gen --slurm $spec --set parallelism.data_parallel_replicate_degree=2 \
        --set "${start_from[0]}" --set "${start_from[1]}" --set job.time=10:00 -o "$work/two" >/dev/null &&
        job "$work/two" && grep -q '"ranks": 2' "$work/two/out/report.json"
}

test_array() {
    { cat $spec; printf '[sweep]\n"parallelism.data_parallel_replicate_degree" = [1, 2]\n'; } >"$work/cards.toml"
    ./gpuopt-gen --slurm "$work/cards.toml" --set "${start_from[0]}" --set "${start_from[1]}" \
        -o "$work/cards" >/dev/null && job "$work/cards" &&
        [ "$(cat "$work"/cards/*/out/report.json | grep -c '"ranks": [12]')" = 2 ]
}

# As before the time limit: Slurm signals all tasks, and the job returns to the queue.
test_signal_and_requeue() {
    ./gpuopt-gen --slurm $spec --set parallelism.data_parallel_replicate_degree=2 \
        --set data.eval_batches=1 --set training.steps=3000 --set checkpoint.interval=10 \
        -o "$work/long" >/dev/null || return 1
    sed 's/^# \(\[ $code -ne 75 \]\)/\1/' "$work/long/job.sbatch" >"$work/long/requeue.sbatch"
    local id i
    id=$(sbatch --parsable "$work/long/requeue.sbatch") || return 1
    for i in $(seq 120); do [ -d "$work/long/out/checkpoints/step_10" ] && break; sleep 0.5; done
    scancel --signal=USR1 "$id"
    for i in $(seq 60); do grep -q 'go on with --resume' "$work/long"/slurm-*.out 2>/dev/null && break; sleep 0.5; done
    grep -q 'go on with --resume' "$work/long"/slurm-*.out || return 1
    for i in $(seq 60); do scontrol show job "$id" | grep -q 'Restarts=1' && break; sleep 0.5; done
    scontrol show job "$id" | grep -q 'Restarts=1'
    local code=$?
    scancel "$id"
    return $code
}

start_slurm || skip "Slurm does not come up: $(tail -n 1 "$work/slurmctld.log" "$work/slurmd.log" | tr '\n' ' ')"
run_tests
exit $failed
