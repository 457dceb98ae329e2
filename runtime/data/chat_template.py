"""Renders conversations with a model's chat template: lines of messages become lines of text.

Templates are written in Jinja and stored in the model's folder, as chat_template.jinja or in
tokenizer_config.json. They are given the same variables as by transformers' apply_chat_template."""
import datetime
import json
import os

SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token")


class BadConversation(Exception):
    pass


def environment():
    import jinja2.ext
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        """{% generation %} marks the assistant's words for other tools; here its contents are only rendered."""
        tags = {"generation"}

        def parse(self, parser):
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def raise_exception(message):
        raise BadConversation(f"the chat template: {message}")

    def to_json(value, ensure_ascii=False, **options):  # jinja's own escapes HTML
        return json.dumps(value, ensure_ascii=ensure_ascii, **options)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return env


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def source_in(config, path):
    """Returns the template's source. Of several named templates, takes `default`."""
    source = config.get("chat_template")
    if isinstance(source, list):
        source = {entry["name"]: entry["template"] for entry in source}.get("default")
    if not isinstance(source, str):
        raise BadConversation(f"{path} has no chat_template; name one: --chat-template FILE")
    return source


class ChatTemplate:
    """The template at `path`, or, without a path, that of the folder `model`.

    Templates may use the special tokens of `model`."""

    def __init__(self, path, model):
        self.path, self.model, self.template = path, model, None

    def open(self):
        beside = os.path.join(self.model, "tokenizer_config.json")
        jinja = os.path.join(self.model, "chat_template.jinja")
        config = read_json(beside) if os.path.exists(beside) else {}
        path = self.path or (jinja if os.path.exists(jinja) else beside)
        if path.endswith(".json"):
            source = source_in(read_json(path) if self.path else config, path)
        else:
            with open(path, encoding="utf-8") as file:
                source = file.read()
        tokens = {name: config.get(name) for name in SPECIAL}
        self.tokens = {name: token["content"] if isinstance(token, dict) else token
                       for name, token in tokens.items() if token}
        self.template = environment().from_string(source)

    def render(self, messages, tools, add_generation_prompt=False):
        return self.template.render(messages=messages, tools=tools, documents=None,
                                    add_generation_prompt=add_generation_prompt, **self.tokens)

    def answer(self, prompt, completion, tools):
        """Returns the text that is given, up to the assistant's turn, and the text to be predicted."""
        given = self.render(prompt, tools, add_generation_prompt=True)
        whole = self.render(prompt + completion, tools)
        if not whole.startswith(given):
            raise BadConversation("the chat template writes the prompt differently when an answer follows")
        return given, whole[len(given):]

    def parts(self, messages, tools):
        """Returns the conversation as a list of [text, is target]; the assistant's turns are the targets."""
        whole, parts, at = self.render(messages, tools), [], 0
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            given, said = self.answer(messages[:i], [message], tools)
            end = len(given) + len(said)
            if whole[:end] != given + said:
                raise BadConversation(f"the chat template writes messages up to {i + 1} differently when more "
                                      "follow; give each answer a line with prompt and completion")
            parts += [[whole[at:len(given)], False], [said, True]]
            at = end
        if not parts:
            raise BadConversation("no message has the role assistant")
        return parts + [[whole[at:], False]]

    def as_text(self, line):
        """Returns a line of messages with the messages replaced by text."""
        tools = line.get("tools")
        if "messages" in line:
            return {"parts": self.parts(messages_of(line, "messages"), tools)}
        if "completion" in line:
            prompt, completion = self.answer(messages_of(line, "prompt"), messages_of(line, "completion"), tools)
            return {"prompt": prompt, "completion": completion}
        prompt, chosen, rejected = pair_of_messages(line)
        text, chosen = self.answer(prompt, chosen, tools)
        return {"prompt": text, "chosen": chosen, "rejected": self.answer(prompt, rejected, tools)[1]}


def messages_of(line, name):
    messages = line.get(name)
    if not isinstance(messages, list) or not messages or not all(
            isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        raise BadConversation(f"{name} must be an array of messages, each with a role")
    return messages


def pair_of_messages(line):
    """Returns prompt, chosen and rejected. Without a prompt, it is the common start of the other two."""
    chosen, rejected = messages_of(line, "chosen"), messages_of(line, "rejected")
    if "prompt" in line:
        return messages_of(line, "prompt"), chosen, rejected
    alike = 0
    while alike < min(len(chosen), len(rejected)) and chosen[alike] == rejected[alike]:
        alike += 1
    if alike in (0, len(chosen), len(rejected)):
        raise BadConversation("without prompt, chosen and rejected must begin with the same messages and then differ")
    return chosen[:alike], chosen[alike:], rejected[alike:]


def is_conversation(line):
    return "messages" in line or any(
        isinstance(line.get(name), list) for name in ("prompt", "completion", "chosen", "rejected"))
