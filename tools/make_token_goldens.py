#!/usr/bin/env python3
"""Makes tests/models/data/tokens: strings of every kind, and the ids another implementation gives them.

  pip install gguf
  tools/make_token_goldens.py --peer "COMMAND" [--models FOLDER]

COMMAND -m MODEL.gguf FILE prints, for each line of FILE (a Python string literal), a JSON list of ids: no BOS, control tokens read as such; with
--plain they are not. Pre-tokenizers that none of the models has are tried on copies of the 0.5B's vocabulary with another tokenizer.ggml.pre and with
tokens for all numbers of two and three digits, so that it shows where digits are split.

strings.txt holds one string a line, with \\\\ \\n \\r and \\xHH escapes. NAME.ids holds one line per string: a 64-bit FNV-1a hash of the ids (as little-endian
32-bit numbers) in hex, and for the first 200 strings the ids themselves.
"""
import argparse, json, os, pathlib, subprocess, sys, tempfile
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from token_strings import strings

ROOT = pathlib.Path(__file__).resolve().parent.parent
QWEN15, QWEN05, SMOL, GEMMA = "qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m", "smollm2-135m-instruct-q4_1", "gemma-3-270m-q4_k_m"
RUNS = [("qwen2.5-coder-1.5b", QWEN15, "", ""), ("qwen2.5-coder-1.5b.plain", QWEN15, "--plain", ""), ("qwen2.5-coder-0.5b", QWEN05, "", ""),
        ("smollm2-135m", SMOL, "", ""), ("smollm2-135m.plain", SMOL, "--plain", ""), ("gemma-3-270m", GEMMA, "", ""), ("gemma-3-270m.plain", GEMMA, "--plain", ""),
        *[(f"as-{pre}", QWEN05, "", pre) for pre in ("qwen2", "qwen35", "llama-bpe", "gpt-2", "smollm", "default")]]

def escape(text):
    out = []
    for byte in text.encode("utf-8"):
        c = chr(byte)
        out.append(b"\\\\" if c == "\\" else b"\\n" if c == "\n" else b"\\r" if c == "\r" else b"\\x%02x" % byte if byte < 32 or byte == 127 else bytes([byte]))
    return b"".join(out)

def with_pre(path, pre, out):
    """A file without tensors: the keys of `path`, another pre-tokenizer, number tokens after the last token."""
    import gguf
    reader = gguf.GGUFReader(path); writer = gguf.GGUFWriter(out, "qwen2"); F = gguf.GGUFValueType
    numbers = [f"{a}{b}" for a in range(10) for b in range(10)] + [f"{a}{b}{c}" for a in range(10) for b in range(10) for c in range(10)]
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture": continue
        value, types = field.contents(), field.types
        if name == "tokenizer.ggml.pre": value = pre
        if name == "tokenizer.ggml.tokens": value = value + numbers
        if name == "tokenizer.ggml.token_type": value = value + [1] * len(numbers)
        if name == "tokenizer.ggml.merges": value = value + [f"{n[:-1]} {n[-1]}" for n in numbers]
        writer.add_key_value(name, value, types[0], types[1] if types[0] == F.ARRAY else None)
    writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()

def fnv(ids):
    h = 0xcbf29ce484222325
    for i in ids:
        for byte in i.to_bytes(4, "little"): h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h

def main():
    a = argparse.ArgumentParser(); a.add_argument("--peer", required=True)
    a.add_argument("--models", default=os.environ.get("OUTRIDER_MODELS", os.path.expanduser("~/.cache/outrider/models")))
    o = a.parse_args()
    folder = ROOT / "tests/models/data/tokens"; folder.mkdir(parents=True, exist_ok=True)
    texts = strings()
    (folder / "strings.txt").write_bytes(b"".join(escape(t) + b"\n" for t in texts))
    with tempfile.TemporaryDirectory() as work:
        literals = os.path.join(work, "strings"); open(literals, "w").write("".join(ascii(t) + "\n" for t in texts))
        for name, model, flags, pre in RUNS:
            path = os.path.join(o.models, model + ".gguf")
            if pre:
                changed = os.path.join(work, pre + ".gguf")
                with_pre(path, pre, changed)
                path = changed
            out = subprocess.run([*o.peer.split(), "-m", path, *flags.split(), literals], check=True, capture_output=True, text=True).stdout
            rows = [json.loads(line) for line in out.splitlines()]
            assert len(rows) == len(texts), (name, len(rows), len(texts))
            (folder / f"{name}.ids").write_text("".join(f"{fnv(r):016x}" + ("" if i >= 200 else " " + " ".join(map(str, r))) + "\n" for i, r in enumerate(rows)))
            print(f"{name}: {len(rows)} strings, {sum(map(len, rows))} ids")

main()
