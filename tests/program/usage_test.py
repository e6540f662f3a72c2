#!/usr/bin/env python3
"""Arguments, environment, help and completion: everything the option table feeds. No model is needed."""
import fcntl, os, re, shutil, subprocess, time, unittest
from support import PROGRAM, ProgramTest, run, start

FINGERS = """-m --draft -md --draft-max --draft-min --draft-p-min -c -n -t --temp --top-k --top-p --min-p --repeat-penalty --repeat-last-n --presence-penalty
--frequency-penalty --logit-bias --seed --cache-type-k -ctk --cache-type-v -ctv --draft-cache-type-k --draft-cache-type-v --samplers --spec --stop --raw --system --json""".split()


def options(): return run("options", "--json").json


def names_of(option): return ["--" + option["name"]] + [a for a in option["aliases"].split(",") if a]


def good_value(option):
    if option["type"] == "flag": return []
    if "choices" in option: return [option["choices"].split("|")[0]]
    if option["type"] in ("integer", "number"): return ["1"]
    if option["name"] == "prediction": return [__file__]  # read before the model
    return [option.get("default") or "20+1"]


class Arguments(ProgramTest):
    def test_every_name_and_alias_of_run_is_accepted(self):
        tried = set()
        for option in options():
            if "run" not in option["commands"] or option["name"] in ("model", "file"): continue
            for name in names_of(option):
                tried.add(name)
                prompt = {"prompt": [], "steps": ["-p", "hi", "--json"]}.get(option["name"], ["-p", "hi"])
                self.refused(run("run", "-m", "nowhere.gguf", *prompt, name, *good_value(option)), 1, "nowhere.gguf")
        self.assertEqual(set(FINGERS) - tried, {"-m"})

    def test_long_options_take_their_value_after_an_equals_sign(self):
        self.refused(run("--model=nowhere.gguf", "--prompt=hi", "--temp=0"), 1, "nowhere.gguf")

    def test_no_command_means_run(self):
        self.refused(run("nowhere.gguf", "hello"), 1, "nowhere.gguf")
        self.refused(run("run", "nowhere.gguf", "hello"), 1, "nowhere.gguf")

    def test_no_model(self):
        self.refused(run(), 2, "-m FILE")

    def test_bad_numbers_are_named_with_their_option(self):
        for option, value in [("--draft-max", "-1"), ("--draft-max", "1000"), ("--draft-max", "100000"), ("--draft-max", "abc"), ("--draft-max", "5.5"), ("--draft-p-min", "-1"),
                              ("--draft-p-min", "2"), ("--draft-p-min", "abc"), ("--predict", "3x"), ("--predict", ""), ("--predict", "-2"), ("--predict", "9" * 30), ("--predict", "0x10"), ("--predict", "1e1"), ("--predict", " 3"), ("--predict", "3 "), ("--temp", "0x1"), ("--temp", " 1"), ("--threads", "0"),
                              ("--ctx-size", "0"), ("--temp", "-1"), ("--temp", "nan"), ("--temp", "inf"), ("--top-p", "1.5"), ("--min-p", "-0.1"), ("--top-k", "-1"),
                              ("--repeat-penalty", "0"), ("--seed", "x"), ("--cache-type-k", "q3"), ("--samplers", "best")]:
            with self.subTest(option=option, value=value): self.refused(run("-m", "nowhere.gguf", "-p", "hi", option, value), 2, option, f"«{value}»")

    def test_draft_max_says_its_range(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--draft-max", "1000"), 2, "0 to 31")

    def test_limits_of_a_kind_are_checked_against_its_own_and_those_of_all(self):
        hi = ["-m", "nowhere.gguf", "-p", "hi"]
        self.refused(run(*hi, "--spec", "lookup:max=2", "--spec", "recycle:min=5"), 1, "nowhere.gguf")  # one kind's most, another's least
        self.refused(run(*hi, "--draft-max", "4", "--spec", "lookup:min=5"), 2, "lookup", "(5)", "(4)", "--draft-max")

    def test_shortest_draft_longer_than_the_longest(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--draft-max", "3", "--draft-min", "5"), 2, "(5)", "(3)", "--draft-min")

    def test_unknown_option_with_a_near_match(self):
        for wrong, right in [("--tmp", "--temp"), ("--draft-mx", "--draft-max"), ("--jsn", "--json"), ("--top_k", "--top-k")]:
            with self.subTest(wrong): self.refused(run("-m", "nowhere.gguf", wrong, "5", "-p", "hi"), 2, wrong, f"did you mean {right}?")

    def test_unknown_option_without_one(self):
        self.refused(run("-m", "nowhere.gguf", "--qqqqqqqqqqqq", "-p", "hi"), 2, "--qqqqqqqqqqqq", "--help")

    def test_option_of_another_command(self):
        self.refused(run("tokenize", "-m", "nowhere.gguf", "-p", "hi", "--draft-max", "5"), 2, "outrider tokenize", "--draft-max")

    def test_missing_value(self):
        for option in ("--temp", "-m", "-p"):
            with self.subTest(option): self.refused(run("run", option), 2, f"{option} needs a value", "outrider run --help")
        self.refused(run("run", "--stop="), 2, "--stop= needs a value")
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--stop", ""), 2, "--stop", "empty")

    def test_a_value_may_look_like_an_option(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "--help"), 1, "nowhere.gguf")
        self.refused(run("-m", "nowhere.gguf", "-p", "-5 plus 7 is"), 1, "nowhere.gguf")
        self.refused(run("-m", "nowhere.gguf", "--", "--help"), 1, "nowhere.gguf")

    def test_booleans(self):
        for word, json in [("true", True), ("yes", True), ("on", True), ("1", True), ("false", False), ("no", False), ("off", False), ("0", False)]:
            self.assertEqual(self.answered(run("version", f"--json={word}")).text.startswith("{"), json, word)
            self.assertEqual(self.answered(run("version", environment={"OUTRIDER_JSON": word})).text.startswith("{"), json, word)
        self.assertFalse(run("version", "--json", "--json=false").text.startswith("{"))
        self.refused(run("version", "--json=maybe"), 2, "--json", "«maybe»", "outrider version --help")

    def test_seeds_of_64_bits(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--seed", 2**64 - 1), 1, "nowhere.gguf")
        for seed in (2**64, 2**70): self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--seed", seed), 2, "out of range", 2**64 - 1, "outrider run --help")

    def test_short_options_that_are_none(self): self.refused(run("run", "-ix", "-m", "nowhere.gguf"), 2, "has no option -ix")

    def test_misspelt_command(self):
        for wrong, right in [("inspct", "inspect"), ("verfy", "verify"), ("runn", "run"), ("tokenise", "tokenize")]:
            with self.subTest(wrong): self.refused(run(wrong, "nowhere.gguf"), 2, f"«{wrong}»", f"did you mean outrider {right}?")
        self.file("inspct", "a file of that name")
        self.refused(run("inspct", "-p", "hi", cwd=self.folder), 1, "inspct", "not a GGUF file")

    def test_a_long_first_word(self): self.refused(run("tell me " * 1000, "-m", "nowhere.gguf"), 1, "nowhere.gguf")

    def test_arguments_that_nothing_takes(self):
        for arguments, word in [(["inspect", "a.gguf", "b.gguf"], "b.gguf"), (["inspect", "-m", "a.gguf", "b.gguf"], "b.gguf"), (["verify", "a.gguf", "b.gguf"], "b.gguf"), (["version", "x"], "x"),
                                (["completion", "bash", "zsh"], "zsh"), (["-m", "a.gguf", "-p", "tell", "me"], "me"), (["a.gguf", "-f", "b.txt", "c"], "c")]:
            with self.subTest(arguments): self.refused(run(*arguments), 2, f"«{word}»")
        self.refused(run("-m", "a.gguf", "-p", "tell", "me", "more"), 2, "in quotes")

    def test_inspect_takes_the_model_by_option_too(self): self.refused(run("inspect", "-m", "nowhere.gguf"), 1, "nowhere.gguf")

    def test_prompt_given_twice(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "-f", "x"), 2, "-p", "-f")

    def test_empty_prompt(self):
        self.refused(run("-m", "nowhere.gguf", "-p", ""), 2, "empty")
        self.refused(run("-m", "nowhere.gguf", "-f", self.file("empty.txt", "")), 2, "empty")

    def test_empty_standard_input_is_no_error(self):  # C68: the chat of a pipe that has ended
        outcome = run("-m", "nowhere.gguf")
        self.assertEqual((outcome.code, outcome.out, len(outcome.lines)), (0, b"", 1), outcome)

    def test_closed_standard_input(self):
        outcome = subprocess.run(["bash", "-c", f'"{PROGRAM}" -m nowhere.gguf <&-'], capture_output=True, text=True, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stdout, len(outcome.stderr.splitlines())), (1, "", 1))
        self.assertIn("standard input", outcome.stderr)

    def test_options_that_say_nothing_together(self):
        for arguments, words in [(["-i", "--json"], ["--json", "chat"]), (["-i", "--raw"], ["--raw", "chat"]), (["--raw", "--system", "x", "-p", "hi"], ["--system", "--raw"]), (["--steps", "-p", "hi"], ["--steps", "--json"])]:
            with self.subTest(arguments): self.refused(run("-m", "nowhere.gguf", *arguments), 2, *words)

    def test_missing_prompt_file(self):
        self.refused(run("-m", "nowhere.gguf", "-f", "/nowhere/prompt.txt"), 1, "/nowhere/prompt.txt", "No such file")

    def test_missing_prediction(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--prediction", "/nowhere/expected.txt"), 1, "prediction", "/nowhere/expected.txt", "No such file")

    def test_speculation_that_is_none(self):
        for spec, words in [("foo", ["«foo»", "ngram", "model"]), ("ngram:mx=3", ["«mx»", "max, min"]), ("ngram:max=99", ["«99»", "0 to 31"]), ("ngram:max=x", ["«x»"]),
                            ("ngram:max=0x10", ["«0x10»", "0 to 31"]), ("ngram:max=1e1", ["«1e1»"]), ("ngram:max= 3", ["« 3»"]), ("ngram:max=2,min=3", ["lookup", "(3)", "(2)", "lookup:max"]),
                            ("model:p_min=7", ["«7»", "0 to 1"]), ("ngram:max", ["«max»"])]:
            with self.subTest(spec): self.refused(run("-m", "nowhere.gguf", "--draft", "d.gguf", "-p", "hi", "--spec", spec), 2, *words)
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--spec", "model"), 2, "--draft FILE")

    def test_speculation_by_a_near_name(self):
        hi = ["-m", "nowhere.gguf", "-p", "hi"]
        for wrong, right in [("ngrm", "ngram"), ("n-gram:max=3", "ngram"), ("modle", "model"), ("of", "off")]:
            with self.subTest(wrong): self.refused(run(*hi, "--spec", wrong), 2, f"did you mean {right}?")
        self.refused(run(*hi, "--spec", "on"), 1, "nowhere.gguf")

    def test_speculation_that_cannot_be_combined(self):
        hi = ["-m", "nowhere.gguf", "-p", "hi"]
        for specs in (["off", "auto"], ["ngram", "off"], ["off:max=3"]):
            with self.subTest(specs): self.refused(run(*hi, *[x for s in specs for x in ("--spec", s)]), 2, "stands alone")
        for spec in ("off,auto", "ngram,model"): self.refused(run(*hi, "--spec", spec), 2, f"«{spec}»", "--spec ngram --spec model")


class Environment(ProgramTest):
    def test_every_option_can_be_set(self):
        for option in options():
            self.assertRegex(option["environment"], r"^OUTRIDER_[A-Z0-9_]+$")
        self.refused(run("-p", "hi", environment={"OUTRIDER_MODEL": "fromenv.gguf"}), 1, "fromenv.gguf")

    def test_the_command_line_goes_first(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", environment={"OUTRIDER_MODEL": "fromenv.gguf"}), 1, "nowhere.gguf")

    def test_a_bad_value_names_the_variable(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", environment={"OUTRIDER_TEMP": "abc"}), 2, "OUTRIDER_TEMP", "«abc»")
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", environment={"OUTRIDER_DRAFT_MAX": "77"}), 2, "OUTRIDER_DRAFT_MAX", "«77»")

    def test_a_bad_value_of_an_option_given_by_hand_does_not_matter(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", "--temp", "1", environment={"OUTRIDER_TEMP": "abc"}), 1, "nowhere.gguf")

    def test_words_go_before_the_environment(self):
        self.refused(run("inspect", "nowhere.gguf", environment={"OUTRIDER_MODEL": "fromenv.gguf"}), 1, "nowhere.gguf")
        self.refused(run("some", "words", environment={"OUTRIDER_MODEL": "fromenv.gguf"}), 1, "fromenv.gguf")  # of a prompt
        self.refused(run("nowhere.gguf", "hello", environment={"OUTRIDER_PROMPT": "hi"}), 1, "nowhere.gguf")

    def test_an_empty_variable_is_none(self):
        self.refused(run("-m", "nowhere.gguf", "-p", "hi", environment={"OUTRIDER_TEMP": "", "OUTRIDER_JSON": "", "OUTRIDER_STOP": "", "OUTRIDER_CACHE_TYPE_K": ""}), 1, "nowhere.gguf")

    def test_unknown_instruction_set(self):
        self.refused(run("version", environment={"OUTRIDER_ISA": "mmx"}), 2, "«mmx»", "avx2")


class Names(ProgramTest):
    def test_a_bare_name_is_looked_for_among_the_fetched_models(self):
        folder = {"OUTRIDER_MODELS": str(self.folder / "models")}
        (self.folder / "models").mkdir()
        (self.folder / "models" / "tiny-q4.gguf").write_text("no model")
        for name in ("tiny-q4.gguf", "tiny-q4"):
            for arguments in (["-m", name, "-p", "hi"], [name, "hi"], ["inspect", name], ["tokenize", name, "hi"]):
                with self.subTest(arguments): self.refused(run(*arguments, environment=folder), 1, "models/tiny-q4.gguf", "not a GGUF file")
        self.refused(run("-m", "./tiny-q4.gguf", "-p", "hi", environment=folder), 1, "'./tiny-q4.gguf'")
        self.file("tiny-q4", "")  # the current folder goes first
        self.refused(run("inspect", "tiny-q4", environment=folder, cwd=self.folder), 1, "'tiny-q4' is empty")

    def test_without_a_folder_of_models(self):
        for environment in ({"HOME": "", "OUTRIDER_MODELS": ""}, {"OUTRIDER_MODELS": "/nowhere"}): self.refused(run("inspect", "tiny", environment=environment), 1, "'tiny'")


class Help(ProgramTest):
    def test_overview_names_every_command(self):
        overview = self.answered(run("--help"))
        self.assertEqual(overview.err, "")
        for command in "run inspect tokenize template perplexity logits verify version options completion".split(): self.assertRegex(overview.text, rf"(?m)^  {command} ")
        for spelling in (["-h"], ["help"]): self.assertEqual(run(*spelling).text, overview.text)

    def test_help_and_options_say_the_same(self):
        table = options()
        commands = {c for o in table for c in o["commands"]}
        self.assertTrue({"run", "inspect", "tokenize", "perplexity", "logits", "verify"} <= commands)
        for command in commands:
            text = self.answered(run(command, "--help")).text
            self.assertEqual(text, run("help", command).text)
            shown = set(re.findall(r"(?m)^  (?:-[^ ]*,)?--([a-z0-9-]+)", text))
            self.assertEqual(shown, {o["name"] for o in table if command in o["commands"]}, command)
            for o in table:
                if command not in o["commands"]: continue
                self.assertIn(o["help"], text)
                if "default" in o: self.assertIn(f"[{o['default']}]", text)

    def test_json_entries(self):
        for o in options():
            self.assertTrue({"name", "aliases", "type", "environment", "group", "help", "commands"} <= set(o), o)
            self.assertEqual("range" in o, o["type"] in ("integer", "number"), o)
        self.assertEqual(len({o["name"] for o in options()}), len(options()))

    def test_who_may_draft_is_listed_with_keys_and_defaults(self):
        [spec] = [o for o in options() if o["name"] == "spec"]
        kinds = {k["name"]: {key["name"]: key for key in k["keys"]} for k in spec["kinds"]}
        self.assertLessEqual({"model", "prediction", "lookup", "recycle"}, set(kinds))
        self.assertEqual((kinds["model"]["max"]["range"], kinds["lookup"]["match"]["default"]), ([0, 31], "1"))
        self.assertNotIn("p_min", kinds["lookup"])
        text = run("run", "--help").text
        for kind in kinds: self.assertRegex(text, rf"(?m)^ +{kind} ")
        for kind, key in (("model", "p_min=0"), ("lookup", "match=1"), ("KIND", "width=4")): self.assertIn(f"{kind}:{key} ", text)
        self.assertIn("auto or on:", spec["help"])

    def test_no_more_threads_than_the_process_may_use(self):  # C66; target and draft model share them
        one = {min(os.sched_getaffinity(0))}
        self.assertEqual(run("version", "--json", preexec_fn=lambda: os.sched_setaffinity(0, one)).json["threads"], 1)

    def test_version(self):
        self.assertRegex(self.answered(run("version")).text, r"^outrider \d+\.\d+\.\d+.*kernels (scalar|avx2|avxvnni|avx512)\n$")
        self.assertEqual(run("--version").text, run("version").text)
        self.assertTrue({"version", "kernels"} <= set(run("version", "--json").json))


class Output(ProgramTest):
    SHORT = (["version"], ["options"], ["--help"], ["completion", "bash"])

    def test_a_full_disk_is_called_that(self):
        for arguments in self.SHORT:
            with open("/dev/full", "wb") as full: self.refused(run(*arguments, stdout=full), 1, "standard output", "No space left on device")

    def test_a_reader_that_was_never_there(self):
        for arguments in self.SHORT:
            read, write = os.pipe()
            os.close(read)
            self.refused(run(*arguments, stdout=write), 1, "standard output was closed")
            os.close(write)

    def test_a_slow_reader_of_a_pipe_that_does_not_block(self):
        read, write = os.pipe()
        os.set_blocking(write, False)
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
        process = start("options", "--json", stdout=write)
        os.close(write)
        time.sleep(0.3)  # it fills the pipe and must wait
        with open(read, "rb") as pipe: text = pipe.read()
        self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        self.assertGreater(len(text), 4096)
        self.assertEqual(text, run("options", "--json").out)
        process.stderr.close()


class Completion(ProgramTest):
    def test_scripts_parse(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                script = self.answered(run("completion", shell))
                self.assertIn("outrider", script.text)
                if not shutil.which(shell): continue  # bash is everywhere; the others are tried where they are installed
                checked = subprocess.run([shell, "-n", self.file("script." + shell, script.out)], capture_output=True, text=True, timeout=60)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def complete(self, *words):
        script = self.file("complete.bash", run("completion", "bash").out)
        call = f'compopt() {{ echo "$1 $2"; }}; source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _outrider; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return subprocess.run(["bash", "-c", call, "bash", "outrider", *words], capture_output=True, text=True, timeout=60, cwd=self.folder).stdout.splitlines()

    def test_bash_completes(self):
        self.assertEqual(set(self.complete("run", "--draft-m")), {"--draft-max", "--draft-min"})
        self.assertEqual(self.complete("--draft-ma"), ["--draft-max"])
        self.assertIn("perplexity", self.complete("perp"))
        self.assertNotIn("--temp", self.complete("inspect", "--"))
        self.file("complete-me.gguf", "")
        self.assertIn("complete-me.gguf", self.complete("inspect", "complete-m"))

    def test_bash_takes_folders_for_folders(self):
        (self.folder / "my models").mkdir(exist_ok=True)
        self.assertEqual(self.complete("run", "-m", "my"), ["-o filenames", "my models"])
        self.assertNotIn("-o filenames", self.complete("run", "--temp"))

    def test_unknown_shell(self):
        self.refused(run("completion", "tcsh"), 2, "«tcsh»", "bash")
        self.refused(run("completion"), 2, "bash")


if __name__ == "__main__": unittest.main()
