#!/bin/sh
# Checks that figures in documents are those of the plans. A paragraph is followed by lines
#
#     <!-- plan SPEC [--set KEY=VALUE]...: NAME FIGURE, NAME FIGURE -->
#
# with the figures as in the paragraph, rounded: `step`, `exposed` and `beside` in ms; `card`,
# `activations` and `all_gather` in GiB.
#
#     tests/golden/figures.sh FILE...
set -uf
gen=${GPUOPT_GEN:-./gpuopt-gen}

# Prints each such line as `FILE:LINE|ARGUMENTS|FIGURES|PARAGRAPH`.
claims() {
    awk '
        FNR == 1 || /^$/ { text = "" }
        /<!-- *plan/ && !/^<!-- plan .*: [a-z_]+ [0-9.]+(, [a-z_]+ [0-9.]+)* -->$/ {
            print FILENAME ":" FNR "|||"
            next
        }
        /^<!-- plan / {
            at = match($0, /: [a-z_]+ [0-9.]+[^:]*-->$/)
            print FILENAME ":" FNR "|" substr($0, 11, at - 11) "|" substr($0, at + 2, length - at - 5) "|" text
            next
        }
        { text = text " " $0 }' "$@"
}

# Prints a plan's figures as `NAME NUMBER`.
figures_of() {
    awk '
        function before(word, i) { for (i = 2; i <= NF; i++) if ($i == word) return $(i - 1) }
        /^  process / { print "card", $2 / 1024 }
        /^  activations, peak/ { print "activations", $3 / 1024 }
        /^step: / { print "step", before("ms") }
        /^cards: .* exposed, / { print "exposed", before("ms"); sub(/.*exposed, /, ""); print "beside", $1 }
        match($0, /all_gather x [0-9]+, [0-9.]+/) { split(substr($0, RSTART), word, " "); print "all_gather", word[4] / 1024 }'
}

# says TEXT FIGURE: the figure occurs in the text, and not as part of another number.
says() {
    printf '%s\n' "$1" | grep -Eq "(^|[^0-9.])$(echo "$2" | sed 's/[.]/[.]/')([.]?[^0-9.]|[.]?\$)"
}

claims "$@" | {
    status=0
    while IFS='|' read -r place arguments claimed text; do
        if [ -z "$arguments" ]; then
            echo "FAIL golden $place: a line of figures that is not \`<!-- plan SPEC…: NAME FIGURE, … -->\`"
            status=1
            continue
        fi
        # shellcheck disable=SC2086
        "$gen" --plan $arguments 2>&1 | figures_of >build/golden/figures
        wrong=$(echo "$claimed" | tr ',' '\n' | while read -r name figure; do
            digits=${figure#"${figure%.*}"} # the point and what follows
            form=%.$((${#digits} ? ${#digits} - 1 : 0))f
            found=$(awk -v name="$name" -v form=$form '$1 == name { printf form, $2 }' build/golden/figures)
            [ "$found" = "$figure" ] || echo "the plan has ${found:-no} $name, not $figure"
            says "$text" "$figure" || echo "the paragraph does not say $figure"
        done)
        if [ -z "$wrong" ]; then
            echo "ok golden $place"
        else
            printf 'FAIL golden %s, --plan %s\n%s\n' "$place" "$arguments" "$wrong"
            status=1
        fi
    done
    exit $status
}
