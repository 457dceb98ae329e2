#!/bin/sh
# link_tool.sh TOOL PROGRAM LIBRARY OUT: links tests/gpu/TOOL.c with a built program and the runtime's
# library. Each __wrap_NAME that the tool defines replaces NAME.
set -eu
source=tests/gpu/$1.c
wraps=$(grep -o '__wrap_[a-z_]*' "$source" | sort -u | sed 's/__wrap_/-Wl,--wrap=/')
jansson=$(${CC:-cc} -print-file-name=libjansson.a)
[ -f "$jansson" ] || jansson=-ljansson
zlib=$(${CC:-cc} -print-file-name=libz.a)
[ -f "$zlib" ] || zlib=-lz
# shellcheck disable=SC2086 # one word per function
exec ${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -s -I. \
    -isystem "${CUDA_HOME:-$(make -s -f runtime/toolkit.mk)}/include" $wraps -o "$4" \
    "$source" "$2/obj/program.o" "$2/obj/values.o" "$3" "$jansson" "$zlib" -ldl -lm -lpthread
