#!/bin/sh
# All dependencies of the project, one per row, with their Debian packages.
#
#     runtime/scripts/deps.sh check GROUP...     names missing packages, if any, in one line; then exits with 1
#     runtime/scripts/deps.sh install GROUP...   installs them as root; otherwise the same as check
#
# Groups: compiler, sim, mpi, text, images, test, fuzz; cuda (the toolkit: nvcc, headers and libraries, from
# CUDA_HOME or, if that is not set, from Python wheels of fixed versions under build/deps); and two whose absence
# only skips tests: tokenizers (what runtime/data/tokenize_jsonl.py imports, under build/deps/text) and disassembler
# (nvdisasm, build/deps/nvdisasm).

set -u
cd "$(dirname "$0")/../.." || exit 1

[ -z "${MPI_HOME:-}" ] || PATH=$MPI_HOME/bin:$PATH

# group, package, how to check for it
needs() {
    cat <<'TABLE'
compiler  g++                  command:g++
compiler  libtomlplusplus-dev  c++:toml++/toml.h
compiler  libjansson-dev       c:jansson.h
compiler  zlib1g-dev           c:zlib.h
compiler  nettle-dev           c:nettle/sha2.h
sim       g++                  command:g++
sim       libopenblas-dev      openblas
mpi       openmpi-bin          command:mpirun
mpi       libopenmpi-dev       command:mpicc
text      perl-doc             file:/usr/share/perl/*/pod/perlfunc.pod
images    dataset-fashion-mnist file:/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz
images    libturbojpeg0        file:/usr/lib/*/libturbojpeg.so.0
images    libpng16-16          file:/usr/lib/*/libpng16.so.16
test      libcmocka-dev        cmocka
test      cppcheck             command:cppcheck
fuzz      clang                command:clang
TABLE
}

has() {
    case $1 in
    command:*) command -v "${1#*:}" >/dev/null ;;
    c:*) echo "#include <${1#*:}>" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
    c++:*) echo "#include <${1#*:}>" | ${CXX:-g++} -std=c++17 -E -x c++ - >/dev/null 2>&1 ;;
    file:*) for file in ${1#*:}; do [ -e "$file" ] && return; done; return 1 ;;
    # Other packages provide a cblas.h too.
    openblas) echo '#include <cblas.h>' | ${CC:-cc} -E -x c - 2>/dev/null | grep -q openblas_set_num_threads ;;
    cmocka) printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h cmocka.h |
        ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
    esac
}

# Prints the missing packages of the given groups in one line.
missing() {
    needs | while read -r group package probe; do
        case " $* " in
        *" $group "*) has "$probe" || echo "$package" ;;
        esac
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

install_packages() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "error: missing packages: $1. Install them as root: apt-get install $1" >&2
        return 1
    fi
    echo "installing $1"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update </dev/null
    # shellcheck disable=SC2086 # packages are words
    apt-get -qq -y --no-install-recommends install $1 </dev/null >/dev/null && return
    echo "error: apt-get could not install: $1" >&2
    return 1
}

# fetch_wheels FOLDER WHEEL...
fetch_wheels() {
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip || return
    folder=$1
    shift
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
        --upgrade --target "$folder" "$@"
}

# ---- the CUDA toolkit ------------------------------------------------------------------------

wheels="nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cublas==13.0.2.14
nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-cupti==13.0.85 nvidia-nvtx==13.0.85"

has_toolkit() { [ -n "${1:-}" ] && [ -e "$1/include/cuda.h" ] && [ -x "$1/bin/nvcc" ]; }

no_toolkit() {
    echo "error: no CUDA toolkit${1:+ ($1)}: install CUDA 12.4 to 13 and set CUDA_HOME to its folder," \
        "or run \`make deps\` to fetch NVIDIA's Python wheels" >&2
    return 1
}

install_toolkit() {
    has_toolkit "${CUDA_HOME:-build/deps/cuda}" && return
    [ -z "${CUDA_HOME:-}" ] || [ "$CUDA_HOME" = "$PWD/build/deps/cuda" ] ||
        no_toolkit "CUDA_HOME=$CUDA_HOME has no bin/nvcc or no include/cuda.h" || return
    echo "fetching the CUDA toolkit's wheels into build/deps (more than 1 GB)"
    # shellcheck disable=SC2086 # wheels are words
    fetch_wheels build/deps/python $wheels || no_toolkit "pip failed" || return
    ln -sfn python/nvidia/cu13 build/deps/cuda
    build/deps/cuda/bin/nvcc --version >/dev/null || no_toolkit "the wheels' nvcc does not run"
}

check_toolkit() { has_toolkit "${CUDA_HOME:-build/deps/cuda}" || no_toolkit; }

# ---- tokenizers ------------------------------------------------------------------------------

has_tokenizers() { PYTHONPATH=build/deps/text python3 -c 'import tokenizers, jinja2' 2>/dev/null; }

install_tokenizers() {
    has_tokenizers && return
    fetch_wheels build/deps/text tokenizers==0.22.1 jinja2==3.1.6 markupsafe==3.0.3 && has_tokenizers ||
        echo "note: pip could not fetch tokenizers and jinja2; tests that need them are skipped"
}

check_tokenizers() { has_tokenizers || echo "note: the Python packages tokenizers and jinja2 are missing"; }

# ---- the disassembler ------------------------------------------------------------------------

# It shows what ptxas made of a kernel; a newer one reads older code.
has_disassembler() { command -v nvdisasm >/dev/null || [ -x build/deps/nvdisasm ]; }

install_disassembler() {
    has_disassembler && return
    fetch_wheels build/deps/disassembler nvidia-cuda-nvdisasm==13.2.51 &&
        ln -sf disassembler/nvidia/cu13/bin/nvdisasm build/deps/nvdisasm && has_disassembler ||
        echo "note: pip could not fetch nvdisasm; the test that needs it is skipped"
}

check_disassembler() { has_disassembler || echo "note: nvdisasm is missing"; }

# ---- main -----------------------------------------------------------------------------------

verb=${1-} && shift
lacking=$(missing "$@")
case $verb in
check)
    if [ -n "$lacking" ]; then
        echo "error: missing packages: $lacking. Run \`make deps\` as root, or: apt-get install $lacking" >&2
        exit 1
    fi ;;
install) [ -z "$lacking" ] || install_packages "$lacking" || exit 1 ;;
*) echo "usage: runtime/scripts/deps.sh check|install GROUP..." >&2; exit 1 ;;
esac
case " $* " in
*" tokenizers "*) "${verb}_tokenizers" ;;
esac
case " $* " in
*" disassembler "*) "${verb}_disassembler" ;;
esac
case " $* " in
*" cuda "*) "${verb}_toolkit" ;;
esac
