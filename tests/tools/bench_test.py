#!/usr/bin/env python3
"""bench/: the statistics on numbers worked out by hand, and the programs against fake engines."""
import json, math, os, pathlib, subprocess, sys, tempfile, unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import llama_server, measure, peer_spec

FAKE_OUTRIDER = '''#!/usr/bin/env python3
import json, os, sys
a = sys.argv[1:]
if a[0] == "version": sys.exit(print("fake 0"))
if a[0] == "bench":
    rows = [dict(n=1, ms=None, q1_ms=None, q3_ms=None, ideal_ms=None, ratio=None, gb_per_s=None, gmac_per_s=None, kept=0, dropped=1),
            dict(n=8, ms=50.0, q1_ms=49.0, q3_ms=51.0, ideal_ms=40.0, ratio=1.25, gb_per_s=20.0, gmac_per_s=240.0, kept=1, dropped=0)]
    rate = lambda name, unit: {f"{name}_{q}{unit}": 30.0 for q in ("", "q1_", "q3_")}
    sys.exit(print(json.dumps(dict(context=int(a[a.index("--context") + 1]), probe=rate("read", "gb_per_s") | rate("int8", "gmac_per_s"), rows=rows, split=[dict(n=8, ms=50.0, parts=dict(head=10.0, down=40.0))]))))
held = 2 if os.environ.get("OUTRIDER_ISA") == "avx2" else 1
if a[0] == "bench-passes": sys.exit(print(json.dumps(dict(rows=[dict(n=n, ms=held * (50.0 + n)) for n in (1, 8)], depth=0, prefill512_ms=5120.0))))
if a[0] == "template": sys.exit(print("user:" + a[a.index("-p") + 1], end=""))
if a[0] == "tokenize": sys.exit(print(json.dumps(dict(ids=list(a[a.index("-p") + 1].encode())))))
plain = "--spec" in a and a[a.index("--spec") + 1] == "off"
text = "the text" if plain or not os.environ.get("FAKE_WRONG") else "another text"
fixed = a[a.index("--spec") + 1] if "--spec" in a else ""
speed = 10.0 if plain or fixed.startswith("slow") else 12.0 if fixed.startswith("model") else 15.0
print(json.dumps(dict(text=text, finish_reason="stop", prompt_tokens=int(os.environ.get("FAKE_PROMPT", 6)), completion_tokens=40, timings=dict(decode_tok_per_s=speed, total_ms=400 / speed * 100, load_ms=0.0),
                      draft=dict(rounds=20, drafted=30, accepted=20, emitted_per_round=2.0),
                      steps=[] if plain else [dict(drafted=0, emitted=1, cut=0, expected_tokens=1.0, expected_ms=9.0, draft_ms=0.0, verify_ms=99.0, sample_ms=0.0),
                                              dict(drafted=4, emitted=3, cut=1, expected_tokens=3.0, expected_ms=9.0, draft_ms=2.0, verify_ms=7.0, sample_ms=1.0)])))
'''
FAKE_PEER_PROBE = '''#!/usr/bin/env python3
import json, os, sys
a = sys.argv[1:]
assert a[0] == "passes"
held = 2 if os.environ.get("OUTRIDER_PEER_ISA") == "avx2" else 1
depth = int(a[a.index("-d") + 1])
print(json.dumps(dict(rows=[dict(n=n, ms=held * (100.0 + 2 * n + depth)) for n in (1, 8)], depth=depth)))
'''
FAKE_LLAMA_BENCH = '''#!/usr/bin/env python3
import json
print(json.dumps([dict(n_prompt=512, n_gen=0, avg_ts=50.0), dict(n_prompt=0, n_gen=64, avg_ts=8.0)]))
'''
FAKE_LLAMA_SERVER = '''#!/usr/bin/env python3
import http.server, json, pathlib, sys, time
a = sys.argv[1:]
if "--version" in a: sys.exit(print("version: fake 7", file=sys.stderr))
if "--help" in a: sys.exit(print("--spec-type none,draft-simple,draft-mtp,ngram-simple,ngram-mod"))
kind = a[a.index("--spec-type") + 1] if "--spec-type" in a else "plain"
with open(pathlib.Path(sys.argv[0]).with_name("log"), "a") as f: f.write(kind + "\\n")
if kind == "ngram-simple": sys.exit(print("no memory left"))
together = 3 if kind == "draft-simple" else 1  # tokens a step
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self): self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def event(self, **values): self.wfile.write(b"data: " + json.dumps(values).encode() + b"\\n\\n")
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert asked["stream"] and not asked["cache_prompt"]
        self.send_response(200); self.end_headers()
        for n in range(1, asked["n_predict"] + 1):
            if n % together == 1 % together: time.sleep(0.03)
            self.event(content="x", tokens_predicted=n, stop=False)
        self.event(content="", stop=True, tokens_predicted=n, tokens_evaluated=len(asked["prompt"]), timings=dict(draft_n=8, draft_n_accepted=6) if together > 1 else {})
http.server.HTTPServer(("127.0.0.1", int(a[a.index("--port") + 1])), Handler).serve_forever()
'''


class Statistics(unittest.TestCase):
    def test_equal_ratios_have_a_point_interval(self):
        for got in measure.bootstrap([[2.0, 2.0], [2.0]]): self.assertAlmostEqual(got, 2.0)

    def test_groups_weigh_the_same(self):
        self.assertAlmostEqual(measure.bootstrap([[4.0, 4.0, 4.0], [1.0]])[0], 2.0)

    def test_fixed_levels_are_not_resampled(self):
        _, low, high = measure.bootstrap([[[4.0, 4.0]], [[1.0, 1.0]]], fixed_levels=1)
        self.assertAlmostEqual(low, 2.0)
        self.assertAlmostEqual(high, 2.0)

    def test_one_value_has_no_interval(self):
        self.assertTrue(math.isnan(measure.bootstrap([[1.5]])[1]))
        self.assertTrue(math.isnan(measure.bootstrap([[[1.5]], [[1.2]]], fixed_levels=1)[1]))

    def test_verdicts_need_the_whole_interval(self):
        self.assertEqual(measure.verdict(1.04, 1.2), "faster")
        self.assertEqual(measure.verdict(1.01, 1.2), "no difference shown")
        self.assertEqual(measure.verdict(0.8, 0.95), "slower")
        self.assertEqual(measure.verdict(math.nan, math.nan), "no difference shown")


class Programs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.place = pathlib.Path(temporary.name)
        for name, text in (("outrider", FAKE_OUTRIDER), ("llama-bench", FAKE_LLAMA_BENCH), ("peer_probe", FAKE_PEER_PROBE), ("llama-server", FAKE_LLAMA_SERVER)):
            (self.place / name).write_text(text)
            (self.place / name).chmod(0o755)
        (self.place / "model.gguf").write_bytes(b"GGUF")
        (self.place / "prompts.jsonl").write_text("".join(json.dumps(dict(id=f"copy-{n}", task="copy", messages=[dict(role="user", content="x")], max_tokens=9)) + "\n" for n in (1, 2)))

    def run_tool(self, name, *arguments, **environment):
        return subprocess.run([sys.executable, ROOT / "bench" / name, "--outrider", self.place / "outrider", "-m", self.place / "model.gguf", "-o", self.place / "rows.jsonl",
                               "-t", "1", *arguments], capture_output=True, text=True, env=dict(os.environ, **environment))

    def rows(self, kind):
        return [r for r in map(json.loads, (self.place / "rows.jsonl").read_text().splitlines()) if r["kind"] == kind]

    def speculation(self, **environment):
        return self.run_tool("speculation", "--spec", "ngram", "--prompts", self.place / "prompts.jsonl", "--sampling", "greedy", "--repeats", "1", **environment)

    def test_speculation_reports_the_ratio(self):
        done = self.speculation()
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("1.500 [1.500, 1.500]", done.stdout)
        self.assertIn("faster", done.stdout)
        self.assertEqual([r["arm"] for r in self.rows("run")], ["plain", "drafted", "drafted", "plain"])
        self.assertAlmostEqual(self.rows("summary")[0]["decode"]["ratio"], 1.5)

    def test_speculation_fails_on_another_text(self):
        done = self.speculation(FAKE_WRONG="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("DIFFERENT TEXT: copy-1", done.stdout)

    def test_peer_interleaves_and_compares(self):
        done = self.run_tool("peer", "--llama-bench", str(self.place / "llama-bench"), "--rounds", "1", "--warm-up", "0", "-n", "1,8")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual([r["who"] for r in self.rows("visit")], ["ours", "peer", "peer", "ours"])
        ratios = {r["metric"]: r["ratio"] for r in self.rows("summary")}
        self.assertAlmostEqual(ratios["decode"], 1.25)
        self.assertAlmostEqual(ratios["prefill"], 2.0)
        self.assertIn("n = 8: 1.14", done.stdout)

    def test_peer_compares_passes_at_every_depth(self):
        done = self.run_tool("peer", "--llama-bench", "", "--peer-probe", str(self.place / "peer_probe"), "--rounds", "2", "--warm-up", "0", "-n", "1,8", "-d", "0,102")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        ratios = {r["metric"]: (r["ratio"], r["low"], r["high"]) for r in self.rows("summary")}
        self.assertEqual(list(ratios), ["pass 1 @0", "pass 8 @0", "pass 1 @102", "pass 8 @102"])
        for metric, expected in (("pass 1 @0", 2), ("pass 1 @102", 4), ("pass 8 @0", 2)):
            for got in ratios[metric]: self.assertAlmostEqual(got, expected)
        self.assertIn("after 102 tokens", done.stdout)

    def test_peer_holds_both_to_an_instruction_set(self):
        done = self.run_tool("peer", "--isa", "avx2", "--peer-probe", str(self.place / "peer_probe"), "--rounds", "1", "--warm-up", "0", "-n", "1,8", "-d", "0")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual([(r["metric"], r["ours"], r["peer"]) for r in self.rows("summary")], [("pass 1 @0", 102.0, 204.0), ("pass 8 @0", 116.0, 232.0)])
        self.assertEqual(self.rows("card")[0]["isa"], "avx2")

    def test_roofline_visits_every_combination(self):
        done = subprocess.run([sys.executable, ROOT / "bench" / "roofline", self.place / "model.gguf", "--only", "--outrider", self.place / "outrider", "-o", self.place / "rows.jsonl",
                               "--contexts", "0,64"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual([(r["context"], r["kv"]) for r in self.rows("roofline")], [(0, "f16"), (0, "q8_0"), (64, "f16"), (64, "q8_0")])
        self.assertIn("head 20.0%, down 80.0%", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +8 +50\.00 +\[49\.00, 51\.00\] +40\.00 +1\.25 ")

    def test_speculation_tells_what_was_foreseen_of_drafted_rounds(self):
        self.assertIn("0.750, 0.900", self.speculation().stdout)

    def test_peer_names_a_missing_program(self):
        done = self.run_tool("peer", "--llama-bench", "/no/such/llama-bench")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/no/such/llama-bench", done.stderr)

    def peer_spec(self, settings, *arguments, **environment):
        return self.run_tool("peer", "--spec", "--llama-server", str(self.place / "llama-server"), "--draft", self.place / "model.gguf", "--prompts", self.place / "prompts.jsonl",
                             "--settings", settings, "--shortest", "1", "--own", "", *arguments, **environment)

    def starts(self): return (self.place / "log").read_text().split()

    def test_peer_spec_compares_by_task_and_interleaves(self):
        done = self.peer_spec("draft-6-0.75", "--per-task", "1")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        there = ["ours spec", "ours plain", "plain", "draft-6-0.75"]
        self.assertEqual([r["arm"] for r in self.rows("answer")], there + there[::-1])
        self.assertEqual(self.starts(), ["plain", "draft-simple"])
        self.assertEqual(self.rows("best")[0]["per_task"], {"copy": "draft-6-0.75"})
        ratios = {r["what"]: r for r in self.rows("summary")}
        self.assertAlmostEqual(ratios["ours: drafted / plain"]["ratio"], 1.5)
        theirs = ratios["llama.cpp (one setting for all, draft-6-0.75) / its plain"]
        self.assertGreater(theirs["low"], 1.5)
        self.assertAlmostEqual(ratios["ours drafted / llama.cpp (one setting for all, draft-6-0.75)"]["ratio"], 1.5 * ratios["plain: ours / llama.cpp"]["ratio"] / theirs["ratio"])
        self.assertEqual((self.rows("card")[0]["peer"], self.rows("answer")[3]["prompt_tokens"]), ("fake 7", 6))
        self.assertIn("75%", done.stdout)

    def test_peer_spec_knows_our_best_fixed_setting(self):
        done = self.peer_spec("plain", "--rounds", "1", "--per-task", "1", "--own", "slow:max=1 model:max=3")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual([r["arm"] for r in self.rows("answer")], ["ours spec", "ours plain", "ours slow:max=1", "ours model:max=3", "plain"])
        self.assertEqual(self.rows("best")[0]["own"], {"copy": "ours model:max=3"})
        self.assertAlmostEqual({r["what"]: r for r in self.rows("summary")}["ours drafted / our best fixed, ours model:max=3"]["ratio"], 1.5 / 1.2)

    def test_peer_spec_starts_servers_anew_that_remember_or_do_not_fit(self):
        done = self.peer_spec("ngram-mod,draft-3-0", "--per-task", "1", "--servers", "1")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(self.starts(), ["plain", "ngram-mod", "draft-simple", "ngram-mod", "plain"])

    def test_peer_spec_goes_on_after_a_failed_setting_and_says_so(self):
        done = self.peer_spec("ngram-simple", "--rounds", "1", "--per-task", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ngram-simple: llama-server ended with code 0: no memory left", done.stdout)
        self.assertEqual(self.rows("best")[0]["single"], "plain")

    def test_peer_spec_notices_other_prompts_and_other_texts(self):
        self.assertIn("ours plain read 7 prompt tokens, not 6", self.peer_spec("plain", "--rounds", "1", "--per-task", "1", FAKE_PROMPT="7").stdout)
        done = self.peer_spec("plain", "--rounds", "1", "--per-task", "1", FAKE_WRONG="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("DIFFERENT TEXT: copy-1", done.stdout)

    def test_peer_spec_knows_its_settings(self):
        done = self.peer_spec("plain,ngram-magic")
        self.assertIn("«ngram-magic»", done.stderr)
        self.assertIn("ngram-simple, ngram-mod", done.stderr)


class PeerSpec(unittest.TestCase):
    def test_tokens_that_left_with_the_first_are_not_counted(self):
        self.assertAlmostEqual(llama_server.decode_rate([(1.0, 1), (1.0005, 2), (1.5, 3), (1.5001, 4), (2.0, 5)], 99), 3.0)

    def test_tokens_over_the_limit_are_not_counted(self):
        self.assertAlmostEqual(llama_server.decode_rate([(1.0, 1), (2.0, 9)], 5), 4.0)

    def test_one_burst_has_no_rate(self):
        self.assertIsNone(llama_server.decode_rate([(1.0, 1), (1.0001, 2)], 99))
        self.assertIsNone(llama_server.decode_rate([], 99))

    def test_settings_become_flags(self):
        self.assertEqual(llama_server.setting_flags("plain", "d"), [])
        self.assertEqual(llama_server.setting_flags("draft-3-0.75+ngram-mod", "d"), ["--spec-type", "draft-simple,ngram-mod", "-md", "d", "--spec-draft-n-max", "3", "--spec-draft-p-min", "0.75"])

    def test_default_settings_are_plain_the_lengths_and_what_the_server_offers(self):
        self.assertEqual(peer_spec.chosen_settings("default,ngram-a", ["ngram-a"]), ["plain", "draft-3-0", "draft-6-0", "draft-10-0", "draft-3-0.75", "draft-6-0.75", "draft-10-0.75", "ngram-a"])

    def test_the_best_setting_may_differ_by_task(self):
        def visit(task, **rates): return dict(task=task, prompt=task, answers={a: dict(rate=r) for a, r in rates.items()})
        visits = [visit("a", plain=10.0, x=20.0, y=15.0), visit("b", plain=10.0, x=4.0, y=9.0), visit("b", plain=10.0, x=None, y=9.0)]
        self.assertEqual(peer_spec.best_setting(visits, ["plain", "x", "y", "never"]), "y")
        self.assertEqual(peer_spec.best_setting(visits[:1], ["plain", "x", "y"]), "x")
        self.assertEqual(peer_spec.best_setting(visits[1:], ["plain", "x", "y"]), "plain")
        self.assertEqual(peer_spec.ratios(visits, {"a": "x", "b": "y"}, peer_spec.everywhere(visits, "plain")), [[[2.0]], [[0.9, 0.9]]])

    def test_memory_decides_how_many_servers_stay(self):
        with tempfile.NamedTemporaryFile() as model, mock.patch.object(measure, "first", return_value=str(7 * 10**9 // 1024)):
            model.truncate(10**9)
            self.assertEqual(llama_server.room_in_memory([model.name]), 2)


if __name__ == "__main__": unittest.main()
