#!/bin/sh
# Without a CUDA toolkit, everything that needs one exits with one line that says what to install;
# with one, every part of the project uses the same.
#
#     tests/build/toolkit.sh         from anywhere, after make; RT and SIM_OUT as tests/check.sh
#                                    sets them. Writes to build/toolkit.
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=toolkit work=$PWD/build/toolkit
. tests/lib.sh
rm -rf "$work"
mkdir -p "$work"

# refused NAME COMMAND...: the command fails with one line that says what to install, apart from
# make's own lines and names of built files.
refused() {
    name=$1
    shift
    "$@" >"$work/log" 2>&1 && { echo "exit 0 without a toolkit" >>"$work/log"; report 1 "$name" "$work/log"; return; }
    [ "$(grep -vcE '^(make|building )' "$work/log")" -eq 1 ] && grep -q '^error: .*install.*CUDA_HOME' "$work/log"
    report $? "$name" "$work/log"
}

# A driver that reports a GPU; without one, check-gpu and bench fail before they need a toolkit.
mkdir "$work/driver"
printf '#!/bin/sh\necho "NVIDIA H100, 9.0, 580.65"\n' >"$work/driver/nvidia-smi"
chmod +x "$work/driver/nvidia-smi"

# Rebuilds everything except the compiler, which needs no toolkit. A make that make starts does not
# inherit these options, and would replace the compiler that other suites run at the same time.
bare_make() {
    kept="make -o gpuopt-gen -W tests/gpu/bundle.sh"
    PATH="$work/driver:$PATH" $kept --no-print-directory -s -j2 MAKE="$kept" OBJ="$work/obj" \
        RT_LIB="$work/libruntime.a" "$@"
}

for target in sim unit-tests gpu-bundle check-gpu bench; do
    refused "make $target, CUDA_HOME names none" bare_make CUDA_HOME="$work/none" $target
    refused "make $target, there is none" bare_make CUDA_HOME= $target
done

./gpuopt-gen tests/oracle/cases/odd/spec.toml -o "$work/program" >/dev/null || failed=1
export DEVICE=sim
refused "make run" env -u RT -u RTLIB CUDA_HOME="$work/none" \
    runtime/scripts/run.sh --program "$work/program"
refused "a program's own make" env -u RT -u RTLIB \
    make --no-print-directory -s -j2 -C "$work/program" CUDA_HOME= SIM_OUT="$work/sim"

# ---- which toolkit -----------------------------------------------------------------------------

toolkit() { # FOLDER: makes a folder that looks like a toolkit
    mkdir -p "$1/bin" "$1/include"
    touch "$1/include/cuda.h" "$1/bin/nvcc"
    chmod +x "$1/bin/nvcc"
}

# takes MAKEFILE CUDA_HOME RT: prints the toolkit that it uses if nvcc is a link in the PATH.
takes() {
    # shellcheck disable=SC2016 # make expands it
    PATH="$work/links:$PATH" CUDA_HOME="$2" make -s -C "$(dirname "$1")" -f "$(basename "$1")" RT="$3" \
        --eval 'show_toolkit: ; @echo $(CUDA_HOME)' show_toolkit
}

same_choice() {
    toolkit "$work/on_path" && toolkit "$work/named" && mkdir "$work/links" &&
        ln -s ../on_path/bin/nvcc "$work/links/nvcc" || return
    for home in "" "$work/named"; do
        while read -r makefile rt; do
            found=$(takes "$makefile" "$home" "$rt")
            [ "$found" = "${home:-$work/on_path}" ] ||
                { echo "$makefile takes $found, not ${home:-$work/on_path}"; return 1; }
        done <<LIST
Makefile $PWD
runtime/toolkit.mk $PWD
runtime/sim/Makefile.inc $PWD/runtime
$work/program/Makefile $PWD
LIST
    done
}

attempt "one place decides" same_choice
exit $failed
