#!/usr/bin/env python3
"""Writes tests/chat/goldens.json: what Python's Jinja, set up as transformers does, makes of our templates.

Needs jinja2, and gguf for the templates inside model files. Templates: tests/chat/templates/*.jinja, the list in
tests/chat/template_cases.py, and those of the chat models found in ${OUTRIDER_MODELS:-~/.cache/outrider/models}.
"""
import datetime, json, os, pathlib, sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests" / "chat"))
import template_cases as cases

NOW = datetime.datetime(2026, 11, 30, 13, 5, 9)  # a Monday; the test uses the same moment


class Generation(Extension):
    """{% generation %} marks what the model wrote; rendering leaves the text as it is."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


def render(template, context):
    try:
        return {"output": environment().from_string(template).render(**context)}
    except Exception as error:  # any failure of the reference must be a failure of ours
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def model_templates():
    import gguf
    folder = pathlib.Path(os.environ.get("OUTRIDER_MODELS", pathlib.Path.home() / ".cache/outrider/models"))
    for path in sorted(folder.glob("*.gguf")):
        field = gguf.GGUFReader(path).fields.get("tokenizer.chat_template")
        if field: yield path.stem, bytes(field.parts[field.data[0]]).decode()


def main():
    out = []
    def add(name, template, context):
        out.append({"name": name, "template": template, "context": context, **render(template, context)})
    for name, template, *context in cases.CASES:
        add(name, template, context[0] if context else cases.DEFAULT)
    files = [(p.stem, p.read_text()) for p in sorted((root / "tests/chat/templates").glob("*.jinja"))]
    for name, template in files + list(model_templates()):
        for number, context in enumerate(cases.CONVERSATIONS): add(f"{name}/{number}", template, context)
    wrong = [f"{c['name']}: {c.get('error')}" for c in out if c["name"].startswith("error") != ("error" in c) and "/" not in c["name"]]
    print("\n".join(wrong))
    # Templates and contexts are written once and referred to by number.
    templates = list(dict.fromkeys(c["template"] for c in out))
    contexts = list(dict.fromkeys(json.dumps(c["context"], ensure_ascii=False) for c in out))
    for c in out:
        c["template"] = templates.index(c["template"])
        c["context"] = contexts.index(json.dumps(c["context"], ensure_ascii=False))
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in out)
    text = ('{"templates": ' + json.dumps(templates, ensure_ascii=False, indent=0) + ',\n"contexts": [\n' + ",\n".join(contexts) +
            '\n],\n"cases": [\n' + lines + "\n]}\n")
    (root / "tests/chat/goldens.json").write_text(text)
    print(f"{len(out)} cases over {len(templates)} templates, {sum('error' in c for c in out)} of them errors; jinja2 {jinja2.__version__}")


if __name__ == "__main__": main()
