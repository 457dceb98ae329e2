#!/bin/sh
# make tables: prints README's generated tables again. Each is between a line `<!-- $ COMMAND -->` and a
# line `<!-- end -->`. A command may exit with 1: it prints a table with a plan that does not fit.
#
#     runtime/scripts/tables.sh            writes README.md
#     runtime/scripts/tables.sh --check    only shows what would change; exits with 1 if anything would
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
