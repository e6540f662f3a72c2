#!/usr/bin/env python3
"""Settings and drafts that cannot work on a real model, and the line people type that must (C31, C32, C35, C36)."""
import os, re, subprocess, unittest
from gguf_file import Gguf, STRING, string, u32
from support import FIGURES, QWEN_SMALL, SMOL, ProgramTest, run

HI = ["-m", SMOL, "-p", "hi", "--temp", "0"]


class Refusals(ProgramTest):
    def test_context_larger_than_memory(self): self.refused(run(*HI, "-c", "60000000"), 3, "60000000", "MB", "-c")
    def test_context_of_one(self): self.refused(run(*HI, "-c", "1"), 3, "holds 1", "-c")
    def test_prompt_beyond_the_context(self): self.refused(run("-m", SMOL, "-p", "word " * 300, "-c", "256"), 3, "256")

    def test_draft_that_knows_too_few_tokens(self):
        stranger = str(self.folder / "stranger.gguf")
        subprocess.run([os.environ["OUTRIDER_SYNTHETIC"], stranger], check=True)
        self.refused(run(*HI, "--draft", stranger), 2, "stranger.gguf", "too few of the model's tokens", "of 49152", "same family")
        self.refused(run("verify", "-m", SMOL, "--draft", stranger), 2, "of 49152")
        self.refused(run(*HI, "--draft", stranger, "-c", "60000000"), 2, "too few")  # found before memory is looked at, so before anything is loaded

    def test_unusable_drafts(self):
        text = self.file("letter.gguf", "Dear reader, this is no model.\n")
        self.refused(run(*HI, "--draft", "/nowhere/d.gguf"), 1, "/nowhere/d.gguf", "No such file")
        self.refused(run(*HI, "--draft", text), 1, "letter.gguf", "not a GGUF file")
        zebra = Gguf(SMOL).rewrite(self.folder / "zebra.gguf", {"general.architecture": u32(STRING) + string("zebra")})
        self.refused(run(*HI, "--draft", zebra), 1, "zebra.gguf", "«zebra»", "qwen2")

    def test_bias_of_a_token_that_is_none(self):
        self.refused(run(*HI, "--logit-bias", "999999-100"), 2, "999999", "49151")
        for text in ("abc", "5", "5+", "5+1e999"): self.refused(run(*HI, "--logit-bias", text), 2, f"«{text}»")

    def test_context_beyond_the_training_is_a_warning(self):
        outcome = self.answered(run(*HI, "-n", "2", "-c", "20000"))
        self.assertEqual(len(outcome.lines), 2, outcome)
        self.assertTrue(all(w in outcome.lines[0] for w in ("warning", "20000", "8192")), outcome)

    def test_many_more_threads_than_processors_is_a_warning(self):
        usable = run("version", "--json").json["threads"]
        outcome = self.answered(run(*HI, "-n", "2", "-t", 2 * usable + 1))
        self.assertEqual(len(outcome.lines), 2, outcome)
        for word in ("warning", f"{2 * usable + 1} threads", f"{usable} usable processors"): self.assertIn(word, outcome.lines[0])


class Verbose(ProgramTest):
    def table(self, *more):
        outcome = self.answered(run(*HI, "-n", "1", "-c", "512", "-v", *more))
        rows = {m[1]: float(m[2]) for m in re.finditer(r"(?m)^  (\S.*?) +([\d.]+) MB$", outcome.err)}
        parts = [bytes for what, bytes in rows.items() if what not in ("in all", "free now")]
        self.assertAlmostEqual(sum(parts), rows["in all"], delta=0.5)
        self.assertGreater(rows["free now"], rows["in all"])
        return outcome, rows

    def test_memory_is_told_before_loading(self):
        outcome, rows = self.table()
        self.assertEqual(set(rows), {"weights", "KV cache for 512 tokens", "buffers", "choosing tokens, at most", "drafting without a model", "in all", "free now"})
        self.assertRegex(outcome.err, r"(?m)^\d+ threads on \d+ usable processors, kernels \w+$")
        self.assertGreater(self.table("--draft", SMOL, "--spec", "model")[1]["draft model: weights"], 0)
        self.assertEqual(set(rows) - set(self.table("--draft", SMOL, "--spec", "off")[1]), {"drafting without a model"})  # not used, not reserved

    def test_what_choosing_tokens_takes_is_told(self):
        row = lambda *more: self.table(*more)[1]["choosing tokens, at most"]
        self.assertAlmostEqual(row("--spec", "off"), 49152 * 28.1 / 1e6, delta=0.1)
        self.assertGreater(row("--spec", "recycle"), row("--spec", "lookup") + 0.1)  # who learns from the model's own ranking has it searched
        self.assertAlmostEqual(row("--spec", "off", "--accept", "rejection") - row("--spec", "off"), 49152 * 8 / 1e6, delta=0.1)
        draft = lambda *more: self.table("--draft", SMOL, "--spec", "model", *more)[1]["draft model: KV cache and buffers"]
        self.assertAlmostEqual(draft("--accept", "rejection") - draft(), 49152 * 64 / 1e6, delta=0.1)

    def test_also_when_it_does_not_fit(self):
        outcome = run(*HI, "-c", "60000000", "-v")
        self.assertEqual(outcome.code, 3, outcome)
        self.assertIn("KV cache for 60000000 tokens", outcome.lines[2])

    def test_not_told_without_it(self): self.assertNotIn("memory", run(*HI, "-n", "1").err)


class Drafting(ProgramTest):
    def test_a_draft_that_nothing_asks_is_not_loaded(self):
        for more in (["--spec", "off"], ["--spec", "ngram"], ["--draft-max", "0"]):
            with self.subTest(more):
                outcome = self.answered(run(*HI, "-n", "2", "--draft", SMOL, *more))
                self.assertEqual(len(outcome.lines), 2, outcome)
                for word in ("warning", "smollm2", "not loaded", "--spec"): self.assertIn(word, outcome.lines[0])

    def test_draft_no_smaller_than_the_model_warns_and_is_not_used(self):
        outcome = self.answered(run(*HI, "-n", "8", "--draft", QWEN_SMALL))
        self.assertEqual(len(outcome.lines), 2, outcome)
        for word in ("warning", "not smaller", "target steps", "not used"): self.assertIn(word, outcome.lines[0], outcome)
        self.assertRegex(outcome.lines[0], r"draft model \(\d\d\d MB\) .* the model \(97 MB\)")
        self.assertNotIn("model", self.answer(*HI, "-n", "2", "--draft", QWEN_SMALL)["draft"]["kind"])

    def test_a_draft_with_another_vocabulary_is_translated(self):
        tell = ["-m", QWEN_SMALL, "-p", "Write a Python function that reverses a string.", "-n", "48"]
        outcome = self.answered(run(*tell, "--temp", "0", "--draft", SMOL))
        self.assertEqual(len(outcome.lines), 2, outcome)
        for word in ("translated", "of 49152", "of 151665"): self.assertIn(word, outcome.lines[0])
        for sampling in (["--temp", "0"], ["--temp", "0.8", "--seed", "5", "--repeat-penalty", "1.1"]):
            plain = self.answer(*tell, *sampling, "--spec", "off")
            drafted = self.answer(*tell, *sampling, "--draft", SMOL, "--spec", "model:fixed=1,max=6")
            self.assertEqual(drafted["tokens"], plain["tokens"])
            self.assertGreater(drafted["draft"]["accepted"], 4)

    def test_it_can_be_named_alone(self):
        name = os.path.basename(SMOL).removesuffix(".gguf")
        outcome = self.answered(run("-m", name, "-p", "hi", "-n", "2", "--draft", name, "--spec", "model", "-v", environment={"OUTRIDER_MODELS": os.path.dirname(SMOL)}))
        self.assertIn("draft model: weights", outcome.err)

    def test_it_is_used_when_asked_for(self):
        outcome = self.answered(run(*HI, "-n", "8", "--draft", SMOL, "--spec", "model:exact=1"))
        self.assertIn("warning", outcome.lines[0], outcome)
        self.assertIn("model", self.answer(*HI, "-n", "2", "--draft", SMOL, "--spec", "model:exact=1")["draft"]["kind"])

    def test_no_drafting(self):
        for arguments in (["--draft-max", "0"], ["--spec", "off"], ["--spec", "ngram:max=0"], ["--draft", SMOL, "--spec", "off"], ["--draft", SMOL, "--draft-max", "0"]):
            with self.subTest(arguments):
                result = self.answer("-m", SMOL, "-p", "Repeat: a b c a b c a b c", "-n", "12", "--temp", "0", *arguments)
                self.assertEqual((result["draft"]["drafted"], result["draft"]["kind"]), (0, "off"))

    def test_every_sensible_depth(self):
        texts = {self.answer("-m", SMOL, "-p", "Repeat: a b c a b c a b c", "-n", "24", "--temp", "0", "--draft", SMOL, "--spec", "model", "--spec", "ngram", "--draft-max", k, "--draft-p-min", "0")["text"]
                 for k in (0, 1, 5, 12, 31)}
        self.assertEqual(len(texts), 1)

    def test_the_line_people_type(self):
        line = f"-m {SMOL} --draft {SMOL} -c 8192 --cache-type-k q8_0 --cache-type-v q8_0 --temp 0.6 --top-p 0.9 --repeat-penalty 1.1 --draft-max 10 --draft-min 4 --draft-p-min 0.9 -n 64"
        arguments = line.split() + ["-p", "Repeat this line exactly five times: the quick brown fox jumps over the lazy dog"]
        outcome = self.answered(run(*arguments))
        self.assertTrue(outcome.out.strip(), outcome)
        self.assertRegex(outcome.lines[-1], FIGURES)
        drafting = self.answer(*arguments, "--seed", "7", "--spec", "model", "--spec", "ngram")
        self.assertEqual(drafting["tokens"], self.answer(*arguments, "--seed", "7", "--spec", "off")["tokens"])
        self.assertIn("model", drafting["draft"]["kind"])


if __name__ == "__main__": unittest.main()
