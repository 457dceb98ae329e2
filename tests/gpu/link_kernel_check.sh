#!/bin/sh
# link_kernel_check.sh PROGRAM LIBRARY OUT: kernel_check for a built program, with the runtime's library.
set -eu
jansson=$(${CC:-cc} -print-file-name=libjansson.a)
[ -f "$jansson" ] || jansson=-ljansson
zlib=$(${CC:-cc} -print-file-name=libz.a)
[ -f "$zlib" ] || zlib=-lz
exec ${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -s -I. \
    -isystem "${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}/include" \
    -Wl,--wrap=rt_launch,--wrap=rt_gemm,--wrap=rt_zero,--wrap=rt_copy \
    -Wl,--wrap=rt_enqueue,--wrap=rt_main -o "$3" \
    tests/gpu/kernel_check.c "$1/obj/program.o" "$1/obj/values.o" "$2" "$jansson" "$zlib" -ldl -lm -lpthread
