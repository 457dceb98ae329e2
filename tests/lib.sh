# shellcheck shell=sh
# How tests run and report. Sourced from the root of the tree; `suite` is the name in each line that
# a test prints, `work` a folder for scratch files.
failed=0

# report CODE NAME [LOG]: prints the line of a test, and the end of its log if it failed. A single
# write, so that the lines of two jobs do not mix.
report() {
    if [ "$1" -eq 0 ]; then
        echo "ok $suite $2"
    else
        failed=1
        printf '%s\n' "FAIL $suite $2${3:+ (log: $3)
$(tail -n 40 "$3" | sed 's/^/    /')}"
    fi
}

# skip REASON: ends a suite that cannot run here.
skip() {
    echo "skip $suite: $1"
    exit 0
}

# attempt NAME COMMAND...: a test that is a command.
attempt() {
    attempted=$1
    shift
    "$@" >"$work/log" 2>&1
    report $? "$attempted" "$work/log"
}

# cmocka NAME COMMAND...: reports the tests of a program of cmocka.
cmocka() {
    tested=$1
    shift
    output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$@" 2>&1)
    code=$?
    printf '%s\n' "$output" |
        sed -n "s/^ok [0-9]* - /ok $suite $tested /p; s/^not ok [0-9]* - /FAIL $suite $tested /p"
    [ $code -ne 0 ] || return 0
    failed=1
    printf '%s\n' "$output" | grep -v '^ok ' | sed 's/^/    /'
    case $output in *"not ok"*) ;; *) echo "FAIL $suite $tested: exit code $code" ;; esac
}

# run_tests [--all | --rest | NAME...]: runs the functions test_NAME of the script, or of the files in
# `sources`, in their order; with --all also those called more_test_NAME, with --rest only these. Each
# runs in a process of its own, which an error of the shell ends, not this script.
run_tests() {
    case ${1-} in
    '') prefix=test_ ;;
    --all) prefix='\(more_\)\{0,1\}test_' ;;
    --rest) prefix=more_test_ ;;
    *) prefix= ;;
    esac
    # shellcheck disable=SC2046,SC2086 # names of functions and files
    [ -z "$prefix" ] || set -- $(sed -n "s/^\(${prefix}[a-z0-9_]*\)() .*/\1/p" ${sources:-"$0"})
    for wanted in "$@"; do
        wanted=${wanted#more_} wanted=${wanted#test_}
        function=test_$wanted
        command -v "$function" >/dev/null || function=more_$function
        ("$function") >"$work/$wanted.test" 2>&1
        report $? "$wanted" "$work/$wanted.test"
    done
}

# build_tool NAME SOURCE...: compiles $work/NAME, a tool that compares what programs write.
build_tool() {
    tool=$1
    shift
    $CC -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Wno-format-truncation -I. -o "$work/$tool" \
        "$@" runtime/files/safetensors.c -ljansson -lm
}
