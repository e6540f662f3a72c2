#!/usr/bin/env python3
"""outrider bench on a small random model: what the figures are made of. How large they are is nobody's business here."""
import os, statistics, subprocess, unittest
from support import ProgramTest, run

LAYERS, WIDTH, FEED_FORWARD, HEADS, KV_HEADS, HEAD_DIM = 3, 256, 512, 8, 2, 32  # of synthetic_model.cpp
PARTS = "attention_qkv attention_output gate_up down head attention quantise_norm embed_rope_store waiting".split()


def unsteady(sample):
    return any(max(sample[rate]) > 1.15 * min(sample[rate]) for rate in ("read_gb_per_s", "int8_gmac_per_s"))


class Kernels(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = str(cls.folder / "model.gguf")
        subprocess.run([os.environ["OUTRIDER_SYNTHETIC"], cls.model], check=True)

    def bench(self, *more): return self.answer("bench", "--kernels", "-m", self.model, "--rounds", "2", "-t", "2", *more)

    def test_nothing_named(self):
        self.refused(run("bench", "-m", self.model), 2, "--kernels")

    def test_refusals(self):
        self.refused(run("bench", "--kernels", "-m", self.model, "--rows", "0"), 2, "1 to 32", "0")
        self.refused(run("bench", "--kernels", "-m", self.model, "--split", "1,33"), 2, "1 to 32", "33")
        self.refused(run("bench", "--kernels", "-m", "nowhere.gguf"), 1, "nowhere.gguf")

    def test_sampling(self):
        got = self.answer("bench", "--sampling", "-m", self.model, "--rounds", "1", "-t", "2")
        self.assertEqual(set(got), {"model", "isa", "rows"})
        self.assertEqual({row["logits"] for row in got["rows"]}, {"the model", "made up, sure", "made up, flat"})
        for row in got["rows"]: self.assertTrue(0 < row["q1_ms"] <= row["ms"] <= row["q3_ms"])
        self.refused(run("bench", "--sampling", "--kernels", "-m", self.model), 2, "one at a time")

    def test_shape(self):
        got = self.bench("--rows", "1,3", "--split", "2")
        self.assertEqual(set(got), {"model", "machine", "fetch", "context", "cache_type_k", "cache_type_v", "probe", "rows", "split"})
        self.assertEqual((set(got["machine"]), got["machine"]["threads"]), ({"cpu", "isa", "threads"}, 2))
        self.assertEqual(set(got["fetch"]), {"far_bytes", "near_bytes"})
        for name in ("read_gb_per_s", "read_q1_gb_per_s", "read_q3_gb_per_s", "int8_gmac_per_s", "int8_q1_gmac_per_s", "int8_q3_gmac_per_s"): self.assertGreater(got["probe"][name], 0)
        self.assertEqual([row["n"] for row in got["rows"]], [1, 3])
        for row in got["rows"]:
            self.assertTrue({"n", "ms", "ideal_ms", "ratio", "q1_ms", "q3_ms", "gb_per_s", "gmac_per_s", "kept", "dropped"} <= set(row))
            self.assertEqual((row["kept"] + row["dropped"], len(row["samples"])), (2, 2))

    def test_ideal_is_the_larger_of_the_two_limits(self):
        for row in self.bench("--rows", "1,8,32", "--context", "100")["rows"]:
            kept = []
            for sample in row["samples"]:
                read, dots = statistics.fmean(sample["read_gb_per_s"]), statistics.fmean(sample["int8_gmac_per_s"])
                self.assertAlmostEqual(sample["ideal_ms"] / max(row["bytes"] / read / 1e6, row["multiply_accumulates"] / dots / 1e6), 1, places=6)
                self.assertEqual(sample["kept"], not unsteady(sample))
                if sample["kept"]: kept.append(sample)
            self.assertEqual(row["kept"], len(kept))
            if not kept:
                self.assertIsNone(row["ms"])
                continue
            self.assertAlmostEqual(row["ms"], statistics.median(s["ms"] for s in kept))
            self.assertAlmostEqual(row["ideal_ms"], statistics.median(s["ideal_ms"] for s in kept))
            self.assertAlmostEqual(row["ratio"], statistics.median(s["ms"] / s["ideal_ms"] for s in kept))
            self.assertAlmostEqual(row["gb_per_s"], row["bytes"] / row["ms"] / 1e6)

    def test_work_is_what_the_model_asks_for(self):
        empty = self.bench("--rows", "1,5")["rows"]
        vocabulary = empty[0]["multiply_accumulates"] - LAYERS * (WIDTH * (2 * WIDTH + 2 * KV_HEADS * HEAD_DIM + 3 * FEED_FORWARD) + HEADS * HEAD_DIM * 2)
        self.assertEqual(vocabulary % WIDTH, 0)
        self.assertTrue(256 < vocabulary / WIDTH < 1000)
        for row in empty:
            n = row["n"]
            matrices = LAYERS * WIDTH * (2 * WIDTH + 2 * KV_HEADS * HEAD_DIM + 3 * FEED_FORWARD) + vocabulary
            self.assertEqual(row["multiply_accumulates"], n * matrices + LAYERS * HEADS * HEAD_DIM * 2 * sum(range(1, n + 1)))
        self.assertEqual(empty[0]["bytes"], empty[1]["bytes"])
        for kind, bytes_a_value in (("f16", 2), ("q8_0", 34 / 32)):
            deep = self.bench("--rows", "5", "--context", "100", "-ctk", kind, "-ctv", kind)["rows"][0]
            self.assertEqual(deep["bytes"] - empty[0]["bytes"], 100 * LAYERS * KV_HEADS * HEAD_DIM * 2 * bytes_a_value)
            self.assertEqual(deep["multiply_accumulates"] - empty[1]["multiply_accumulates"], LAYERS * HEADS * HEAD_DIM * 2 * 5 * 100)

    def test_parts_add_up_to_the_pass(self):
        got = self.bench("--rows", "1", "--split", "1,8", "--context", "70")
        self.assertEqual([s["n"] for s in got["split"]], [1, 8])
        for split in got["split"]:
            self.assertEqual(list(split["parts"]), PARTS)
            self.assertTrue(all(ms >= 0 for ms in split["parts"].values()), split)
            self.assertTrue(all(split["parts"][part] > 0 for part in PARTS if part != "waiting"), split)
            self.assertAlmostEqual(sum(split["parts"].values()) / split["ms"], 1, delta=0.02)
            self.assertEqual(set(split["bytes"]), {"attention_qkv", "attention_output", "gate_up", "down", "head"})
        self.assertEqual(got["split"][1]["multiply_accumulates"]["down"], 8 * LAYERS * WIDTH * FEED_FORWARD)
        self.assertEqual(got["split"][1]["multiply_accumulates"]["attention_qkv"], 8 * LAYERS * WIDTH * (WIDTH + 2 * KV_HEADS * HEAD_DIM))

    def test_table(self):
        text = self.answered(run("bench", "--kernels", self.model, "-n", "2", "-r", "1", "--split", "1")).text
        for word in ("GMAC/s", "ratio", "dropped", "waiting", "where the"): self.assertIn(word, text)

    def test_bench_passes(self):
        got = self.answered(run("bench-passes", self.model, "-n", "1,4", "-d", "64", "-r", "2")).json
        self.assertEqual(([row["n"] for row in got["rows"]], got["depth"]), ([1, 4], 64))


if __name__ == "__main__": unittest.main()
