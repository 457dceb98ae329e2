#!/bin/sh
# Prints a SHA-256 of what a program reads: the files of data that its spec names, and the weights that it
# starts from. Where a file is does not matter, only its name and contents. Prints nothing if a file is
# missing.
#
#     gpuopt-gen --print-spec SPEC | runtime/scripts/inputs.sh
#     runtime/scripts/inputs.sh <PROGRAM/spec.toml
#
# The data and the weights may be too large to read before each run. Of a file of more than 64 MiB, only
# its size and 16 blocks of 1 MiB that are spread over it count, of a folder of images only names and
# sizes. Changes elsewhere are not noticed. Training changes all parts of a weight, so that a model that
# was trained again is noticed, unless it has the same bits.

set -u
export LC_ALL=C # the order of files
spec=$(cat)
lost=$(mktemp) || exit 1
trap 'rm -f "$lost"' EXIT

# file PATH: prints the name, the size, and a hash of the contents or of the blocks.
file() {
    size=$(stat -L -c %s -- "$1")
    printf '%s %s ' "${1##*/}" "$size"
    if [ "$size" -le 67108864 ]; then
        sha256sum <"$1"
        return
    fi
    for block in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        tail -c "+$(((size - 1048576) * block / 15 + 1))" <"$1" | head -c 1048576
    done | sha256sum
}

# folder PATH: the names and sizes of the images in it, or a line per file of another format.
folder() (
    cd -- "$1" || exit
    if printf '%s\n' "$spec" | grep -q '^format = "image_folder"'; then
        find -L . -type f -printf '%P %s\n' | sort | sha256sum
    else
        find -L . -type f | sort | while IFS= read -r found; do file "$found"; done
    fi
)

# labels PATH: prints the name of the labels of an IDX file of images, as the program finds them; of
# another file, its own name.
labels() {
    name=$(printf '%s\n' "$1" | sed '/images[^/]*$/{/idx3[^/]*$/{
        s/\(.*\)images/\1labels/; s/\(.*\)idx3/\1idx1/
    }}')
    case $name in *.gz) other=${name%.gz} ;; *) other=$name.gz ;; esac
    if [ ! -e "$name" ] && [ -e "$other" ]; then name=$other; fi
    printf '%s\n' "$name"
}

# data KEY: prints a line per file that a list of [data] names.
data() {
    printf '%s\n' "$spec" | sed -n "/^\[data\]/,/^\$/s/^$1 = \[\"\(.*\)\"\] *\(#.*\)\{0,1\}\$/\1/p" |
        sed 's/", "/\n/g' | while IFS= read -r pattern; do
        IFS=
        for path in $pattern; do
            labels=$(labels "$path")
            if [ -d "$path" ]; then
                folder "$path"
            elif [ -f "$path" ] && [ -f "$labels" ]; then
                file "$path"
                [ "$labels" = "$path" ] || file "$labels"
            else
                echo "$path" >>"$lost"
            fi
        done
    done
}

# weights: prints a line per file of the model that the program starts from.
weights() {
    model=$(printf '%s\n' "$spec" | sed -n 's/^# starts from //p')
    [ -n "$model" ] || return
    for path in "$model"/*.safetensors; do
        if [ -f "$path" ]; then file "$path"; else echo "$path" >>"$lost"; fi
    done
}

listing=$(echo train; data train; echo validation; data validation; echo weights; weights)
[ -s "$lost" ] || printf '%s\n' "$listing" | sha256sum | cut -d ' ' -f 1
