#!/bin/bash
# Ranks on two hosts, which are network namespaces with a link between them: they train, the link is
# cut in the middle of a step, all of them end in time, and one rank resumes. Skips if namespaces
# are not permitted. Prints `ok hosts NAME` or `FAIL hosts NAME`; exits with 1 if any failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/tests/hosts
. tests/runtime/written.sh
suite=hosts
LIMIT_S=5 # comm_timeout_s
net=10.213.$(($$ % 250)) spaces=()

remove_hosts() {
    local host
    for host in "${spaces[@]}"; do
        kill -KILL $(ip netns pids "$host") 2> /dev/null
        ip netns del "$host" 2> /dev/null
    done
}
trap remove_hosts EXIT

# Makes two hosts, $net.1 and $net.2, and a link.
make_hosts() {
    local host
    for host in "gg$$a" "gg$$b"; do
        ip netns add "$host" && spaces+=("$host") && ip -n "$host" link set lo up || return 1
    done
    ip link add va netns "gg$$a" type veth peer name vb netns "gg$$b" &&
        ip -n "gg$$a" addr add "$net.1/24" dev va && ip -n "gg$$b" addr add "$net.2/24" dev vb &&
        ip -n "gg$$a" link set va up && ip -n "gg$$b" link set vb up &&
        unshare --uts hostname here.test
}

# A replacement for ssh that runs a command on the other host, under another host name, because
# ranks with the same host name share memory.
write_agent() {
    cat > "$work/agent" << AGENT
#!/bin/sh
shift
exec ip netns exec gg$$b unshare --uts sh -c "hostname there.test; \$*"
AGENT
    chmod +x "$work/agent"
    printf '%s slots=1\n' "$net.1" "$net.2" > "$work/hosts"
}

# across PROGRAM OUT [OPTION]...: runs two ranks, one on each host; output in $work/OUT.log.
across() {
    local dir=$work/$1 out=$work/$2
    shift 2
    (cd "$dir" && timeout 120 ip netns exec "gg$$a" unshare --uts sh -c 'hostname here.test; exec "$@"' sh \
        mpirun --allow-run-as-root --hostfile "$work/hosts" --map-by node -np 2 --bind-to none \
        --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca btl_tcp_if_include "$net.0/24" \
        --mca oob_tcp_if_include "$net.0/24" -x GPUOPT_DEVICE -x GPUOPT_SIM_DIR -x CUDA_HOME \
        ./run --out "$out" "$@") > "$out.log" 2>&1
}

# any_rank OUT: whether a rank of the run that writes to OUT still runs.
any_rank() {
    local file
    for file in $(grep -lsz -x -e "$work/$1" /proc/[0-9]*/cmdline); do
        [ "$(head -z -n 1 "$file" 2> /dev/null | tr -d '\0')" = ./run ] && return 0
    done
    return 1
}

# Two hosts give the results of one.
test_two_hosts() {
    across two two_hosts && (cd "$work/two" && mpirun --allow-run-as-root --oversubscribe --bind-to none \
        -np 2 ./run --out "$work/one_host") > "$work/one_host.log" 2>&1 && same_results one_host two_hosts &&
        grep -q '"host": "here.test"' "$work/two_hosts/report.json" &&
        grep -q '"host": "there.test"' "$work/two_hosts/report.json"
}

# All ranks end within the limit (plus the time of the watchdog, the launcher and a slow machine),
# with a line that says what they waited for; saved files are complete.
test_cut_link() {
    local job began waited
    across watched cut &
    job=$!
    until [ -e "$work/cut/checkpoints/step_20" ] || ! kill -0 $job 2> /dev/null; do sleep 0.02; done
    ip -n "gg$$a" link set va down
    began=$(date +%s)
    while any_rank cut && [ $(($(date +%s) - began)) -lt 60 ]; do sleep 0.2; done
    waited=$(($(date +%s) - began))
    kill $job 2> /dev/null
    kill -KILL $(ip netns pids "gg$$b") 2> /dev/null
    wait $job
    local code=$?
    cp "$work/cut.log" "$work/link.log"
    echo "after $waited s: $code" >> "$work/link.log"
    [ $code != 0 ] && [ $waited -le $((LIMIT_S + 7)) ] &&
        says link "error: rank [01]: .* \(of\|up to\) step [0-9]*.* did not finish within $LIMIT_S s (parallelism.comm_timeout_s)" &&
        [ -n "$(ls "$work/cut/checkpoints")" ]
}

# One rank with the same rows per step; in fp32 and 800 steps, rounding makes little difference.
test_fewer_ranks_go_on() {
    run alone cut --resume && (cd "$work/whole" && mpirun --allow-run-as-root --oversubscribe --bind-to none \
        -np 2 ./run --out "$work/whole_out") > "$work/whole_out.log" 2>&1 &&
        paste -d, "$work/cut/loss.csv" "$work/whole_out/loss.csv" | awk -F, '
            NR > 1 { gap = $2 - $6; if (gap * gap > 1e-6 * $2 * $2) exit 1; rows++ }
            END { if (rows != 800) exit 1 }'
}

for command in ip unshare mpirun mpicc; do
    command -v $command > /dev/null || skip "no $command here (Debian: iproute2, util-linux, openmpi-bin, libopenmpi-dev)"
done
make_hosts > "$work/hosts.log" 2>&1 || skip "network namespaces may not be made here: $(tail -n 1 "$work/hosts.log")"
write_agent
mpicc -std=c17 -Wall -Wextra -Wpedantic -Werror -shared -fPIC runtime/comm/mpi/mpi_shim.c \
    -o "$work/libgpuopt_mpi.so" || exit 1
program two -DRANKS=2
program watched -DRANKS=2 -DSTEPS=800 -DCOMM_TIMEOUT_S=$LIMIT_S
program whole -DRANKS=2 -DSTEPS=800
program alone -DMICRO_STEPS=2 -DSTEPS=800
for name in two watched whole; do cp "$work/libgpuopt_mpi.so" "$work/$name"; done
run_tests
exit $failed
