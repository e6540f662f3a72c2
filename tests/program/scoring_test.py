#!/usr/bin/env python3
"""tokenize, template, inspect, perplexity and logits on real files: what they print and what they refuse (C58)."""
import json, math, os, stat, struct, unittest
from gguf_file import Gguf
from support import GEMMA, QWEN_SMALL, SMOL, ProgramTest, run

TEXTS = ["Hello world! Café déjà vu — 123 😊", "  two spaces", "tab\tnl\r\n\r\n", "This is 🦙.cpp", "1234567 3.14 ١٢٣", "don't DON'T", "a\u0301", "á", "猫 赋 é ñ —", "🇫🇷 👩‍👩‍👧"]


def read_npy(path):
    with open(path, "rb") as f: raw = f.read()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    size = struct.unpack("<H", raw[8:10])[0]
    assert (10 + size) % 64 == 0 and raw[9 + size:10 + size] == b"\n"
    head = eval(raw[10:10 + size], {"__builtins__": {}}, {"False": False, "True": True})
    assert head["descr"] == "<f4" and head["fortran_order"] is False
    rows, columns = head["shape"]
    flat = struct.unpack(f"<{rows * columns}f", raw[10 + size:])
    return [flat[i * columns:(i + 1) * columns] for i in range(rows)]


def surprise(logits, token):
    highest = max(logits)
    return math.log(sum(math.exp(x - highest) for x in logits)) + highest - logits[token]


class Text(ProgramTest):
    def ids(self, model, text, *more): return self.answer("tokenize", "-m", model, "-p", text, *more)["ids"]

    def test_pieces_make_up_the_text(self):
        for model in (SMOL, QWEN_SMALL):
            for text in TEXTS:
                got = self.answer("tokenize", "-m", model, "-f", self.file("text", text))
                self.assertEqual(set(got), {"ids", "pieces"})
                self.assertEqual(len(got["ids"]), len(got["pieces"]))
                if "\ufffd" not in "".join(got["pieces"]): self.assertEqual("".join(got["pieces"]), text)

    def test_table_for_people(self):
        ids = self.ids(SMOL, "Hello world")
        outcome = self.answered(run("tokenize", SMOL, "Hello", "world"))
        rows = [line.split("\t") for line in outcome.text.splitlines()]
        self.assertEqual(([int(i) for i, _ in rows], "".join(json.loads(p) for _, p in rows)), (ids, "Hello world"))

    def test_control_tokens(self):
        self.assertEqual(self.ids(SMOL, "<|im_end|>"), [2])
        self.assertGreater(len(self.ids(SMOL, "<|im_end|>", "--plain")), 3)

    def test_one_start_token_where_there_is_one(self):
        self.assertEqual(self.ids(GEMMA, "hi").count(2), 1)
        self.assertEqual(self.ids(GEMMA, "hi")[0], 2)
        self.assertEqual(self.ids(GEMMA, "hi", "--no-bos"), self.ids(GEMMA, "hi")[1:])
        self.assertEqual(self.ids(QWEN_SMALL, "hi"), self.ids(QWEN_SMALL, "hi", "--no-bos"))

    def test_invalid_utf8_keeps_its_bytes(self):
        for model in (QWEN_SMALL, GEMMA):
            self.assertEqual(len(self.ids(model, b"\xff\xfe", "--no-bos")), 2)
            self.assertNotEqual(self.ids(model, b"\xff\xfe"), self.ids(model, b"\xfe\xff"))

    def test_standard_input_with_a_zero_byte(self):
        self.assertEqual(self.answer("tokenize", "-m", SMOL, stdin=b"a\0b")["pieces"], ["a", "\0", "b"])

    def test_template(self):
        text = self.answered(run("template", "-m", SMOL, "-p", "hi there", "--system", "Be brief.")).text
        self.assertEqual(text, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nhi there<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(text.count("hi there"), 1)

    def test_a_base_model_without_a_template(self):
        base = Gguf(SMOL).rewrite(self.folder / "base.gguf", {"tokenizer.chat_template": None})
        self.refused(run("inspect", base, "--template"), 1, "base.gguf has no chat template", "ChatML", "--raw")
        for arguments in (["template", base, "hi"], [base, "hi", "-n", "1"]):
            outcome = self.answered(run(*arguments))
            self.assertIn("warning: the model has no chat template, so ChatML is assumed", outcome.lines[0])
            self.assertEqual(outcome.err.count("ChatML"), 1)
        self.assertIn("<|im_start|>user\nhi<|im_end|>", run("template", base, "hi").text)
        self.assertNotIn("ChatML", run(base, "hi", "-n", "1", "--raw").err)

    def test_tokens_of_the_template_are_what_run_reads(self):
        for model in (SMOL,):
            text = run("template", "-m", model, "-p", "hi").text
            self.assertEqual(len(self.ids(model, text)), self.answer("-m", model, "-p", "hi", "-n", "1")["prompt_tokens"])

    def test_refusals(self):
        self.refused(run("tokenize", "-m", SMOL, "-p", "a", "-f", "b"), 2, "-p", "-f")
        self.refused(run("tokenize", "-m", SMOL, "-f", "/nowhere/text"), 1, "/nowhere/text")
        self.refused(run("tokenize"), 2, "-m FILE")


class Inspect(ProgramTest):
    def test_json(self):
        got = self.answered(run("inspect", SMOL, "--json")).json
        self.assertEqual((got["architecture"], got["version"], got["file_bytes"], got["shards"]), ("llama", 3, os.path.getsize(SMOL), 1))
        self.assertEqual(sum(t["tensors"] for t in got["types"]), len(got["tensors"]))
        self.assertEqual(sum(t["bytes"] for t in got["types"]), sum(t["bytes"] for t in got["tensors"]))
        self.assertIn("llama.block_count", {k["name"] for k in got["keys"]})

    def test_text(self):
        self.assertIn("Q4_1", run("inspect", SMOL).text)
        self.assertIn("llama.block_count", run("inspect", SMOL, "--keys").text)
        self.assertIn("blk.0.attn_q.weight", run("inspect", SMOL, "--tensors").text)
        self.assertIn("<|im_start|>", run("inspect", SMOL, "--template").text)

    def test_refusals(self):
        self.refused(run("inspect"), 2, "FILE")


class Scores(ProgramTest):
    PROSE = "The harbour lay still in the morning. Boats rocked at their ropes while gulls walked along the wall and waited for the first nets.\n" * 20

    def test_perplexity(self):
        path = self.file("prose.txt", self.PROSE)
        got = self.answer("perplexity", "-m", SMOL, "-f", path, "--chunk", "128")
        self.assertEqual(set(got), {"perplexity", "scored", "chunks"})
        tokens = len(self.answer("tokenize", "-m", SMOL, "-f", path)["ids"])
        self.assertEqual(got["chunks"], tokens // 128)
        self.assertEqual(got["scored"], got["chunks"] * (128 - 2 - 64 + 1))  # positions c/2 … c−2
        self.assertTrue(1 < got["perplexity"] < 40, got)
        self.assertRegex(self.answered(run("perplexity", SMOL, "-f", path, "--chunk", "128")).text, rf"^perplexity {got['perplexity']:.4f} over {got['scored']} tokens of {got['chunks']} chunks\n$")

    def test_perplexity_is_that_of_the_logits(self):
        path = self.file("prose.txt", self.PROSE)
        ids = self.answer("tokenize", "-m", SMOL, "-f", path)["ids"][:64]
        text = self.file("start.txt", "".join(self.answer("tokenize", "-m", SMOL, "-f", path)["pieces"][:64]))
        self.assertEqual(self.answer("tokenize", "-m", SMOL, "-f", text)["ids"], ids)
        got = self.answer("perplexity", "-m", SMOL, "-f", text, "--chunk", "64")
        rows = self.logits(ids)
        loss = [surprise(rows[i], ids[i + 1]) for i in range(32, 63)]
        self.assertEqual(got["scored"], len(loss))
        self.assertAlmostEqual(got["perplexity"], math.exp(sum(loss) / len(loss)), delta=1e-3 * got["perplexity"])

    def logits(self, ids):
        path = self.folder / "rows.npy"
        said = self.answered(run("logits", "-m", SMOL, "--ids", ",".join(map(str, ids)), "-o", path)).json
        self.assertEqual(said, {"rows": len(ids), "vocabulary": 49152})
        return read_npy(path)

    def test_logits(self):
        ids = self.answer("tokenize", "-m", SMOL, "-p", "The capital of France is")["ids"]
        rows = self.logits(ids)
        self.assertEqual((len(rows), len(rows[0])), (len(ids), 49152))
        self.assertTrue(all(map(math.isfinite, rows[-1])))
        best = max(range(49152), key=rows[-1].__getitem__)
        self.assertEqual([best], self.answer("-m", SMOL, "--raw", "-p", "The capital of France is", "--temp", "0", "-n", "1")["tokens"])
        self.assertFalse(os.path.exists(self.folder / "rows.npy.part"))

    def test_logits_into_devices(self):
        null, full = self.device("null", 3), self.device("full", 7)
        self.answered(run("logits", "-m", SMOL, "--ids", "1,2", "-o", null))
        self.refused(run("logits", "-m", SMOL, "--ids", "1,2", "-o", full), 1, full, "No space left on device")
        for device in (null, full): self.assertTrue(stat.S_ISCHR(os.stat(device).st_mode))

    def test_refusals(self):
        short, out = self.file("short.txt", "Too short."), str(self.folder / "x.npy")
        self.refused(run("perplexity", "-m", SMOL, "-f", short), 2, "512", "--chunk")
        self.refused(run("perplexity", "-m", SMOL), 2, "-f TEXT")
        self.refused(run("perplexity", "-m", SMOL, "-f", "/nowhere/text"), 1, "/nowhere/text")
        self.refused(run("perplexity", "-m", SMOL, "-f", short, "--chunk", "3"), 2, "«3»")
        self.refused(run("logits", "-m", SMOL, "--ids", "1,2,x", "-o", out), 2, "1,2,x")
        self.refused(run("logits", "-m", SMOL, "-o", out), 2, "--ids")
        self.refused(run("logits", "-m", SMOL, "--ids", "1,49152", "-o", out), 2, "49152")
        self.refused(run("logits", "-m", SMOL, "--ids", "1,-1", "-o", out), 2, "-1")
        self.refused(run("logits", "-m", SMOL, "--ids", "1"), 2, "-o")
        self.refused(run("logits", "-m", SMOL, "--ids", "1", "-o", "/nowhere/x.npy"), 1, "/nowhere/x.npy", "No such file")
        self.refused(run("verify", "-m", SMOL, "--prompts", "/nowhere/p.jsonl"), 1, "/nowhere/p.jsonl")
        self.refused(run("verify", "-m", SMOL, "--prompts", self.file("p.jsonl", "not json\n")), 2, "p.jsonl", "line 1")


if __name__ == "__main__": unittest.main()
