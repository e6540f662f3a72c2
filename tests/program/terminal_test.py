#!/usr/bin/env python3
"""The chat on a terminal (a pseudo terminal): prompt sign, editing, Ctrl-C, Ctrl-D, and no control sequences where nobody looks."""
import fcntl, os, pty, re, select, signal, struct, subprocess, termios, time, unittest
from support import ENVIRONMENT, HANG_S, PROGRAM, QWEN_SMALL, SMOL, ProgramTest, run


class Terminal:
    def __init__(self, *arguments, rows=24, columns=100, environment=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        state = termios.tcgetattr(slave)
        state[3] |= termios.NOFLSH  # else the terminal itself throws away output that comes right after a Ctrl-C
        termios.tcsetattr(slave, termios.TCSANOW, state)
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=slave, env=ENVIRONMENT | {"TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": ""} | (environment or {}),
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.seen, self.mark = "", 0

    def read(self):
        """Takes in what is there; False at the end."""
        try: data = os.read(self.master, 1 << 16)
        except OSError: data = b""  # the other side has closed
        self.seen += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, pattern):
        """Waits until the pattern appears after what was waited for before."""
        end = time.monotonic() + HANG_S
        while not (found := re.compile(pattern).search(self.seen, self.mark)):
            if time.monotonic() > end or not (select.select([self.master], [], [], 1)[0] and self.read() or self.process.poll() is None):
                raise AssertionError(f"«{pattern}» did not come; the terminal shows {self.seen[self.mark:]!r}")
        self.mark = found.end()
        return found

    def ready(self):
        """Waits for the prompt sign and for the mode in which single keys are read."""
        self.wait_for("> ")
        while self.reads_lines() and self.process.poll() is None: time.sleep(0.01)

    def reads_lines(self): return bool(termios.tcgetattr(self.master)[3] & termios.ICANON)

    def type(self, text): os.write(self.master, text.encode())

    def end(self):
        deadline = time.monotonic() + HANG_S
        while self.process.poll() is None or select.select([self.master], [], [], 0)[0]:
            if select.select([self.master], [], [], 0.2)[0] and not self.read(): break
            if time.monotonic() > deadline: raise AssertionError(f"the program does not end; the terminal shows {self.seen[self.mark:]!r}")
        return self.process.wait(timeout=HANG_S)

    def close(self):
        if self.process.poll() is None: self.process.kill()
        self.process.wait()
        os.close(self.master)


FIGURES = r"\d+ tokens?, first after [^\r\n]*\r\n"


class Chat(ProgramTest):
    def open(self, *arguments, **more):
        terminal = Terminal("-m", SMOL, "--temp", "0", *arguments, **more)
        self.addCleanup(terminal.close)
        return terminal

    def leave(self, terminal):
        terminal.ready()
        terminal.type("\x04")
        self.assertEqual(terminal.end(), 0)

    def test_a_talk(self):
        t = self.open("-n", "12")
        t.wait_for("/help lists the commands")
        t.ready()
        t.type("Hi\r")
        t.wait_for(FIGURES)
        t.ready()
        t.type("/stats\r")
        t.wait_for("rounds")
        t.ready()
        t.type("/exit\r")
        self.assertEqual(t.end(), 0)

    def test_ctrl_d_leaves(self):
        t = self.open()
        self.leave(t)

    def test_ctrl_c_stops_the_answer_and_not_the_chat(self):
        t = self.open("--ignore-eos", "-n", "4000")
        t.ready()
        t.type("Hi\r")
        t.wait_for("Hi\r\n[^\r\n]+")  # the answer has begun
        t.type("\x03")
        self.assertLess(int(t.wait_for(r"(\d+) tokens?, first after [^\r\n]*, interrupted")[1]), 4000)
        t.ready()
        t.type("/stats\r")
        t.wait_for("rounds")
        self.leave(t)

    def test_ctrl_c_at_the_prompt_drops_the_line(self):
        t = self.open()
        t.ready()
        t.type("not this\x03")
        t.wait_for("\n")
        t.ready()
        t.type("/stats\r")
        t.wait_for("no answer yet")
        self.leave(t)

    def test_ctrl_c_while_the_model_is_loading_leaves(self):
        t = Terminal("-m", QWEN_SMALL)  # large enough to be still loading
        self.addCleanup(t.close)
        t.wait_for("loading the model")
        t.type("\x03")
        self.assertEqual(t.end(), 130)

    def test_sigterm_leaves_and_restores_the_terminal(self):
        t = self.open("--ignore-eos", "-n", "4000")
        t.ready()
        t.process.send_signal(signal.SIGTERM)
        self.assertEqual((t.process.wait(timeout=HANG_S), t.reads_lines()), (143, True))
        t = self.open("--ignore-eos", "-n", "4000")
        t.ready()
        t.type("Hi\r")
        t.wait_for("Hi\r\n[^\r\n]+")
        t.process.send_signal(signal.SIGTERM)
        t.wait_for("interrupted\r\n")
        self.assertEqual((t.end(), t.seen.count("> ")), (143, 1))

    def test_a_second_signal_restores_the_terminal_too(self):
        t = self.open()
        t.ready()
        for s in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT): t.process.send_signal(s)  # both at once when it goes on
        self.assertIn(t.process.wait(timeout=HANG_S), (130, 143))
        self.assertTrue(t.reads_lines())

    def test_ctrl_d_during_an_answer_is_for_nothing(self):
        t = self.open("--ignore-eos", "-n", "60")
        t.ready()
        t.type("Hi\r")
        t.wait_for("Hi\r\n[^\r\n]+")
        t.type("\x04\r/stats\r")
        t.wait_for(FIGURES)
        t.wait_for("rounds")
        self.leave(t)

    def test_the_line_can_be_edited_and_comes_back(self):
        t = self.open("-n", "4")
        t.ready()
        t.type("/statx\x7fs\r")  # a letter taken back
        t.wait_for("no answer yet")
        t.ready()
        t.type("\x1b[A\r")  # up: the line before
        t.wait_for("no answer yet")
        self.leave(t)

    def test_a_prompt_on_the_command_line_answers_once(self):
        t = self.open("-n", "8", "-p", "Hi")
        t.wait_for(FIGURES)
        self.assertEqual(t.end(), 0)
        self.assertNotIn("> ", t.seen)

    def test_sources_have_colours_on_a_terminal_only(self):
        arguments = ["-n", "40", "-p", "Repeat: a b c a b c a b c", "--spec", "lookup:fixed=1", "--show-source"]
        plain = run("-m", SMOL, "--temp", "0", *arguments)
        self.assertNotRegex(plain.err + plain.text, r"\x1b")
        self.assertEqual(len(plain.lines), 1)
        t = self.open(*arguments)
        t.wait_for("tokens by source: \x1b\\[34mlookup blue\x1b\\[0m, the model itself plain\r\n")
        t.end()
        answer = t.seen[t.mark:]
        self.assertIn("\x1b[34m", answer)
        shown = re.sub(r"\x1b\[\d+m", "", answer).replace("\r\n", "\n")
        self.assertTrue(shown.startswith(plain.text), (shown, plain.text))

    def test_no_color_is_heeded(self):
        t = self.open("-n", "20", "-p", "Repeat: a b c a b c a b c", "--spec", "lookup:fixed=1", "--show-source", environment={"NO_COLOR": "1"})
        t.wait_for(FIGURES)
        t.end()
        self.assertNotRegex(t.seen, r"\x1b\[\d*m")

    def test_text_that_was_held_back_has_the_colours_of_its_tokens(self):
        arguments = ["-n", "24", "--raw", "-p", "1, 2, 3, 4, 1, 2, 3, 4, 1, 2,", "--spec", "lookup:fixed=1"]
        answer = self.answer("-m", SMOL, "--temp", "0", *arguments, "--show-source")
        ids, sources = answer["tokens"], answer["token_sources"]
        self.assertEqual(set(sources), {-1, 0})
        t = self.open(*arguments, "--show-source", "--stop", answer["text"] + "and what does not come")  # so that all is held back to the end
        t.wait_for("itself plain\r\n")
        t.end()
        runs = re.findall(r"\x1b\[34m(.*?)\x1b\[0m", t.seen[t.mark:], re.S)
        self.assertEqual(len(runs), sources.count(0))  # a token each

    def test_the_bar_is_for_terminals_only(self):
        t = self.open("-n", "2", "-p", "Hi")
        t.end()
        self.assertIn("loading the model", t.seen)
        outcome = run("-m", SMOL, "-n", "2", "-p", "Hi")
        self.assertNotIn("loading", outcome.err)
        self.assertNotRegex(outcome.err + outcome.text, r"[\x1b\r]")


if __name__ == "__main__": unittest.main()
