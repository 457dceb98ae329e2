#!/bin/sh
# Tests the parts of check-gpu that need no GPU. Without a GPU it fails immediately. kernel_check, with
# the simulated device on both sides and kernels from NVRTC's stand-in on one, passes, and detects a
# kernel that differs a little, also among those that make images of JPEG files. Steps on one device are
# compared with those on another. launch_times reports the launches of a step that the plan has. ptxas
# leaves the registers of products in flight alone, and in_flight.py detects code that does not.
# bench-tuning's programs can be generated; tables and aims of benchmarks are right for invented
# measurements.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=build/gpu-tests
. tests/env.sh
. tests/lib.sh
suite=gpu
case=tests/oracle/cases/demo

kernel_check() { # kernel_check LOG
    (cd $work && GPUOPT_JIT=1 ./kernel_check \
        --init "$OLDPWD/$case/model" --adapter "$OLDPWD/$case/adapter") >$work/"$1" 2>&1
}

rm -rf $work
./gpuopt-gen $case/spec.toml --set "data.train=[\"$PWD/$case/data.jsonl\"]" \
    --set "data.validation=[\"$PWD/$case/data.jsonl\"]" -o $work >/dev/null &&
    make -s -C $work >$work/build.log 2>&1 &&
    tests/gpu/link_tool.sh kernel_check $work "$RTLIB" $work/kernel_check &&
    tests/gpu/link_tool.sh launch_times $work "$RTLIB" $work/launch_times || exit 1

launch_times() {
    (cd $work && ./launch_times --steps 5 --out out.times \
        --init "$OLDPWD/$case/model" --adapter "$OLDPWD/$case/adapter") >$work/times.log 2>&1 &&
        awk '$1 == "time" && $4 > 0 { print $2, $3 }' $work/times.log | sort >$work/times.seen
    sed -n '/"step_launches"/,$p' $work/plan.json | tr -d '",' |
        awk '$1 == "name:" { name = $2 } $1 == "launches:" { print name, $2 + 0 }' | sort >$work/times.planned
    grep -q gemm_ $work/times.planned && cmp $work/times.planned $work/times.seen >>$work/times.log 2>&1
}

# check-gpu prints what launch_times has measured beside the plan's times, the longest first.
times_table() {
    PYTHONPATH=tests/gpu python3 - $work >$work/table.log 2>&1 <<'PYTHON' || return 1
import sys
from pathlib import Path
import check_gpu
check_gpu.PROGRAMS = Path(sys.argv[1]).parent
check_gpu.run_program = lambda *_: (0, Path(sys.argv[1], "times.log").read_text())
check_gpu.check_times(None, Path(sys.argv[1]).name, Path(sys.argv[1]))
PYTHON
    grep -q '^ok gpu launches of' $work/table.log && awk '/^time / { print $2, $3, sprintf("%.4f", $4) }' $work/times.log |
        sort -k3,3gr | head -n 40 | sort >$work/table.expected &&
        awk '$5 ~ /^[0-9.]+$/ && NF == 6 { print $1, $2, $3 }' $work/table.log | sort | cmp - $work/table.expected
}

# With --jobs, each test runs once, and nothing beside one that measures.
jobs_together() {
    PYTHONPATH=tests/gpu python3 - >$work/jobs.log 2>&1 <<'PYTHON'
import threading
import check_gpu
ran, at_once, met = [], [], threading.Barrier(2, timeout=10)
def check(gpu, program, folder):
    at_once.append(program)
    if program.startswith("plain"):
        met.wait()
    ran.append((program, len(at_once)))
    at_once.remove(program)
    return True
def measure(gpu, program, folder):
    return check(gpu, program, folder)
check_gpu.ALONE = [measure]
check_gpu.run_together(None, [(check, "first"), *((f, n) for n in "ab" for f, n in
                              ((check, "plain " + n), (measure, n)))], 1, 2)
assert sorted(name for name, _ in ran) == ["a", "b", "first", "plain a", "plain b"], ran
assert [name for name, _ in ran[:3]] == ["first", "a", "b"] and all(count == 1 for _, count in ran[:3]), ran
PYTHON
}

# The bundle's commands unpack it once, also with a Python that cannot, and again if that was interrupted.
unpacks() {
    packed=$work/packed
    mkdir -p $packed/programs && echo 'import sys; print("ran", *sys.argv[1:])' >$packed/program.py &&
        echo whole >$packed/programs/file && tar -C $packed -cJf $packed/bundle.tar.xz programs &&
        tests/gpu/launchers.sh $packed first=program.py other=program.py || return
    printf '#!/bin/sh\n[ "$1" != -m ] || exit 1\nexec python3 "$@"\n' >$packed/python && chmod +x $packed/python
    for python in python3 "$PWD/$packed/python"; do
        echo par >$packed/programs/file && rm -f $packed/unpacked
        [ "$(PYTHON=$python $packed/first 1 "2 3")" = "ran 1 2 3" ] && grep -q whole $packed/programs/file || return
    done
    echo changed >$packed/programs/file
    [ "$($packed/other)" = ran ] && grep -q changed $packed/programs/file
}

# first-minutes runs all commands of the README, in their order, also after one that fails or hangs, and
# stops in time.
first_minutes() {
    first=$work/first\ minutes
    rm -rf "$first" && mkdir -p "$first" && cp tests/gpu/first_minutes.sh "$first/first-minutes" &&
        echo 'print("machine")' >"$first/machine.py" || return
    for command in check-gpu bench-images bench; do
        printf '#!/bin/sh\necho ran %s "$@"\n[ "$2" != timed ] || exit 3\n[ "$2" != profile ] || exec sleep 60\n' \
            $command >"$first/$command"
    done
    sed -i 's/^take profile.log 90/take profile.log 1/' "$first/first-minutes"
    sh "$first/first-minutes" "$first/out" >"$first/lines" || return
    sed -n 's/^    build.gpu.\(.*[^ ]\)  *# .*/ran \1/p' tests/gpu/README.md | sed "s|OUT|$PWD/$first/out|" >"$first/wanted"
    cat "$first/out/first.log" "$first/out/times.log" "$first/out/profile.log" "$first/out/check.log" \
        "$first/out/images.log" "$first/out/bench.log" | cmp - "$first/wanted" &&
        grep -qx machine "$first/out/machine.log" && [ "$(wc -l <"$first/lines")" -eq 7 ] &&
        grep -q '^times.log: exit code 3, ' "$first/lines" && grep -q '^profile.log: exit code 124, ' "$first/lines" &&
        [ "$(grep -c ': exit code 0, [0-9]* s: ' "$first/lines")" -eq 5 ] &&
        sh "$first/first-minutes" "$first/none" 0 | grep -c '^skip .* 0 minutes are over$' | grep -qx 7
}

# A bundle with the program that reads JPEG files, by the tools that make the real one; its GPU is the
# simulated device.
bundle_of_pictures() {
    bundle=$work/bundle
    mkdir -p $bundle/programs && cp tests/gpu/*.py $bundle && ln -s "$SIM_OUT" $bundle/sim &&
        tests/gpu/pictures.sh $bundle "$RTLIB" $work || return
    (cd $bundle && "$OLDPWD/gpuopt-gen" "$OLDPWD/tests/gpu/specs/pictures.toml" -o programs/pictures) &&
        make -s -C $bundle/programs/pictures &&
        tests/gpu/link_tool.sh kernel_check $bundle/programs/pictures "$RTLIB" $bundle/programs/pictures/kernel_check
}

# What check-gpu says of the program's steps is right, and it notices other losses, norms and pixels.
steps_beside_host() {
    PYTHONPATH=$bundle python3 - $work/steps >$work/steps.log 2>&1 <<'PYTHON'
import shutil
import sys
from pathlib import Path
import check_gpu
import machine
real = machine.environment
seen = []
def environment(gpu, device):
    seen.append(real(gpu, device)["GPUOPT_DEVICE"])
    return real(gpu, "sim")
machine.environment = environment
gpu, folder = {"compute_cap": "8.0"}, Path(sys.argv[1]).resolve()
folder.mkdir()
assert (check_gpu.check_host, "pictures") in check_gpu.jobs_of("")
assert (check_gpu.check_repeats, "pictures") in check_gpu.jobs_of("")
assert check_gpu.check_host(gpu, "pictures", folder) and seen == ["cuda", "sim"], seen
assert check_gpu.check_repeats(gpu, "pictures", folder) is None and check_gpu.counts["FAIL"] == 0
names = ("loss.csv", "eval.csv", "dump.safetensors")
def found(change, name):
    other = folder / "other"
    shutil.copytree(folder / "device", other, dirs_exist_ok=True)
    (other / name).write_bytes(change((folder / "device" / name).read_bytes()))
    return check_gpu.differences(other, folder / "host")
def scaled(by, column):
    def change(text):
        rows = [line.split(",") for line in text.decode().splitlines()]
        rows[-1][rows[0].index(column)] = str(float(rows[-1][rows[0].index(column)]) * by)
        return "\n".join(map(",".join, rows)).encode()
    return change
def first_pixel(file):
    pixels = machine.read_tensors(folder / "device" / "dump.safetensors")["pixels"]
    at = file.index(pixels)
    return file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]
assert found(lambda file: file, "loss.csv") == []
assert found(scaled(1.005, "loss"), "loss.csv") == [] and found(scaled(1.02, "grad_norm"), "loss.csv") == []
for change, name, words in (
    (scaled(1.02, "loss"), "loss.csv", "loss.csv, step 8: loss"),
    (scaled(0.9, "grad_norm"), "loss.csv", "loss.csv, step 8: grad_norm"),
    (scaled(float("nan"), "loss"), "eval.csv", "eval.csv, step 8: loss nan"),
    (lambda text: text[: text.rindex(b"\n", 0, -1)], "loss.csv", "7 rows, 8 on the host"),
    (first_pixel, "dump.safetensors", "pixels differ"),
):
    lines = found(change, name)
    assert len(lines) == 1 and words in lines[0], (words, lines)
assert len(check_gpu.differences(folder / "other", folder / "host", 10)) == 1
found(scaled(1.05, "loss"), "loss.csv")
assert check_gpu.differences(folder / "other", folder / "host", 10) == []
PYTHON
}

# kernel_pictures LOG: the kernels of the bundle, beside themselves. They make pixels of some files, and the
# host those of the others.
kernel_pictures() {
    (cd $bundle && GPUOPT_JIT=1 programs/pictures/kernel_check --out "$OLDPWD/$work/kernels") >$work/"$1" 2>&1
    code=$?
    grep -q 'the host decodes it, and others like it' $work/"$1" && return $code
}

# A command that is killed ends the programs that it runs, which are process groups of their own.
killed_with_its_programs() {
    mkdir -p $work/bin
    printf '#!/bin/sh\necho "A GPU, 9.0, 580.0"\n' >$work/bin/nvidia-smi && chmod +x $work/bin/nvidia-smi
    for signal in TERM INT; do
        PATH="$PWD/$work/bin:$PATH" PYTHONPATH=tests/gpu timeout --signal=$signal 2 python3 -c '
import machine
from concurrent.futures import ThreadPoolExecutor
machine.need_gpu()
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda i: machine.finish(["sh", "-c", "echo $$; sleep 61.%d; true" % i], ".", None, 99), (1, 2)))'
        [ $? -eq 124 ] && sleep 1 || return
        ! pgrep -f '^sleep 61\.[12]$' || return
    done
}

# make check-gpu and make bench build nothing without a GPU.
no_gpu_no_bundle() {
    mkdir -p $work/bin
    printf '#!/bin/sh\nexit 1\n' >$work/bin/nvidia-smi
    chmod +x $work/bin/nvidia-smi
    for target in check-gpu bench; do
        PATH="$PWD/$work/bin:$PATH" timeout 60 make -s $target >$work/no_gpu.log 2>&1 && return 1
        grep -q '^error: no GPU' $work/no_gpu.log && ! grep -qv '^error: no GPU\|^make\(\[[0-9]*\]\)\?: \*\*\*' $work/no_gpu.log ||
            return 1
    done
}

# Each benchmark exits with one line without a GPU, also where it lies in a bundle.
benches_need_gpu() {
    rm -rf $work/bench && mkdir -p $work/bench && cp tests/gpu/*.py tests/bench/*.py $work/bench || return 1
    for bench in lora tuning images; do
        PATH="$PWD/$work/bin:$PATH" timeout 60 python3 $work/bench/bench_$bench.py >$work/no_gpu.log 2>&1 && return 1
        [ "$(wc -l <$work/no_gpu.log)" -eq 1 ] && grep -q '^error: no GPU' $work/no_gpu.log || return 1
    done
}

# The programs that bench-tuning asks the bundle for.
programs_of_tuning() {
    python3 $work/bench/bench_tuning.py --programs >$work/tuning.list && [ -s $work/tuning.list ] || return 1
    while read -r name spec settings; do
        # shellcheck disable=SC2086,SC2046 # settings have no spaces
        ./gpuopt-gen "$spec" $(printf -- '--set %s ' $settings) --force -o $work/program >>$work/tuning.log 2>&1 || {
            echo "$name" >>$work/tuning.log
            return 1
        }
    done <$work/tuning.list
}

registers_in_flight() {
    name="ptxas keeps the registers of products in flight"
    nvdisasm=$(PATH="$CUDA_HOME/bin:$PWD/build/deps:$PATH" command -v nvdisasm) || {
        echo "skip gpu $name: nvdisasm is not installed"
        return
    }
    for spec in tests/sim/pools.toml tests/gpu/specs/head64.toml tests/gpu/specs/head128.toml; do
        {
            ./gpuopt-gen $spec --set precision.dtype=bf16 --force -o $work/flight >/dev/null &&
                "$CUDA_HOME/bin/nvcc" -cubin -arch=sm_90a -std=c++17 -fmad=false -I. $work/flight/kernels.cu \
                    -o $work/flight.cubin &&
                "$nvdisasm" -c $work/flight.cubin >$work/flight.sass &&
                tests/gpu/in_flight.py $work/flight.sass
        } >$work/flight.log 2>&1 && ! grep -q 'are serialized' $work/flight.log
        report $? "$name, $spec" $work/flight.log
    done
    # Disturbs each product before the wait: its first sum (field 2 of its line), or its first operand.
    for change in "2 MOV %, RZ" "3 MOV %, RZ" "3 SHFL.BFLY PT, %, R0, 0x1, 0x1f" \
        "3 HGMMA.64x64x16.F32.BF16 %, R0, gdesc[UR4], %, gsb0"; do
        awk -v field="${change%% *}" -v code="${change#* }" '{ print } /HGMMA.*tnspB.*gsb0/ {
                split(substr($0, index($0, " R")), registers, /[ ,]+/)
                line = code
                gsub("%", registers[field], line)
                print "        /*0001*/                   " line " ;" }' $work/flight.sass >$work/flight.bad.sass
        tests/gpu/in_flight.py $work/flight.bad.sass >$work/flight.log 2>&1
        [ $? -ne 0 ] && grep -q '^FAIL.*attention_forward.*while a product uses' $work/flight.log
        report $? "found in flight, field $change" $work/flight.log
    done
}

registers_in_flight

jobs_together
report $? "--jobs runs tests together, but nothing beside measurements" $work/jobs.log

killed_with_its_programs >$work/killed.log 2>&1
report $? "a command that is killed ends its programs" $work/killed.log

no_gpu_no_bundle
report $? "without a GPU no bundle is built" $work/no_gpu.log

benches_need_gpu
report $? "without a GPU a benchmark says so" $work/no_gpu.log

programs_of_tuning
report $? "the programs of bench-tuning are generated" $work/tuning.log

PYTHONPATH=tests/gpu tests/gpu/bench_tables.py >$work/tables.log 2>&1
report $? "tables and aims of benchmarks" $work/tables.log

launch_times
report $? "the launches of a step have times" $work/times.log

times_table
report $? "measured launches beside planned ones" $work/table.log

unpacks >$work/unpacks.log 2>&1
report $? "a bundle is unpacked" $work/unpacks.log

first_minutes >$work/first_minutes.log 2>&1
report $? "first-minutes runs the README's commands" $work/first_minutes.log

bundle_of_pictures >$work/bundle.log 2>&1
report $? "the bundle's JPEG files and their program" $work/bundle.log

steps_beside_host
report $? "steps beside the host's" $work/steps.log

kernel_pictures pictures.log && grep -q '^ok picture_planes.* difference 0$' $work/pictures.log &&
    [ "$(grep -c '^ok picture_fit.* difference 0$' $work/pictures.log)" -eq 2 ]
report $? "kernels of pictures agree with themselves" $work/pictures.log

# Of the places in windows that a convolution finds, CONDITION says which are wrong.
wrong_places() {
    sed -i "s|^ *store_vec(max_pool1_argmax|if ($1) max_pool1_argmax_v[0] ^= 1;\n&|" $bundle/programs/pictures/kernels.cu
}

sed -i 's|x\[6\]) \* 4433|x[6]) * 4434|' $bundle/programs/pictures/kernels.cu
wrong_places 'row == 5 \&\& col == 4'
kernel_pictures other_pictures.log
[ $? -eq 1 ] && grep -q '^FAIL picture_planes' $work/other_pictures.log && grep -q '^ok picture_fit' $work/other_pictures.log
report $? "a kernel of pictures that differs is named" $work/other_pictures.log

grep -q '^ok conv2d_add_bias_max_pool2d_8x24x24x3_16x3x3: ' $work/other_pictures.log
report $? "one of many places in windows may differ" $work/other_pictures.log

wrong_places 'row % 8 == 0 \&\& col == 4'
kernel_pictures places.log
[ $? -eq 1 ] && grep -q '^FAIL conv2d_add_bias_max_pool2d_8x24x24x3_16x3x3: ' $work/places.log
report $? "wrong places in windows are found" $work/places.log

kernel_check same.log
report $? "kernels agree with themselves" $work/same.log

sed -i 's|1.0f / sqrtf(|1.0001f / sqrtf(|' $work/kernels.cu
kernel_check other.log
[ $? -ne 0 ] && grep -q '^FAIL.*rms_norm' $work/other.log && ! grep -q '^FAIL.*adamw' $work/other.log
report $? "a kernel that differs is named" $work/other.log
exit $failed
