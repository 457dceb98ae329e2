#!/usr/bin/env python3
"""Converts JSON lines to a token shard with samples; README.md in this folder describes the format.

    tokenize_jsonl.py --tokenizer MODEL/tokenizer.json [--bos TOKEN] [--eos TOKEN]
                      [--chat-template FILE] -o OUT.bin FILE...

Each line has one of these forms:

    {"text"}, {"prompt", "completion"} or {"prompt", "chosen", "rejected"} with strings: each part is
    tokenized separately. The only special tokens added are --bos before and --eos after a sequence.

    {"messages"}, or prompt, completion, chosen and rejected with arrays of messages: the model's chat
    template turns them into text.

    {"input_ids", "labels"} or {"prompt_ids", "chosen_ids", "rejected_ids"}: no tokenizer is needed.

A shard holds either samples or pairs, not both."""
import argparse
import array
import json
import os
import sys

sys.dont_write_bytecode = True  # keep __pycache__ out of the source folder
from chat_template import BadConversation, ChatTemplate, is_conversation

MAGIC, HEADER_WORDS, IGNORED = 20240520, 256, -100
SAMPLE, PAIR = 0, 1


class BadLine(Exception):
    pass


class Encoder:
    """Turns parts of a line into lists of ids. Only text needs the tokenizers package."""

    def __init__(self, path, bos, eos, chat_template):
        self.path, self.tokenizer = path, None
        self.special = {"bos": bos, "eos": eos}
        self.chat = ChatTemplate(chat_template, os.path.dirname(path or ""))

    def open(self):
        if self.tokenizer:
            return
        if not self.path:
            raise BadLine("text needs --tokenizer MODEL/tokenizer.json")
        try:
            import tokenizers
        except ImportError:
            sys.exit("error: the Python package tokenizers is missing: pip install tokenizers")
        try:
            self.tokenizer = tokenizers.Tokenizer.from_file(self.path)
        except Exception as reason:  # the package raises no class of its own
            sys.exit(f"error: {self.path}: {reason}")

    def ids(self, text, name):
        if not isinstance(text, str):
            raise BadLine(f"{name} must be a string")
        self.open()
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def mark(self, which):
        """Returns a list of the id of --bos or --eos, empty if the option is not set."""
        token = self.special[which]
        if not token:
            return []
        self.open()
        number = self.tokenizer.token_to_id(token)
        if number is None:
            sys.exit(f"error: --{which} {token}: {self.path} has no such token")
        return [number]

    def text_of(self, line):
        """Returns a line of messages as a line of text; the chat template writes its special tokens."""
        if any(self.special.values()):
            sys.exit("error: --bos and --eos do not go with messages: the chat template writes these tokens")
        self.open()
        if not self.chat.template:
            try:
                self.chat.open()
            except ImportError:
                sys.exit("error: the Python package jinja2 is missing: pip install jinja2")
            except Exception as reason:  # of files, of JSON, of Jinja's syntax
                sys.exit(f"error: the chat template: {reason}")
        try:
            return self.chat.as_text(line)
        except Exception as reason:  # a template may fail in any way
            raise BadLine(reason if isinstance(reason, BadConversation) else
                          f"the chat template: {type(reason).__name__}: {reason}") from None


def given_ids(line, name):
    ids = line[name]
    if not isinstance(ids, list) or not all(type(i) is int and 0 <= i < 2**32 for i in ids):
        raise BadLine(f"{name} must be an array of integers from 0 to 2^32 - 1")
    return ids


def sample_of_ids(line):
    ids = given_ids(line, "input_ids")
    labels = line.get("labels", ids)
    if not isinstance(labels, list) or len(labels) != len(ids):
        raise BadLine("labels must have as many elements as input_ids")
    for i, label in enumerate(labels):
        if label not in (ids[i], IGNORED):
            raise BadLine(f"labels[{i}] is {label}: a shard stores only a mask, so it must be {ids[i]} or -100")
    return ids, [label != IGNORED for label in labels]


def sample_of_parts(encoder, parts):
    parts = [(encoder.ids(text, "messages"), target) for text, target in parts]
    return [i for ids, _ in parts for i in ids], [target for ids, target in parts for _ in ids]


def joined(prompt, completion):
    return prompt + completion, [False] * len(prompt) + [True] * len(completion)


def pair_of(line, names, part, bos, eos):
    for name in names:
        if name not in line:
            raise BadLine(f"{name} is missing; a pair has {', '.join(names)}")
    prompt, chosen, rejected = (part(name) for name in names)
    if chosen == rejected:
        raise BadLine(f"{names[1]} and {names[2]} are the same, so neither is preferred")
    if not chosen + eos or not rejected + eos:
        raise BadLine("a completion has no tokens")
    return [joined(bos + prompt, completion + eos) for completion in (chosen, rejected)]


def sequences(encoder, line):
    """Returns the kind of a line and its sequences: for each, the ids and whether each id is a target."""
    if not isinstance(line, dict):
        raise BadLine("each line must be one object")

    def text(name):
        return encoder.ids(line[name], name)

    def given(name):
        return given_ids(line, name)

    if "prompt_ids" in line or "chosen_ids" in line:
        return PAIR, pair_of(line, ("prompt_ids", "chosen_ids", "rejected_ids"), given, [], [])
    if "input_ids" in line:
        return SAMPLE, [sample_of_ids(line)]
    bos, eos = encoder.mark("bos"), encoder.mark("eos")
    if is_conversation(line):
        line = encoder.text_of(line)
        if "parts" in line:
            return SAMPLE, [sample_of_parts(encoder, line["parts"])]
    if "chosen" in line or "rejected" in line:
        return PAIR, pair_of(line, ("prompt", "chosen", "rejected"), text, bos, eos)
    if "text" in line:
        return SAMPLE, [joined([], bos + text("text") + eos)]
    if "prompt" in line and "completion" in line:
        return SAMPLE, [joined(bos + text("prompt"), text("completion") + eos)]
    raise BadLine("it has neither text, nor messages, nor prompt and completion, nor prompt, chosen and rejected")


class Shard:
    def __init__(self):
        self.kind, self.ids, self.targets, self.ends = None, [], [], []

    def add(self, kind, added):
        if self.kind not in (None, kind):
            raise BadLine("samples and pairs do not mix in a shard")
        self.kind = kind
        for ids, targets in added:
            if not ids:
                raise BadLine("it has no tokens")
            self.ids += ids
            self.targets += targets
            self.ends.append(len(self.ids))

    def write(self, path):
        wide = max(self.ids) >= 2**16
        header = [MAGIC, 4 if wide else 3, len(self.ids), len(self.ends), self.kind]
        mask = bytearray((len(self.ids) + 7) // 8)
        for i, target in enumerate(self.targets):
            mask[i // 8] |= target << i % 8
        with open(path + ".writing", "wb") as file:
            for kind, values in (("I", header + [0] * (HEADER_WORDS - len(header))),
                                 ("I" if wide else "H", self.ids), ("I", self.ends)):
                numbers = array.array(kind, values)
                if sys.byteorder == "big":
                    numbers.byteswap()
                numbers.tofile(file)
            file.write(mask)
        os.replace(path + ".writing", path)


def parse(line):
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as reason:
        raise BadLine(f"byte {reason.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as reason:
        raise BadLine(f"not JSON at column {reason.colno}: {reason.msg}") from None


def read(shard, encoder, path):
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line:
                continue
            try:
                shard.add(*sequences(encoder, parse(line)))
            except BadLine as reason:
                sys.exit(f"error: {path}:{number}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--out", required=True, metavar="OUT.bin")
    parser.add_argument("--tokenizer", metavar="tokenizer.json")
    parser.add_argument("--bos", metavar="TOKEN")
    parser.add_argument("--eos", metavar="TOKEN")
    parser.add_argument("--chat-template", metavar="FILE")
    options = parser.parse_args()
    shard = Shard()
    encoder = Encoder(options.tokenizer, options.bos, options.eos, options.chat_template)
    try:
        for path in options.files:
            read(shard, encoder, path)
        if not shard.ends:
            sys.exit(f"error: {options.files[0]}: has no samples")
        if len(shard.ids) >= 2**32:
            sys.exit("error: a shard holds at most 2^32 - 1 tokens: make several")
        shard.write(options.out)
    except OSError as reason:
        sys.exit(f"error: {reason}")
    print(f"{options.out}: {len(shard.ids)} tokens, {sum(shard.targets)} of them targets, in "
          f"{len(shard.ends)} {'samples' if shard.kind == SAMPLE else 'sequences of pairs'}")


main()
