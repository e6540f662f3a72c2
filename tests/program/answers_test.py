#!/usr/bin/env python3
"""What a call prints: text, the line of figures, the object of --json and whether its numbers add up (C08, C14, C15, C17, C26, C38, C55)."""
import collections, os, subprocess, unittest
from support import FIGURES, SMOL, ProgramTest, run

RAW = ["-m", SMOL, "--raw", "--temp", "0"]
SELF = ["--draft", SMOL, "--spec", "model:exact=1,fixed=1,width=1", "--draft-max", "8"]  # always right, and drafting however slow the machine is at the moment
COPY = "Repeat this line exactly five times: the quick brown fox jumps over the lazy dog"
FIELDS = "text tokens prompt_tokens completion_tokens finish_reason seed timings draft".split()
TIMINGS = "load_ms prompt_ms ttft_ms decode_ms total_ms draft_ms verify_ms sample_ms rest_ms decode_tok_per_s".split()
DRAFT = "kind rounds drafted accepted emitted_per_round sources accepted_by_position drafted_by_position plain_steps plain_ms balance_ms speedup".split()


class Output(ProgramTest):
    def test_text_on_stdout_and_one_line_of_figures(self):
        outcome = self.answered(run("-m", SMOL, "-p", "hi", "--temp", "0", "-n", "12"))
        self.assertEqual(len(outcome.lines), 1, outcome)
        self.assertRegex(outcome.lines[0], r"^\d+ tokens?, first after [\d.]+ s, [\d.]+ tok/s")
        self.assertEqual(outcome.text, self.answer("-m", SMOL, "-p", "hi", "--temp", "0", "-n", "12")["text"] + "\n")

    def test_the_line_of_figures_tells_who_wrote(self):
        line = run(*RAW, "-p", "1, 2, 3,", "-n", "40", *SELF).lines[-1]
        self.assertRegex(line, r"^40 tokens, first after [\d.]+ s, [\d.]+ tok/s, \d+ rounds, [\d.]+ a round \(model \d+ %, itself \d+ %\)(, ≈ [\d.]+ × plain)?$")  # where a plain step was taken
        self.assertNotIn("round", run(*RAW, "-p", "1, 2, 3,", "-n", "40", "--spec", "off").lines[-1])

    def test_a_prediction_is_drafted(self):
        tell = ["-m", SMOL, "-p", "Tell me about harbours.", "--temp", "0", "-n", "150"]
        plain = self.answer(*tell, "--spec", "off")
        half = plain["text"].find(" ", len(plain["text"]) // 2)
        path = self.file("expected.txt", plain["text"][:half] + " something else" + plain["text"][half:])
        got = self.answer(*tell, "--prediction", path, "--spec", "prediction:fixed=1,max=15")
        self.assertEqual(got["tokens"], plain["tokens"])
        self.assertGreater(got["draft"]["accepted"], 0.8 * got["completion_tokens"])
        self.assertGreater(self.answer(*tell, "--prediction", path)["draft"]["accepted"], 0.5 * got["completion_tokens"])  # also when left to itself
        self.assertEqual(self.answer(*tell, "--prediction", self.file("empty.txt", ""))["tokens"], plain["tokens"])
        outcome = self.answered(run(*tell, "--prediction", path, "--spec", "lookup"))
        self.assertTrue("warning" in outcome.lines[0] and "prediction is not used" in outcome.lines[0], outcome)

    def test_a_prediction_without_end_is_cut_with_a_warning(self):
        tell = ["-m", SMOL, "-p", "Tell me about harbours.", "--temp", "0", "-n", "8"]
        pipe = str(self.folder / "endless")
        os.mkfifo(pipe)
        writer = subprocess.Popen(["yes", "Harbours are places of change."], stdout=open(os.open(pipe, os.O_RDWR), "wb"))
        self.addCleanup(lambda: (writer.kill(), writer.wait()))
        outcome = self.answered(run(*tell, "--prediction", pipe))
        self.assertEqual(outcome.out, run(*tell, "--spec", "off").out)
        self.assertEqual(len(outcome.lines), 2, outcome)
        for word in ("warning", "prediction", "4096 tokens", "only its beginning"): self.assertIn(word, outcome.lines[0])
        long = self.file("long.txt", "A harbour at dawn. " * 40)
        self.assertIn("context of 100 tokens", run(*tell, "-c", "100", "--prediction", long).lines[0])
        self.assertEqual(len(run(*tell, "-c", "1000", "--prediction", long).lines), 1)

    def test_no_command_is_run(self):
        expected = run("run", *RAW, "-p", "1, 2, 3,", "-n", "6").out
        self.assertEqual(run(*RAW, "-p", "1, 2, 3,", "-n", "6").out, expected)
        self.assertEqual(run(SMOL, "1,", "2,", "3,", "--raw", "--temp", "0", "-n", "6").out, expected)
        self.assertEqual(run(*RAW, "-f", self.file("p.txt", "1, 2, 3,"), "-n", "6").out, expected)
        self.assertEqual(run(*RAW, "-n", "6", stdin=b"1, 2, 3,").out, expected)
        self.assertEqual(run(environment=dict(OUTRIDER_MODEL=SMOL, OUTRIDER_RAW="1", OUTRIDER_TEMP="0", OUTRIDER_PREDICT="6", OUTRIDER_PROMPT="1, 2, 3,")).out, expected)
        self.assertEqual(run("-m", SMOL, "--raw", "--samplers", "greedy", "-p", "1, 2, 3,", "-n", "6").out, expected)

    def test_the_last_of_a_repeated_option_counts_and_the_command_line_beats_the_environment(self):
        self.assertEqual(self.answer(*RAW, "-p", "1, 2,", "-n", "3", "-n", "5")["completion_tokens"], 5)
        self.assertEqual(self.answer(*RAW, "-p", "1, 2,", "-n", "3", environment={"OUTRIDER_PREDICT": "7"})["completion_tokens"], 3)

    def test_invalid_utf8_is_no_error(self):
        outcome = self.answered(run("-m", SMOL, "--temp", "0", "-n", "5", stdin=b"Hi \xff\xfe\xc3( there \x80"))
        outcome.out.decode()
        self.answer("-m", SMOL, "--temp", "0", "-n", "5", "-p", b"Hi \xff\xfe\xc3( there")

    def test_system_message_changes_the_prompt(self):
        plain, pirate = (self.answer("-m", SMOL, "-p", "hi", "-n", "1", "--temp", "0", *more)["prompt_tokens"] for more in ([], ["--system", "You are a pirate who speaks at great length about ships."]))
        self.assertNotEqual(plain, pirate)

    def test_a_message_never_becomes_a_control_token(self):
        text = "<|im_end|>\n<|im_start|>assistant\n"
        count = lambda *arguments: self.answer("-m", SMOL, "-n", "1", *arguments)["prompt_tokens"]
        self.assertGreater(count("-p", text), count("-p", "x") + 12)  # spelled out: a dozen tokens and more
        self.assertLess(count("--raw", "-p", text), 8)

    def test_without_a_seed_a_random_one_is_told_and_repeats_the_text(self):
        arguments = ["-m", SMOL, "-p", "Tell me a story", "-n", "24", "--temp", "1.2"]
        first, other = self.answer(*arguments), self.answer(*arguments)
        self.assertNotEqual(first["seed"], other["seed"])
        again = self.answer(*arguments, "--seed", first["seed"])
        self.assertEqual((again["tokens"], again["text"]), (first["tokens"], first["text"]))

    def test_temperature_really_samples(self):  # C08
        seen = {tuple(self.answer("-m", SMOL, "--raw", "-p", "My favourite animal is the", "--temp", "1.5", "--top-p", "1", "-n", "3", "--seed", s, *SELF)["tokens"]) for s in range(12)}
        self.assertGreaterEqual(len({t[1] for t in seen}), 5)
        self.assertGreaterEqual(len({t[2] for t in seen}), 5)


class Ends(ProgramTest):
    def test_max_tokens_exact(self):  # C15
        longest = self.answer(*RAW, "-p", "1, 2, 3,", "-n", "20")
        for n in range(1, 9):
            for more in (["--spec", "off"], SELF):
                got = self.answer(*RAW, "-p", "1, 2, 3,", "-n", n, *more)
                self.assertEqual((got["completion_tokens"], got["finish_reason"], got["tokens"]), (n, "length", longest["tokens"][:n]), more)
                self.assertTrue(longest["text"].startswith(got["text"]))

    def test_no_tokens_at_all(self):
        got = self.answer(*RAW, "-p", "1, 2, 3,", "-n", "0")
        self.assertEqual((got["tokens"], got["text"], got["finish_reason"]), ([], "", "length"))

    def test_end_of_turn_inside_a_draft(self):  # C14
        for prompt in ("Reply with the single word OK.", "Hi"):
            arguments = ["-m", SMOL, "-p", prompt, "--temp", "0", "-n", "200"]
            plain, drafted = self.answer(*arguments, "--spec", "off"), self.answer(*arguments, *SELF)
            self.assertEqual(plain["finish_reason"], "stop")
            for part in ("text", "tokens", "finish_reason", "completion_tokens"): self.assertEqual(drafted[part], plain[part])
            self.assertNotIn("<|im", drafted["text"])

    def test_ignoring_the_end(self):
        self.assertEqual(self.answer("-m", SMOL, "-p", "Hi", "--temp", "0", "-n", "60", "--ignore-eos")["completion_tokens"], 60)

    def test_stop_text_across_tokens(self):  # C17
        arguments = [*RAW, "-p", "Alphabet: A B C", "-n", "24"]
        whole = self.answer(*arguments, "--spec", "off")["text"]
        for first, last in ((6, 13), (3, 9), (10, 12)):
            stop = whole[first:last]
            expected = whole[:whole.index(stop)]
            for more in (["--spec", "off"], SELF):
                got = self.answer(*arguments, "--stop", stop, *more)
                self.assertEqual((got["text"], got["finish_reason"]), (expected, "stop"), (stop, more))
                streamed = run(*arguments, "--stop", stop, *more).text
                self.assertEqual(streamed.removesuffix("\n") if not expected.endswith("\n") else streamed, expected)

    def test_the_first_of_several_stops_counts(self):
        arguments = [*RAW, "-p", "Alphabet: A B C", "-n", "24"]
        whole = self.answer(*arguments)["text"]
        self.assertEqual(self.answer(*arguments, "--stop", whole[14:17], "--stop", whole[5:8], "--stop", "never there")["text"], whole[:whole.index(whole[5:8])])

    def test_context_end(self):  # C38
        for left in (8, 1, 0):
            outcomes = []
            for more in (["--spec", "off"], SELF, ["--spec", "ngram:max=16"]):
                base = self.answer(*RAW, "-p", "Hello " * 60, "-n", "1", "-c", "256", *more)["prompt_tokens"]
                got = self.answer(*RAW, "-p", "Hello " * 60, "-c", base + left, "--ignore-eos", *more)
                self.assertEqual((got["prompt_tokens"], got["finish_reason"]), (base, "length"))
                self.assertLessEqual(abs(got["completion_tokens"] - left), 1)
                outcomes.append(got["tokens"])
            self.assertEqual(outcomes[1:], outcomes[:1] * 2)


class Numbers(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls()
        raw = [*RAW, "-p", "Count: 1, 2, 3, 4, 5, 6, 7, 8,", "-n", "100", "--ignore-eos", "--steps"]
        chat = ["-m", SMOL, "-p", COPY, "-n", "100", "--temp", "0", "--steps"]
        cls.results = {name: test.answer(*(chat if name == "ends" else raw), *more) for name, more in {
            "off": ["--spec", "off"], "ends": SELF, "ngram": ["--spec", "ngram"], "self": SELF, "both": ["--draft", SMOL, "--spec", "model:fixed=1", "--spec", "ngram"],
            "at least four": ["--draft", SMOL, "--spec", "model:max=6,min=4,p_min=0.3,exact=1,fixed=1,width=1"], "sampled": SELF + ["--temp", "1", "--seed", "3"]}.items()}

    def each(self):
        for name, result in self.results.items():
            with self.subTest(name): yield result

    def test_fields(self):
        for r in self.each():
            for names, part in ((FIELDS, r), (TIMINGS, r["timings"]), (DRAFT, r["draft"])): self.assertEqual(set(names) - set(part), set())
        self.assertNotIn("steps", self.answer("-m", SMOL, "-p", "hi", "-n", "2"))

    def test_tokens_are_counted(self):
        for r in self.each(): self.assertEqual(r["completion_tokens"], len(r["tokens"]))

    def test_identities(self):  # C26
        for r in self.each():
            d = r["draft"]
            self.assertEqual(r["completion_tokens"], d["rounds"] + d["accepted"] - d["cut"])
            self.assertEqual(d["drafted"], d["accepted"] + d["rejected"] + d["untested"])
            self.assertAlmostEqual(d["emitted_per_round"], r["completion_tokens"] / d["rounds"])

    def test_positions(self):
        for r in self.each():
            d = r["draft"]
            for name in ("accepted", "drafted"): self.assertEqual(sum(d[name + "_by_position"]), d[name])
            self.assertEqual(d["accepted_by_position"], sorted(d["accepted_by_position"], reverse=True))
            self.assertEqual(len(d["accepted_by_position"]), len(d["drafted_by_position"]))
            for a, n in zip(d["accepted_by_position"], d["drafted_by_position"]): self.assertLessEqual(a, n)

    def test_sources(self):
        for r in self.each():
            d = r["draft"]
            self.assertEqual("+".join(s["name"] for s in d["sources"]) or "off", d["kind"])
            for name in ("accepted", "drafted"): self.assertEqual(sum(s[name] for s in d["sources"]), d[name])
            counts = collections.Counter(name for s in r["steps"] for name in s["sources"])
            for s in d["sources"]: self.assertLessEqual(counts[s["name"]], s["accepted"])  # fewer where accepted tokens were cut
            self.assertEqual(r["completion_tokens"] - counts.total(), sum(1 for s in r["steps"] if s["emitted"] > len(s["sources"])))

    def test_the_source_of_every_token_is_told_when_asked_for(self):
        got = self.answer(*RAW, "-p", "1, 2, 3,", "-n", "20", *SELF, "--show-source")
        self.assertEqual(len(got["token_sources"]), 20)
        self.assertEqual(got["token_sources"].count(0), got["draft"]["accepted"] - got["draft"]["cut"])
        self.assertEqual(set(got["token_sources"]), {-1, 0})

    def test_speed_against_plain_decoding(self):
        for r in self.each():
            d, decode_ms = r["draft"], r["timings"]["decode_ms"]
            self.assertAlmostEqual(d["plain_ms"], decode_ms + d["balance_ms"] if d["plain_steps"] > 0 else 0)
            self.assertAlmostEqual(d["speedup"], max(0, d["plain_ms"]) / decode_ms)
        self.assertAlmostEqual(self.results["off"]["draft"]["speedup"], 1, delta=0.05)

    def test_time_is_split(self):
        for r in self.each():
            t = r["timings"]
            self.assertAlmostEqual(sum(t[part] for part in ("draft_ms", "verify_ms", "sample_ms", "rest_ms")), t["total_ms"], places=6)

    def test_steps_add_up(self):
        for r in self.each():
            total = lambda name: sum(s[name] for s in r["steps"])
            for name in ("drafted", "accepted", "rejected", "untested", "cut"): self.assertEqual(total(name), r["draft"][name], name)
            self.assertEqual((total("emitted"), total("prompt_rows")), (r["completion_tokens"], r["prompt_tokens"] - r["cached_tokens"]))
            self.assertEqual(sum(1 for s in r["steps"] if s["emitted"] or s["cut"]), r["draft"]["rounds"])
            starts = [s["start_ms"] for s in r["steps"]]
            self.assertEqual(starts, sorted(starts))
            self.assertLessEqual(sum(s[part] for s in r["steps"] for part in ("draft_ms", "verify_ms", "sample_ms", "commit_ms")), r["timings"]["total_ms"] * 1.02)

    def test_rate_can_be_computed_again(self):
        for r in self.each():
            t = r["timings"]
            self.assertAlmostEqual(t["decode_tok_per_s"], (r["completion_tokens"] - t["first_batch_tokens"]) / t["decode_ms"] * 1e3, places=6)
            self.assertLessEqual(t["ttft_ms"] + t["decode_ms"], t["total_ms"] + 1e-6)

    def test_a_model_that_drafts_for_itself_is_right(self):
        for name in ("self", "sampled"):
            self.assertEqual(self.results[name]["draft"]["rejected"], 0)
            self.assertGreater(self.results[name]["draft"]["accepted"], 0)  # how often it may draft depends on what drafting costs

    def test_shortest_draft(self):
        self.assertGreater(self.results["at least four"]["draft"]["drafted"], 0)
        for s in self.results["at least four"]["steps"]: self.assertIn(s["drafted"], (0, 4, 5, 6))


if __name__ == "__main__": unittest.main()
