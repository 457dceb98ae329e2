#!/bin/sh
# make lint: checks that a reviewer should not have to make. Prints `ok NAME` for a rule that
# holds, or `FAIL NAME` and each place that breaks the rule.
set -u
cd "$(dirname "$0")/../.." || exit 1
# verdict runs at the end of a pipe, in a process of its own, so it records failures in this file.
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT

# verdict NAME: reads the places that break the rule NAME from standard input.
verdict() {
    places=$(cat)
    if [ -z "$places" ]; then
        echo "ok lint $1"
    else
        echo "FAIL lint $1"
        printf '%s\n' "$places" | sed 's/^/    /' | tee -a "$broken"
    fi
}

ours() {
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do
        [ -f "$f" ] && echo "$f"
    done
}
c_files=$(ours '*.c' '*.h' '*.cc' '*.cu' '*.cuh' | grep -v '^tests/golden/')
text_files=$(ours '*.c' '*.h' '*.cc' '*.cu' '*.cuh' '*.sh' '*.py' '*.mk' '*.inc' '*.toml' '*.md' \
    Makefile .ci/run | grep -v '^tests/golden/' | grep -v '^tests/error/')

# ---- layers: a file includes its own folder or an earlier one ------------------------------------

# in_order ROOT PREFIX FOLDERS: prints includes in ROOT that break the order of FOLDERS. Files in
# none of these come last. Only includes that begin with PREFIX are checked.
in_order() {
    for f in $(ours "$1/*.c" "$1/*.h" "$1/*.cc"); do
        awk -v file="$f" -v prefix="$2" -v rooms="$3" '
            BEGIN {
                count = split(rooms, order, " ")
                for (i = 1; i <= count; i++) level[order[i]] = i
                split(file, part, "/")
                own = part[2] in level ? level[part[2]] : count + 1
            }
            /^#include "/ {
                path = substr($2, 2)
                if (index(path, prefix) != 1) next
                split(substr(path, length(prefix) + 1), at, "/")
                if (!(at[1] in level) && at[2] != "")
                    printf "%s:%d: %s is in a folder that has no place in the order\n", file, FNR, $2
                else if (level[at[1]] > own)
                    printf "%s:%d: %s is in a later layer\n", file, FNR, $2
            }' "$f"
    done
}
in_order gen '' 'base spec graph model devices pass plan emit study' | verdict "layers of gen"
in_order runtime runtime/ 'base files data device comm params step checkpoint report loop' |
    verdict "layers of the runtime"

grep -nE '#include "(runtime|gen|tests)/' $(ours 'gen/*.c' 'gen/*.h' 'gen/*.cc') |
    verdict "the compiler knows nothing of the runtime"
grep -nE '#include "(gen|base|spec|graph|model|devices|pass|plan|emit)/' $(ours 'runtime/*.c' 'runtime/*.h' \
    'runtime/*.cuh' 'gen/templates/*.cu') | verdict "runtime knows nothing of the compiler"
grep -n '#include "' runtime/runtime.h runtime/kernel.cuh | verdict "headers for programs include no other headers"

# ---- techniques: known to the spec and to their pass, to nothing after that ----------------------

# `adapter` is allowed: it is a field in runtime.h, a source of weights, and a role in plans.
grep -niE '\b(lora|q_?lora|dora|rslora|qat|fake_quant|dpo|nf4|fp4)[a-z]*\b|lora_|_lora' \
    $(ours 'gen/plan/*.[ch]' 'gen/emit/*.[ch]') runtime/loop/train.c runtime/step/capture.c runtime/device/launch.c |
    verdict "no technique by name in plan, emit or the loop"
grep -nE 'spec->(adapter|quantization|qat|dpo)\b' $(ours 'gen/plan/*.[ch]' 'gen/emit/*.[ch]') gen/main.c gen/compile.c |
    verdict "no technique's keys in plan, emit or what calls them"
grep -nE '\bOP_[a-z]' $(ours 'gen/plan/*.[ch]' 'gen/emit/*.[ch]' | grep -vE '_(kernels|cost)\.c$') |
    verdict "no op by name in plan or emit, except where its template is filled"

# ---- calls and text ---------------------------------------------------------------------------

grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atof|strtok|setlocale|tmpnam|mktemp)\(' \
    $(printf '%s\n' $c_files | grep -v '^tests/') | verdict "banned calls"
grep -nE '\bsystem\(' $(ours 'gen/*.c' 'gen/*.cc' 'runtime/*.c') | verdict "no shell"
grep -nP '\t' $(printf '%s\n' $text_files | grep -vE 'Makefile|\.mk$|\.inc$') | verdict "no tabs"
grep -nP '[ \t]+$' $text_files | verdict "no trailing space"
grep -nE '/(work|root|home)/|\bTODO\b|\bFIXME\b|\bXXX\b' \
    $(printf '%s\n' $text_files | grep -v tests/lint/run.sh) |
    verdict "no paths of one machine, nothing left to do"
for room in gen runtime; do
    printf '%s\n' $c_files | grep "^$room/" | sed 's|.*/||' | sort | uniq -d
done | verdict "file names are unique in gen and in runtime"
wc -l $c_files | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines, at most 700" }' |
    verdict "file length"
grep -nP '^.{105,}$' $(ours 'gen/*.[ch]' 'runtime/*.[ch]') | verdict "line length (at most 104)"

# tests/dist/run.sh sources them all, so a second function of the same name would replace the first.
grep -ohE '^[a-z_0-9]+\(\)' tests/dist/*.sh | sort | uniq -d | verdict "functions of tests/dist are unique"

# A function begins at an unindented line that ends in ") {", or in ")" before a line "{", and ends
# at an unindented "}".
awk 'FNR == 1 { start = 0 }
    /^[A-Za-z_].*\) *\{$/ || (/^\{$/ && previous ~ /\)$/) {
        start = FNR
        name = /^\{$/ ? previous : $0
    }
    /^\}/ && start {
        if (FNR - start > 70)
            printf "%s:%d: %d lines, at most 70: %s\n", FILENAME, start, FNR - start, name
        start = 0
    }
    { previous = $0 }' $c_files | verdict "function length"

# ---- mutants: each must find the one place that it breaks ---------------------------------------

tests/mutants.sh --places | verdict "places of mutants"

# ---- static analysis ----------------------------------------------------------------------------

if command -v cppcheck >/dev/null; then
    mkdir -p build/cppcheck
    cppcheck --quiet --std=c17 --enable=warning,portability --inline-suppr -j2 -Igen -I. \
        '-D_Noreturn=__attribute__((noreturn))' --cppcheck-build-dir=build/cppcheck \
        --template='{file}:{line}: {message} [{id}]' --suppressions-list=tests/lint/cppcheck.txt \
        $(ours 'gen/*.c' 'runtime/*.c') 2>&1 | verdict "cppcheck"
else
    echo "skip lint cppcheck: it is not installed"
fi
[ ! -s "$broken" ]
