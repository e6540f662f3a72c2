#!/usr/bin/env python3
"""Speculation changes no byte: the same call with every kind of drafter, good ones and broken ones (C05, C07, C10, C12, C56)."""
import os, shutil, unittest
from gguf_file import Gguf
from support import GEMMA, QWEN_SMALL, SMOL, ProgramTest, run, start

TELL = ["-m", SMOL, "-p", "Write a Python function that reverses a string, then explain it.", "-n", "64"]
SETTINGS = {
    "greedy": ["--temp", "0"],
    "sampled": ["--temp", "0.8", "--seed", "11"],
    "hot": ["--temp", "1.3", "--top-p", "1", "--seed", "5"],
    "narrow": ["--temp", "0.9", "--top-k", "20", "--top-p", "0.8", "--min-p", "0.05", "--seed", "2"],
    "penalties": ["--temp", "0.8", "--seed", "3", "--repeat-penalty", "1.2", "--presence-penalty", "0.5", "--frequency-penalty", "0.4", "--repeat-last-n", "24"],
    "quantised": ["--temp", "0", "--cache-type-k", "q8_0", "--cache-type-v", "q8_0"],
}


def zeroed(folder, name, chosen):
    """A copy of the model in which the bytes of the chosen tensors are 0, which decode to 0.0."""
    path, model = str(folder / name), Gguf(SMOL)
    shutil.copy(SMOL, path)
    sizes = model.sizes(os.path.getsize(path))
    with open(path, "r+b") as f:
        for tensor, t in model.tensors.items():
            if not chosen(tensor): continue
            f.seek(model.data + t["offset"])
            f.write(bytes(sizes[tensor]))
    return path


class Speculation(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        upper_half = {f"blk.{i}.ffn_down.weight" for i in range(15, 30)}
        model = ["--draft-max", "6", "--spec", "model:exact=1,fixed=1,width=1", "--draft"]
        cls.drafters = {
            "ngram": ["--spec", "ngram:match=1"],
            "self": [*model, SMOL],
            "both": ["--draft", SMOL, "--spec", "model:max=3,p_min=0.3,fixed=1", "--spec", "ngram:max=12,match=2"],
            "all": ["--draft", SMOL, "--spec", "auto"],
            "broken": [*model, zeroed(cls.folder, "broken.gguf", lambda name: name in upper_half)],
            "dead": [*model, zeroed(cls.folder, "dead.gguf", lambda name: name == "output_norm.weight")],
        }

    def same(self, arguments, drafters=None):
        """The answers of all drafters, after checking that each says what plain decoding says."""
        plain = self.answer(*arguments, "--spec", "off")
        self.assertEqual(plain["draft"]["drafted"], 0)
        results = {"off": plain}
        for name in drafters or self.drafters:
            with self.subTest(name):
                results[name] = self.answer(*arguments, *self.drafters[name])
                for part in ("tokens", "text", "finish_reason", "completion_tokens", "prompt_tokens"): self.assertEqual(results[name][part], plain[part], part)
        return results

    def test_no_setting_changes_the_text(self):
        for name, setting in SETTINGS.items():
            with self.subTest(name):
                results = self.same([*TELL, *setting])
                self.assertGreater(results["self"]["draft"]["accepted"], 0)
                self.assertGreater(results["dead"]["draft"]["rejected"], 0)

    def test_the_type_of_the_draft_cache_never_changes_the_text(self):  # C07
        arguments = [*TELL, "--temp", "0", *self.drafters["self"]]
        texts = {self.answer(*arguments, "--draft-cache-type-k", k, "--draft-cache-type-v", v)["text"] for k, v in (("f16", "f16"), ("q8_0", "q8_0"), ("q8_0", "f16"))}
        self.assertEqual(len(texts), 1)

    def test_threads_and_depth_do_not_change_the_text(self):
        texts = {self.answer(*TELL, "--temp", "0.8", "--seed", "4", "-t", threads, *self.drafters["self"], "--draft-max", depth)["text"] for threads, depth in ((1, 1), (1, 16), (2, 5), (2, 31))}
        self.assertEqual(len(texts), 1)

    def test_copied_hashes_are_drafted_whole(self):  # C05
        lines = [f"mod-{i:02} v1.7.{i} h1:{'abcdefghijklmnopqrstuvwxyzABCDEFG0123456789'[i:] + 'Zx9Qw7Er5Ty3'[:i]}=" for i in range(8)]
        prompt = "\n".join(lines) + "\nCopy the list above exactly:\n" + lines[0] + "\n"
        self.drafters["long ngram"] = ["--spec", "ngram:max=16"]
        results = self.same(["-m", SMOL, "--raw", "-p", prompt, "--temp", "0", "-n", "120"], ["long ngram", "self"])
        del self.drafters["long ngram"]
        self.assertEqual(results["self"]["draft"]["rejected"], 0)
        self.assertGreater(results["long ngram"]["draft"]["accepted"], 16)

    def test_frequency_penalty(self):  # C10
        texts = [self.same(["-m", SMOL, "-p", "Say hello many times: hello hello", "-n", "24", "--temp", "0", "--frequency-penalty", x], ["ngram", "self"])["off"]["text"] for x in (-2, 0, 2)]
        self.assertNotEqual(texts[0], texts[2])

    def test_banned_tokens_stay_banned(self):  # C12
        arguments = ["-m", SMOL, "--raw", "-p", "The sky is", "--temp", "0", "-n", "12"]
        tokens = self.answer(*arguments, "--spec", "off")["tokens"]
        banned = [tokens[2], tokens[5]]
        for result in self.same([*arguments, "--logit-bias", f"{banned[0]}-100", "--logit-bias", f"{banned[1]}-100"]).values():
            self.assertEqual(set(result["tokens"]) & set(banned), set())

    def test_a_liked_token_comes(self):
        tokens = self.same(["-m", SMOL, "--raw", "-p", "The sky is", "--temp", "0", "-n", "6", "--logit-bias", "339+100"], ["self"])["off"]["tokens"]
        self.assertEqual(tokens, [339] * 6)

    def test_rejection_is_another_text_except_when_greedy(self):
        greedy, warm = [*TELL, "--temp", "0"], [*TELL, "--temp", "1", "--seed", "4"]
        draft = ["--draft", SMOL, "--spec", "model:fixed=1,width=1,max=4,temp=1.4", "--accept", "rejection"]  # nearly the model itself
        self.assertEqual(self.answer(*greedy, *draft)["tokens"], self.answer(*greedy, "--spec", "off")["tokens"])
        self.assertEqual(self.answer(*warm, "--spec", "off", "--accept", "rejection")["tokens"], self.answer(*warm, "--spec", "off")["tokens"])
        drafted = self.answer(*warm, *draft)
        self.assertNotEqual(drafted["tokens"], self.answer(*warm, "--spec", "off")["tokens"])
        self.assertGreater(drafted["draft"]["accepted"], 20)

    def test_emoji_leave_whole(self):  # C56; the llama is three or four tokens in each vocabulary
        for model in (SMOL, QWEN_SMALL, GEMMA):
            with self.subTest(model):
                arguments = ["-m", model, "-p", "Repeat exactly: 😸 🦙 🇫🇷 猫 赋 é ñ —", "--temp", "0", "-n", "60"]
                itself = [*self.drafters["self"][:-1], model]
                whole = self.answer(*arguments, "--spec", "off")["text"]
                self.assertIn("🦙", whole)
                self.assertNotIn("\ufffd", whole.rstrip("\ufffd"))  # at its end the last token allowed may cut a character
                for more in (["--spec", "off"], itself, self.drafters["ngram"]):
                    self.assertEqual(self.answer(*arguments, *more)["text"], whole)
                    p = start(*arguments, *more)
                    chunks = []
                    while chunk := os.read(p.stdout.fileno(), 1 << 16): chunks.append(chunk.decode())  # every chunk is UTF-8 by itself
                    p.communicate()
                    self.assertEqual((p.returncode, "".join(chunks).rstrip("\n")), (0, whole.rstrip("\n")))
                    self.assertGreater(len(chunks), 1)

    def test_verify_says_so(self):
        outcome = self.answered(run("verify", "-m", SMOL, "--arms", "3", "--tokens", "12"))
        self.assertRegex(outcome.text, r"3 arms, \d+ answers, \d+ tokens, \d+ drafted, \d+ accepted: 0 different\n$")
        self.assertEqual(outcome.text.count("equal "), 3, outcome)
        prompt = self.file("one.jsonl", '{"messages":[{"role":"user","content":"Hi"}]}')
        every = self.answered(run("verify", "-m", SMOL, "--prompts", prompt, "--tokens", "3")).text
        for drafter in ("fuzz", "lookup", "recycle", "all together", "automatic"): self.assertIn(f"equal      {drafter} max", every)
        table = self.answered(run("verify", "-m", SMOL, "--arms", "2", "--tokens", "4", "--self", "--json")).json
        self.assertEqual((len(table["arms"]), table["different"], all(a["equal"] for a in table["arms"])), (2, 0, True))

    def test_calibration_is_kept_and_never_in_the_way(self):
        folder, call = self.folder / "calibration", [*TELL, "--temp", "0", "--draft", SMOL]
        plain = self.answer(*call, "--spec", "off")["text"]
        cold = self.answer(*call, "--calibration", folder)
        (kept,) = folder.iterdir()
        first = kept.read_bytes()
        self.assertEqual([cold["text"], self.answer(*call, "--calibration", folder)["text"]], [plain, plain])
        self.assertNotEqual(kept.read_bytes(), first)  # it goes on from there
        self.assertNotIn(b"reverse", first)
        self.answer(*call, "--calibration", folder, "--spec", "lookup")  # other kinds, another file
        self.assertEqual(len(list(folder.iterdir())), 2)
        for damaged in (b"", first[:100], first[:-1], first + b"x", first[:2000] + bytes([first[2000] ^ 1]) + first[2001:], bytes(len(first))):
            kept.write_bytes(damaged)
            self.assertEqual(self.answer(*call, "--calibration", folder)["text"], plain)

    def test_calibration_where_nothing_can_be_written(self):
        call = [*TELL, "--temp", "0"]
        wrong = run(*call, "--calibration", self.file("a-file", "mine"))
        self.refused(wrong, 2, "--calibration")
        self.assertEqual((self.folder / "a-file").read_text(), "mine")
        quiet = run(*call, environment={"OUTRIDER_CALIBRATION": "auto", "XDG_CACHE_HOME": "/proc/nowhere"})
        self.assertEqual((quiet.code, len(quiet.lines)), (0, 1))  # the figures alone
        self.answer(*call, environment={"OUTRIDER_CALIBRATION": "auto", "XDG_CACHE_HOME": str(self.folder)})
        self.assertEqual(len(list((self.folder / "outrider" / "calibration").iterdir())), 1)


if __name__ == "__main__": unittest.main()
