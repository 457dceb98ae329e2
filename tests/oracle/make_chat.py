"""Writes chat/rendered.jsonl: the output of transformers' apply_chat_template for chat/*.jinja and
the conversations in chat/lines.jsonl.

    python3 tests/oracle/make_chat.py      with tokenizers, transformers and jinja2 installed

Each line has the template's file, the tokens that it may name, the conversation, and the whole text
of each of its sequences."""
import json
import pathlib

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

FOLDER = pathlib.Path(__file__).parent / "chat"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def conversations(line):
    """The messages of each sequence of a line."""
    if "messages" in line:
        return [line["messages"]]
    prompt = line.get("prompt", [])
    return [prompt + line[name] for name in ("completion", "chosen", "rejected") if name in line]


def main():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"?": 0}, "?")), **TOKENS)
    lines = [json.loads(line) for line in open(FOLDER / "lines.jsonl", encoding="utf-8")]
    with open(FOLDER / "rendered.jsonl", "w", encoding="utf-8") as out:
        for template in sorted(FOLDER.glob("*.jinja")):
            tokenizer.chat_template = template.read_text(encoding="utf-8")
            for line in lines:
                texts = [tokenizer.apply_chat_template(messages, tools=line.get("tools"), tokenize=False)
                         for messages in conversations(line)]
                entry = {"template": template.name, "tokens": TOKENS, "line": line, "texts": texts}
                out.write(json.dumps(entry, ensure_ascii=False) + "\n")


main()
