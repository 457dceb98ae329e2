#!/bin/sh
# pairs.sh FILE TEXT...: pairs of a true and a corrupted continuation, as JSON lines, made of lines of
# prose: the first half of a line is the prompt, the second half the chosen continuation, and the
# rejected one has the middle letters of its words exchanged.
set -eu
LC_ALL=C
export LC_ALL
to=$1
shift
mkdir -p "$(dirname "$to")"
# Letters and plain punctuation alone: nothing in them has to be escaped.
cat "$@" | awk '
    function exchanged(word,  middle) {
        middle = int(length(word) / 2)
        if (length(word) < 4)
            return word
        return substr(word, 1, middle - 1) substr(word, middle + 1, 1) substr(word, middle, 1) \
            substr(word, middle + 2)
    }
    length >= 50 && length <= 90 && /^[A-Za-z][-A-Za-z ,.;:()]*$/ && ++lines % 8 == 0 {
        words = split($0, word, " ")
        prompt = chosen = rejected = ""
        for (i = 1; i <= words; i++) {
            if (i <= words / 2) {
                prompt = prompt word[i] " "
                continue
            }
            chosen = chosen word[i] " "
            rejected = rejected exchanged(word[i]) " "
        }
        if (chosen != rejected)
            printf "{\"prompt\": \"%s\", \"chosen\": \"%s\", \"rejected\": \"%s\"}\n",
                prompt, chosen, rejected
    }' >"$to.part"
mv "$to.part" "$to"
