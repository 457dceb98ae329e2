#!/bin/sh
# Error tests: each spec NAME.toml here is refused with exit code 1 (with --plan: 2) and exactly the
# text of NAME.err. A first line "# args: ..." holds further arguments. Plans of memory_*.toml do not fit;
# with a line "# smaller: KEY=VALUE ..." they must need less memory, and the text must name the keys.
# Run from the top folder; UPDATE=1 rewrites the .err files, GPUOPT_GEN names another compiler. Specs that
# others here use are in parts/.
gen=${GPUOPT_GEN:-./gpuopt-gen}
actual=$(mktemp) || exit 1
trap 'rm -f "$actual"' EXIT
count=0 failed=0

process_bytes() {
    "$gen" --plan --format csv "$@" 2>/dev/null | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { printf "%.0f", $at["process_bytes"] }'
}

# For the settings of each line "# smaller: ...", whether the plan needs less memory with them.
remedies_help() {
    before=$(process_bytes "$1") || return 1
    sed -n 's/^# smaller: //p' "$1" | while read -r settings; do
        options=
        for setting in $settings; do
            grep -q "hint: .*$(echo "${setting%%=*}" | sed 's/.*[.]//')" "$2" || exit 1
            options="$options --set $setting"
        done
        # shellcheck disable=SC2086 # options are words
        [ "$(process_bytes "$1" $options)" -lt "$before" ] || exit 1
    done
}

for spec in tests/error/*.toml; do
    golden=${spec%.toml}.err
    args=$(sed -n '1s/^# args: //p' "$spec")
    case " $args " in # what the specs are read for, unless args says so
    *" --print-spec "* | *" --scaling "* | *" --keys "* | *" --force "*) command= ;;
    *) command=--check ;;
    esac
    case $spec in */memory_*) command=--plan ;; esac
    # shellcheck disable=SC2086 # args are words
    "$gen" $command "$spec" $args >/dev/null 2>"$actual"
    code=$?
    sed -i "s|\([ \`]\)$gen |\1gpuopt-gen |" "$actual" # hints name the compiler as it was called
    count=$((count + 1))
    case " $args " in *" -- "*) expected=1 ;; *" --plan "*) expected=2 ;; *) expected=1 ;; esac
    if [ $code -ne $expected ]; then
        echo "FAIL error $spec: exit $code, expected $expected"
        failed=$((failed + 1))
    elif ! remedies_help "$spec" "$actual"; then
        echo "FAIL error $spec: a key that it names does not help"
        failed=$((failed + 1))
    elif [ -n "$UPDATE" ]; then
        cp "$actual" "$golden"
    elif ! diff -u "$golden" "$actual"; then
        echo "FAIL error $spec"
        failed=$((failed + 1))
    else
        echo "ok error $spec"
    fi
done
# Each unsupported combination in the reference of keys has an error test.
pairs=$(mktemp) && trap 'rm -f "$actual" "$pairs"' EXIT
"$gen" --keys | sed -n '/^Unsupported combinations/,$s/^      //p' >"$pairs"
while read -r fact; do
    grep -qF ": error: $fact" tests/error/*.err && continue
    echo "FAIL error no spec for: $fact"
    failed=$((failed + 1))
done <"$pairs"
[ -s "$pairs" ] || { echo "FAIL error --keys lists no unsupported combinations" && failed=1; }
echo "error: $count specs, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
