#!/usr/bin/env python3
"""The chat through a pipe: every /command, answers on stdout, talk on stderr, and an end when the input ends (C68)."""
import json, os, pathlib, resource, unittest
from support import FIGURES, SMOL, ProgramTest, run

CHAT = ["-m", SMOL, "-i", "-n", "16"]


class Chat(ProgramTest):
    def chat(self, *lines, arguments=(), code=0, **more):
        outcome = run(*CHAT, "--temp", "0", *arguments, stdin="".join(line + "\n" for line in lines).encode(), **more)
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def read_json(self, path): return json.loads(pathlib.Path(path).read_text())

    def test_end_of_input(self):
        self.assertEqual((self.chat().out, self.chat().err), (b"", ""))
        self.assertEqual(run(*CHAT, stdin=b"/help").code, 0)  # no line end before the end

    def test_exit_leaves_the_rest_unread(self):
        for word in ("/exit", "/quit"): self.assertEqual(self.chat(word, "Hi").out, b"")

    def test_an_answer(self):
        outcome = self.chat("Hi")
        self.assertEqual(outcome.text, self.answer("-m", SMOL, "-n", "16", "--temp", "0", "-p", "Hi")["text"] + "\n")
        self.assertEqual(len(outcome.lines), 1)
        self.assertRegex(outcome.lines[0], FIGURES)

    def test_a_prompt_on_the_command_line_begins_the_chat(self):
        typed = self.chat("My name is Ada.", "What is my name?")
        self.assertEqual(self.chat("What is my name?", arguments=["-p", "My name is Ada."]).out, typed.out)
        self.assertEqual(self.chat("What is my name?", arguments=["-f", self.file("first.txt", "My name is Ada.\n")]).out, typed.out)

    def test_it_remembers(self):
        both = self.chat("My name is Ada.", "What is my name?").text.splitlines()
        alone = self.chat("What is my name?").text.splitlines()
        self.assertNotEqual(both[-1], alone[-1])

    def test_reset_forgets(self):
        self.assertEqual(self.chat("My name is Ada.", "/reset", "Hi").text.splitlines()[-1], self.chat("Hi").text.splitlines()[-1])

    def test_system_message(self):
        for lines, arguments in ((["/system Answer in French.", "Hi"], []), (["Hi"], ["--system", "Answer in French."]), (["x", "/system Answer in French.", "Hi"], [])):
            self.assertEqual(self.chat(*lines, arguments=arguments).text.splitlines()[-1], self.answer("-m", SMOL, "-n", "16", "--temp", "0", "-p", "Hi", "--system", "Answer in French.")["text"].splitlines()[-1])
        self.assertEqual(self.chat("/system Answer in French.", "x", "/reset", "Hi").text.splitlines()[-1], self.chat("/system Answer in French.", "Hi").text.splitlines()[-1])

    def test_help_and_unknown_commands(self):
        text = self.chat("/help").err
        for word in "/help /reset /system /stats /spec /retry /save /load /exit".split(): self.assertIn(word, text)
        outcome = self.chat("/hlep")
        self.assertIn("/hlep", outcome.err)
        self.assertEqual((outcome.out, len(outcome.lines)), (b"", 1))

    def test_empty_lines_are_nothing(self): self.assertEqual((self.chat("", "", "").out, self.chat("", "").err), (b"", ""))

    def test_stats(self):
        self.assertEqual(self.chat("/stats").lines, ["no answer yet"])
        lines = self.chat("Hi", "/stats").lines
        self.assertEqual(lines[1], lines[0])
        for word in ("prompt", "rounds", "draft", "verify"): self.assertIn(word, lines[2])

    def test_speculation_can_be_changed_and_never_changes_the_text(self):
        [spec] = [o for o in run("options", "--json").json if o["name"] == "spec"]
        all_kinds = "+".join(kind["name"] for kind in spec["kinds"] if kind["name"] != "model")
        outcome = self.chat("/spec", "Hi", "/reset", "/spec off", "Hi", "/reset", "/spec on", "Hi", "/reset", "/spec ngram:max=4,match=2", "Hi")
        self.assertEqual([line.split(": ")[1] for line in outcome.lines if line.startswith("speculation")], [all_kinds, "off", all_kinds, "lookup"])
        self.assertEqual(len(set(outcome.text.splitlines())), 1, outcome)

    def test_speculation_that_cannot_be(self):
        outcome = self.chat("/spec model", "/spec foo", "/spec ngram:max=99", "Hi")
        self.assertEqual(len(outcome.lines), 4, outcome)
        for line, word in zip(outcome.lines, ("none is loaded; name one with --draft FILE when outrider starts", "foo", "99")): self.assertIn(word, line)
        self.assertNotIn("--spec", outcome.err)  # that is not what was typed
        self.assertEqual(outcome.text, self.chat("Hi").text)  # and the chat goes on

    def test_a_draft_model_can_be_switched_on(self):
        outcome = self.chat("/spec off", "Hi", "/reset", "/spec model:max=4,fixed=1", "Hi", arguments=["--draft", SMOL, "--spec", "model:exact=1"])
        texts = outcome.text.splitlines()
        self.assertEqual(texts[0], texts[1])
        self.assertIn("model", outcome.lines[-1])

    def test_a_draft_model_is_loaded_when_it_is_first_wanted_and_anew_when_wanted_otherwise(self):
        outcome = self.chat("/spec model:max=4,fixed=1", "Hi", "/reset", "/spec model:max=2,fixed=1", "/spec model:exact=1,fixed=1", "Hi", "/reset", "/spec off", "Hi",
                            arguments=["-v", "--draft", SMOL, "--spec", "lookup"])  # named, and not loaded
        self.assertEqual(outcome.err.count("memory that will be reserved"), 3)  # at the start, when first wanted, and when wanted exact
        self.assertEqual(outcome.err.count("draft model: weights"), 2)
        self.assertEqual([line for line in outcome.lines if line.startswith("speculation")], ["speculation: model"] * 3 + ["speculation: off"])
        self.assertEqual(outcome.text, self.chat("Hi").text * 3)

    def test_limits_of_the_command_line_stay_and_keys_of_spec_do_not(self):
        spec = lambda *lines, arguments: self.chat(*lines, arguments=arguments).lines
        self.assertIn("(4)", spec("/spec lookup:min=5", arguments=["--draft-max", "4"])[0])
        self.assertEqual(spec("/spec lookup:min=5", arguments=["--spec", "lookup:max=4"]), ["speculation: lookup"])

    def test_retry(self):
        self.assertEqual(self.chat("/retry").lines, ["nothing to retry"])
        same = self.chat("Hi", "/retry").text.splitlines()
        self.assertEqual(same[0], same[1])  # greedy has one answer only
        hot = lambda: run(*CHAT, "--temp", "1.5", "--seed", "5", "--stop", "\n", stdin=b"Tell me a story\n/retry\n/retry\n")
        first = hot()
        self.assertEqual(len(set(first.text.splitlines())), 3, first)
        self.assertEqual(hot().out, first.out)  # the same seed, the same three answers

    def test_save_and_load(self):
        path = str(self.folder / "talk.json")
        outcome = self.chat("My name is Ada.", f"/save {path}", "What is my name?")
        saved = self.read_json(path)
        self.assertEqual([m["role"] for m in saved], ["user", "assistant"])
        self.assertEqual(saved[0]["content"], "My name is Ada.")
        again = self.chat(f"/load {path}", "What is my name?")
        self.assertEqual(again.text.splitlines()[-1], outcome.text.splitlines()[-1])
        self.assertIn(path, "".join(outcome.lines))

    def test_save_keeps_a_conversation_with_broken_bytes_readable(self):
        path = str(self.folder / "bytes.json")
        outcome = run(*CHAT, stdin=b"Hi \xff there\n/save " + path.encode() + b"\n/load " + path.encode() + b"\n")
        self.assertEqual((outcome.code, len(self.read_json(path))), (0, 2), outcome)

    def test_save_and_load_that_cannot_be(self):
        broken = self.file("broken.json", '{"role": "user"}')
        for line, words in (("/save", ["file name"]), ("/save /nowhere/talk.json", ["/nowhere/talk.json"]), ("/load /nowhere/talk.json", ["/nowhere/talk.json"]), (f"/load {broken}", ["broken.json", "role, content"])):
            with self.subTest(line):
                outcome = self.chat(line, "Hi")
                self.assertEqual((len(outcome.lines), outcome.text), (2, self.chat("Hi").text), outcome)
                for word in words: self.assertIn(word, outcome.lines[0])

    def test_save_on_a_full_disk_leaves_the_old_file(self):
        path = self.file("old.json", "the old conversation")
        small_disk = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))  # every file ends after 40 bytes
        outcome = self.chat("Hi", f"/save {path}", "/stats", preexec_fn=small_disk)
        self.assertEqual(pathlib.Path(path).read_text(), "the old conversation")
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("old.json")], ["old.json"])
        self.assertTrue(outcome.lines[1].startswith("outrider: cannot write " + path), outcome)
        self.assertRegex(outcome.lines[2], FIGURES)  # and the chat goes on

    def test_save_writes_to_devices_and_pipes_and_never_replaces_them(self):
        pipe = str(self.folder / "pipe")
        os.mkfifo(pipe)
        null, full = self.device("null", 3), str(self.folder / "link")
        os.symlink(self.device("full", 7), full)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        outcome = self.chat("Hi", f"/save {pipe}", f"/save {full}", f"/save {null}")
        saved = os.read(reader, 1 << 16)
        os.close(reader)
        self.assertEqual([m["role"] for m in json.loads(saved)], ["user", "assistant"])
        self.assertTrue(pathlib.Path(pipe).is_fifo() and pathlib.Path(full).is_char_device() and pathlib.Path(null).is_char_device())
        self.assertIn("No space left on device", outcome.lines[2])
        self.assertEqual(outcome.lines[3], f"saved 2 messages to {null}")

    def test_a_reader_that_leaves(self):
        read, write = os.pipe()
        os.close(read)
        outcome = run(*CHAT, stdin=b"Hi\nHi\nHi\n", stdout=write)
        os.close(write)
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIn("standard output", outcome.lines[-1])


if __name__ == "__main__": unittest.main()
