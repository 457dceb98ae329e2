#!/bin/sh
# Checks what documents say about keys of a spec against `gpuopt-gen --keys`:
#
# - the list under "## Specs" names, after [TABLE], only keys of that table: what contains _, or stands alone
#   between commas or before =;
# - table.key anywhere is a key, unless it is the name of a file;
# - each key of [compile], which can be an optimisation, is named.
#
#     tests/golden/keys.sh FILE...
set -uf
gen=${GPUOPT_GEN:-./gpuopt-gen}

{
    "$gen" --keys | sed '/^Unsupported/,$d'
    echo "== documents"
    for file in "$@"; do
        echo "== $file"
        cat "$file"
    done
} | awk '
    function fail(what) {
        print "FAIL golden keys: " file ":" line ": " what
        failed = 1
    }
    function check(name) { if (!(table "." name in key)) fail("[" table "] has no key " name) }

    /^== / { file = $2; line = 0; listed = 0; next }
    file == "" && /^\[/ { table = $1; gsub(/[][]/, "", table); tables[table] }
    file == "" && /^  [a-z]/ { key[table "." $1]; next }
    file == "" { next }
    { line++ }
    /^## / { listed = /^## Specs/ }
    {
        for (text = $0; match(text, /[a-z_]+\.[a-z_0-9]+/); text = substr(text, RSTART + RLENGTH)) {
            name = substr(text, RSTART, RLENGTH)
            before = substr(text, RSTART - 1, RSTART > 1)
            behind = substr(text, RSTART + RLENGTH, 1)
            sub(/\..*/, "", name)
            whole = substr(text, RSTART, RLENGTH)
            if (!(name in tables) || before ~ /[A-Za-z0-9_.\/]/ || behind ~ /[A-Za-z\/*]/) continue
            if (whole ~ /\.(c|h|cu|sh|py|toml|json|csv|safetensors|txt|idx|bin|jsonl|sbatch)$/) continue
            named[whole]
            if (!(whole in key)) fail(whole " is not a key")
        }
        for (text = $0; match(text, /`[a-z_]+`/); text = substr(text, RSTART + RLENGTH))
            named["compile." substr(text, RSTART + 1, RLENGTH - 2)]
    }
    listed && /^    / {
        text = $0
        if (match(text, /\[[a-z_]+\]/) == 5) {
            table = substr(text, 6, RLENGTH - 2)
            text = substr(text, 5 + RLENGTH)
        }
        if (!(table in tables)) next
        gsub(/"[^"]*"/, "", text)
        count = split(text, part, /[,;|]/)
        for (i = 1; i <= count; i++) {
            item = part[i]
            alone = item ~ /^ *[a-z_0-9]+ *$/ && i < count
            named_first = item ~ /^ *[a-z_0-9]+ *=/
            words = split(item, word, /[^a-z_0-9]+/)
            for (w = 1; w <= words; w++) {
                if (word[w] ~ /^(true|false|auto|)$/ || word[w] ~ /^[0-9]/) continue
                if (table == "compile") named["compile." word[w]]
                if (word[w] ~ /_/ || alone || (named_first && w == 1 + (item ~ /^ /))) {
                    check(word[w])
                    checked++
                }
            }
        }
    }
    END {
        file = "README.md"; line = "all"
        for (name in key)
            if (name ~ /^compile\./ && !(name in named)) fail(name " is not named")
        if (checked < 100) fail("only " checked + 0 " keys found under ## Specs")
        exit failed
    }'
