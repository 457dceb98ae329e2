#!/bin/sh
# samples.sh KIND FOLDER FILE...: writes samples of text as JSON lines to FOLDER/KIND.jsonl, and subsets spread
# over all files: KIND_heldout.jsonl (128), KIND_small.jsonl (256) and KIND_large.jsonl (1024, including the 256).
#
#     lines         of prose: the first half of a line, and its continuation
#     instructions  of pods: "What is ITEM?" and the first sentence about it; short
#     paragraphs    of prose: the first words of 127 bytes, and their continuation
#     code          some lines of C: the first line, and the lines after it
#
# Each sample can be used for supervised tuning (prompt, completion) and for preferences (prompt, chosen,
# rejected): chosen is the completion, rejected the same with the middle letters of its words swapped.
set -eu
LC_ALL=C
export LC_ALL
kind=$1 to=$2/$1
shift 2
mkdir -p "$(dirname "$to")"

awk -v kind="$kind" -v to="$to" '
    function exchanged(text,  from, word, middle, out) {
        while (match(text, /[A-Za-z][A-Za-z][A-Za-z][A-Za-z]+/)) {
            word = substr(text, RSTART, RLENGTH)
            middle = int(RLENGTH / 2)
            out = out substr(text, 1, RSTART - 1) substr(word, 1, middle - 1) \
                substr(word, middle + 1, 1) substr(word, middle, 1) substr(word, middle + 2)
            text = substr(text, RSTART + RLENGTH)
        }
        return out text
    }
    function json(text) {
        gsub(/\\/, "\\\\\\\\", text)
        gsub(/"/, "\\\\\"", text)
        gsub(/\n/, "\\\\n", text)
        return "\"" text "\""
    }
    # Skips samples whose rejected text would equal the completion, and text that is not ASCII.
    function add(prompt, completion,  rejected) {
        rejected = exchanged(completion)
        if (rejected != completion && prompt completion !~ /[^ -~\n]/)
            sample[count++] = sprintf("{\"prompt\": %s, \"completion\": %s, \"chosen\": %s, \"rejected\": %s}",
                json(prompt), json(completion), json(completion), json(rejected))
    }
    # C<code>, L<words|where>: keeps only the words.
    function plain(text) {
        gsub(/[BCFILSX]<+ */, "", text)
        gsub(/\|[^>]*>/, "", text)
        gsub(/ *>+/, "", text)
        return text
    }
    # Splits the words that fit into `most` bytes: the first `share` of them become the prompt.
    function split_words(text, most, share,  words, word, i, length_so_far, fit, prompt, completion) {
        words = split(text, word, / +/)
        for (fit = 0; fit < words && length_so_far + length(word[fit + 1]) < most; fit++)
            length_so_far += length(word[fit + 1]) + 1
        for (i = 1; i <= fit; i++)
            if (i <= fit * share)
                prompt = prompt word[i] " "
            else
                completion = completion word[i] " "
        add(prompt, completion)
    }

    kind == "lines" && length >= 50 && length <= 90 && /^[A-Za-z][-A-Za-z ,.;:()]*$/ && ++lines % 8 == 0 {
        split_words($0, 96, 0.5)
    }

    # Pods are paragraphs with empty lines between them.
    kind == "instructions" && /^=item [A-Za-z]/ { item = plain(substr($0, 7)); next }
    kind == "instructions" && item != "" && text == "" && /^[A-Z]/ { text = $0; next }
    kind == "instructions" && text != "" {
        if ($0 != "" && text !~ /[.](  |$)/) {
            text = text " " $0
            next
        }
        sub(/[.]  .*/, ".", text)
        text = plain(text)
        if (length(item) + length(text) < 96 && text ~ /[.]$/)
            add("What is " item "?\n", text)
        item = text = ""
    }
    kind == "paragraphs" && /^[A-Za-z]/ { text = text (text == "" ? "" : " ") $0; next }
    kind == "paragraphs" {
        if (length(text) >= 150)
            split_words(plain(text), 127, 0.25)
        text = ""
    }

    kind == "code" && (FNR == 1 || /^$/) { start = text = "" }
    kind == "code" && !/^$/ {
        if (start == "")
            start = $0 "\n"
        else if (length(start text $0) < 120)
            text = text $0 "\n"
        else {
            if (text != "")
                add(start, text)
            start = $0 "\n"
            text = ""
        }
    }

    END {
        # A stride coprime to the count visits each sample once, far from the previous one.
        stride = 7919
        if (count < 128 + 1024 || count % stride == 0) {
            print "error: only " count " samples of kind " kind ", but 1152 are needed" >"/dev/stderr"
            exit 1
        }
        for (i = at = 0; i < count; i++) {
            print sample[at] >(to ".jsonl.part")
            if (i < 128)
                print sample[at] >(to "_heldout.jsonl.part")
            else if (i < 128 + 1024)
                print sample[at] >(to "_large.jsonl.part")
            if (i >= 128 && i < 128 + 256)
                print sample[at] >(to "_small.jsonl.part")
            at = (at + stride) % count
        }
    }' "$@"
for part in "$to"*.jsonl.part; do mv "$part" "${part%.part}"; done
