#!/usr/bin/env python3
"""outrider bench-answers on a small random model: what its figures are made of. How large they are is nobody's business here."""
import json, os, subprocess, unittest
from support import ProgramTest, run

PROMPTS = [dict(id="a-1", task="a", messages=[dict(role="user", content="one two three one two three")], max_tokens=40),
           dict(id="a-2", task="a", messages=[dict(role="user", content="four")], max_tokens=40),
           dict(id="b-1", task="b", messages=[dict(role="system", content="be brief"), dict(role="user", content="x y x y x y")], max_tokens=24)]


class Answers(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = str(cls.folder / "model.gguf")
        subprocess.run([os.environ["OUTRIDER_SYNTHETIC"], cls.model], check=True)
        cls.prompts = str(cls.folder / "prompts.jsonl")
        with open(cls.prompts, "w") as f: f.write("\n".join(map(json.dumps, PROMPTS)))

    def bench(self, *more): return run("bench-answers", "-m", self.model, "--prompts", self.prompts, "-t", "1", "--temp", "0", "--ignore-eos", *more)
    def pairs(self, *more): return [json.loads(line) for line in self.answered(self.bench("--json", *more)).text.splitlines()]

    def test_pairs(self):
        got = self.pairs("--rounds", "2", "--spec", "lookup", "--spec", "recycle")
        self.assertEqual([(p["prompt"], p["task"], p["round"]) for p in got], [(q["id"], q["task"], r) for r in (0, 1) for q in PROMPTS])
        for p in got:
            plain, drafted = p["plain"], p["drafted"]
            self.assertTrue(p["same"])
            self.assertEqual(p["tokens"], 24 if p["prompt"] == "b-1" else 40)
            self.assertAlmostEqual(p["ratio"], drafted["decode_tok_per_s"] / plain["decode_tok_per_s"])
            for times in (plain, drafted): self.assertTrue(0 < times["decode_ms"] < times["total_ms"])
            self.assertTrue(0 <= drafted["accepted"] <= drafted["drafted"])
            self.assertLessEqual(drafted["rounds"], p["tokens"])
            self.assertGreater(p["resident_bytes"], 1 << 20)
        self.assertEqual([p["at_ms"] for p in got], sorted(p["at_ms"] for p in got))

    def test_texts_are_forgotten_between_rounds(self):
        """A drafter that knew the answers of the first round would need far fewer rounds in the second."""
        forced = ("--spec", "recycle:fixed=1,max=4", "--tasks", "a", "--per-task", "1", "--rounds", "2")
        first, second = self.pairs(*forced)
        self.assertEqual(first["drafted"]["accepted"], second["drafted"]["accepted"])

    def test_choice_of_prompts(self):
        self.assertEqual([p["prompt"] for p in self.pairs("--rounds", "1", "--tasks", "a,b", "--per-task", "1", "-n", "8")], ["a-1", "b-1"])
        self.assertEqual({p["tokens"] for p in self.pairs("--rounds", "1", "--tasks", "b", "-n", "8")}, {8})

    def test_refusals(self):
        self.refused(self.bench("--tasks", "nowhere"), 2, "nowhere", "--tasks")
        self.refused(self.bench("--spec", "off"), 2, "--spec off")
        self.refused(self.bench("--spec", "nonsense"), 2, "nonsense")
        self.refused(run("bench-answers", "-m", self.model, "--prompts", self.file("broken.jsonl", "{")), 2, "line 1")
        self.refused(run("bench-answers", "-m", "nowhere.gguf"), 1, "nowhere.gguf")

    def test_table(self):
        outcome = self.answered(self.bench("--rounds", "2"))
        for word in ("ratio", "ledger", "memory", "a-1", "b-1", "round 2", "all"): self.assertIn(word, outcome.text)
        self.assertNotIn("nan", outcome.text + self.answered(self.bench("-n", "4", "--rounds", "1")).text)
        self.assertIn("6 pairs, 0 different texts", outcome.err)

    def test_minutes(self):
        self.assertEqual({p["round"] for p in self.pairs("--minutes", "0.0000001", "--rounds", "7", "-n", "4")}, {0})


if __name__ == "__main__": unittest.main()
