#!/bin/bash
# Tests of runtime/data/tokenize_jsonl.py. Prints `ok tokenize NAME`, `FAIL tokenize NAME` or
# `skip tokenize: REASON`; exits with 1 if any failed.
#
#     tests/runtime/tokenize.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=tokenize work=build/tests/tokenize
. tests/lib.sh
python=${PYTHON:-python3}
export PYTHONPATH=$PWD/build/deps/text${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
rm -rf "$work" && mkdir -p "$work"

# shard NAME [OPTION]...: makes a shard from $work/NAME.jsonl.
shard() {
    local name=$1
    shift
    $python runtime/data/tokenize_jsonl.py -o "$work/$name.bin" "$@" "$work/$name.jsonl"
}
tokenized() { shard "$1" --tokenizer "$work/tokenizer.json" "${@:2}"; }

# A tokenizer that maps words to ids.
echo '{"added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "WordLevel",
    "vocab": {"a": 5, "b": 6, "c": 70000, "user": 8, "assistant": 9, "S": 1, "E": 2, "?": 3, ":": 4}, "unk_token": "?"}}' \
    >"$work/tokenizer.json"

# Prompts have no targets; the token of --eos is a target.
test_text() {
    printf '%s\n' '{"prompt": "a b", "completion": " c"}' '{"text": "b b x"}' >"$work/text.jsonl"
    printf '%s\n' '{"input_ids": [1, 5, 6, 70000, 2], "labels": [-100, -100, -100, 70000, 2]}' \
        '{"input_ids": [1, 6, 6, 3, 2]}' >"$work/ids.jsonl"
    tokenized text --bos S --eos E && shard ids && cmp "$work/text.bin" "$work/ids.bin"
}

test_pairs() {
    printf '%s\n' '{"prompt": "a", "chosen": "b", "rejected": "c c"}' >"$work/pairs.jsonl"
    printf '%s\n' '{"prompt_ids": [1, 5], "chosen_ids": [6, 2], "rejected_ids": [70000, 70000, 2]}' >"$work/ids.jsonl"
    tokenized pairs --bos S --eos E && shard ids && cmp "$work/pairs.bin" "$work/ids.bin"
}

# The assistant's messages are targets in every form of conversation.
test_conversations() {
    echo "{\"bos_token\": {\"content\": \"S\"}, \"chat_template\": [{\"name\": \"default\", \"template\": \"{{ bos_token }}
        {%- for m in messages %} {{ m.role }} : {{ m.content }} E{% endfor %}
        {%- if add_generation_prompt %} assistant : {% endif %}\"}]}" | tr '\n' ' ' >"$work/tokenizer_config.json"
    local a='{"role": "user", "content": "a"}' b='{"role": "assistant", "content": "b"}' \
        c='{"role": "assistant", "content": "c c"}'
    printf '%s\n' "{\"messages\": [$a, $b, $a, $c, $a]}" "{\"prompt\": [$a, $b, $a], \"completion\": [$c]}" >"$work/turns.jsonl"
    cat >"$work/ids.jsonl" <<'LINES'
{"input_ids": [1, 8, 4, 5, 2, 9, 4, 6, 2, 8, 4, 5, 2, 9, 4, 70000, 70000, 2, 8, 4, 5, 2], "labels": [-100, -100, -100, -100, -100, -100, -100, 6, 2, -100, -100, -100, -100, -100, -100, 70000, 70000, 2, -100, -100, -100, -100]}
{"input_ids": [1, 8, 4, 5, 2, 9, 4, 6, 2, 8, 4, 5, 2, 9, 4, 70000, 70000, 2], "labels": [-100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100, -100, 70000, 70000, 2]}
LINES
    printf '%s\n' "{\"prompt\": [$a], \"chosen\": [$b], \"rejected\": [$c]}" "{\"chosen\": [$a, $b], \"rejected\": [$a, $c]}" \
        >"$work/preferred.jsonl"
    for _ in 1 2; do
        echo '{"prompt_ids": [1, 8, 4, 5, 2, 9, 4], "chosen_ids": [6, 2], "rejected_ids": [70000, 70000, 2]}'
    done >"$work/id_pairs.jsonl"
    tokenized turns && shard ids && cmp "$work/turns.bin" "$work/ids.bin" &&
        tokenized preferred && shard id_pairs && cmp "$work/preferred.bin" "$work/id_pairs.bin"
}

# Templates render the same text as in transformers.
test_templates() {
    $python - <<'PYTHON'
import json, sys
sys.path.insert(0, "runtime/data")
from chat_template import ChatTemplate
count = 0
for entry in map(json.loads, open("tests/oracle/chat/rendered.jsonl", encoding="utf-8")):
    chat = ChatTemplate("tests/oracle/chat/" + entry["template"], "")
    chat.open()
    chat.tokens = entry["tokens"]
    text = chat.as_text(entry["line"])
    texts = ["".join(part for part, _ in text["parts"])] if "parts" in text else [
        text["prompt"] + text[name] for name in ("completion", "chosen", "rejected") if name in text]
    assert texts == entry["texts"], (entry["template"], texts, entry["texts"])
    count += len(texts)
assert count == 14, count
PYTHON
}

# says LINE ERROR [OPTION]...: LINE as the second line of a file gives ERROR, and the earlier shard
# is unchanged.
says() {
    local line=$1 error=$2
    shift 2
    echo before >"$work/kept.bin"
    printf '{"input_ids": [1]}\n%s\n' "$line" >"$work/kept.jsonl"
    shard kept "$@" 2>"$work/kept.log" && return 1
    grep -q "^error: .*kept.jsonl:2: .*$error" "$work/kept.log" && [ "$(cat "$work/kept.bin")" = before ]
}

test_bad_lines_make_no_shard() {
    says '{"input_ids": [1, -1]}' 'input_ids must be' && says '{"input_ids": [1, 2], "labels": [3, 2]}' 'labels.0. is 3' &&
        says '{"input_ids": []}' 'no tokens' && says '{"text": "a"}' 'needs --tokenizer' &&
        says '{"messages": []}' 'needs --tokenizer' &&
        says '{"prompt_ids": [1], "chosen_ids": [2], "rejected_ids": [3]}' 'do not mix' &&
        says '[1' 'not JSON at column' && says '{}' 'it has neither'
}

test_bad_conversations() {
    local a='{"role": "user", "content": "a"}' b='{"role": "assistant", "content": "b"}'
    local with=(--tokenizer "$work/tokenizer.json" --chat-template)
    echo '{% for m in messages %}{% if m.role == "tool" %}{{ raise_exception("no tools") }}{% endif %}{{ m.content + "" }}
        {%- endfor %}' >"$work/strict.jinja"
    echo '{% for m in messages %}{{ m.content }}{{ "." if loop.last and m.role == "assistant" }}{% endfor %}' >"$work/last.jinja"
    echo '{% for m in messages %}{{ m.content }}{{ "." if loop.last and m.role == "user" }}{% endfor %}' >"$work/asks.jinja"
    says '{"messages": []}' 'messages must be an array' "${with[@]}" "$work/strict.jinja" &&
        says "{\"messages\": [$a]}" "no message has the role assistant" "${with[@]}" "$work/strict.jinja" &&
        says "{\"messages\": [$a, {\"role\": \"tool\"}, $b]}" 'the chat template: no tools' "${with[@]}" "$work/strict.jinja" &&
        says '{"messages": [{"role": "assistant", "content": 1}]}' 'the chat template: TypeError' "${with[@]}" "$work/strict.jinja" &&
        says "{\"prompt\": \"a\", \"completion\": [$b]}" 'prompt must be an array' "${with[@]}" "$work/strict.jinja" &&
        says "{\"chosen\": [$a], \"rejected\": [$b]}" 'must begin with the same messages' "${with[@]}" "$work/strict.jinja" &&
        says "{\"messages\": [$a, $b, $a, $b]}" 'writes messages up to 2 differently' "${with[@]}" "$work/last.jinja" &&
        says "{\"prompt\": [$a], \"completion\": [$b]}" 'writes the prompt differently' "${with[@]}" "$work/asks.jinja" || return 1
    echo "{\"messages\": [$a, $b]}" >"$work/chat.jsonl"
    tokenized chat --eos E 2>"$work/chat.log"
    [ $? = 1 ] && grep -q 'error: --bos and --eos do not go with messages' "$work/chat.log" || return 1
    tokenized chat --chat-template "$work/none.jinja" 2>"$work/chat.log"
    [ $? = 1 ] && grep -q "error: the chat template: .*none.jinja" "$work/chat.log"
}

$python -c 'import tokenizers, jinja2' 2>/dev/null || {
    echo "skip tokenize: it needs Python's packages tokenizers and jinja2"
    set -- bad_lines_make_no_shard
}
run_tests "$@"
exit $failed
