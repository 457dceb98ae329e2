#!/bin/sh
# make tables: README's tables that a command prints are printed anew. Each stands between a line
# `<!-- $ COMMAND -->` and a line `<!-- end -->`. Exit code 1 of a command is a table all the same:
# a plan in it does not fit.
#
#     runtime/scripts/tables.sh            writes README.md
#     runtime/scripts/tables.sh --check    only shows what would change; exit 1 where something would
set -eu
new=build/README.new
mkdir -p build
trap 'rm -f $new' EXIT

awk '
    /^<!-- \$ .* -->$/ {
        print
        command = substr($0, 8, length - 11)
        command = command " || [ $? -eq 1 ]"
        while ((command | getline line) > 0)
            print line
        if (close(command) != 0)
            exit 1
        inside = 1
    }
    /^<!-- end -->$/ { inside = 0 }
    !inside' README.md >$new
if [ "${1-}" = --check ]; then
    diff -u README.md $new
else
    cp $new README.md
fi
