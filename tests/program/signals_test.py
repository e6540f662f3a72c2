#!/usr/bin/env python3
"""Ctrl-C, readers that leave and disks that are full (C52, C68)."""
import json, os, pathlib, signal, subprocess, time, unittest
from support import PROGRAM, SMOL, ENVIRONMENT, HANG_S, ProgramTest, run, start

LONG = ["-m", SMOL, "-p", "Tell me a very long story.", "--temp", "0", "--ignore-eos", "-n", "4000"]


def wait_until_caught(process, number):
    """Returns when the program has its handler in place; the model may still be loading."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while not any(line.startswith("SigCgt") and int(line.split()[1], 16) >> (number - 1) & 1 for line in status.read_text().splitlines()): time.sleep(0.01)


class Interrupts(ProgramTest):
    def stopped(self, process, *signals, after=1):
        """Sends the signals once `after` bytes of the answer came, and gives exit code, the whole output and the lines of stderr."""
        out = process.stdout.read(after)
        for s in signals: process.send_signal(s)
        rest, err = process.communicate(timeout=HANG_S)
        return process.returncode, out + rest, err.decode().splitlines()

    def test_one_ends_the_answer_and_tells_the_figures(self):
        for s in (signal.SIGINT, signal.SIGTERM):
            for more in (["--spec", "off"], ["--draft", SMOL, "--spec", "model:max=8,p_min=0"]):
                with self.subTest(signal=s, more=more):
                    code, out, err = self.stopped(start(*LONG, *more), s)
                    self.assertEqual(code, 128 + s, err)
                    self.assertRegex(err[-1], r"^\d+ tokens?, first after .*interrupted$")
                    self.assertEqual(len([line for line in err if "warning" not in line]), 1)
                    self.assertLess(int(err[-1].split()[0]), 4000)  # it did stop
                    self.assertTrue(out.decode().endswith("\n"))

    def test_two_are_no_crash(self):
        code, _, _ = self.stopped(start(*LONG), signal.SIGINT, signal.SIGINT)
        self.assertEqual(code, 130)

    def test_json_is_whole_even_when_it_comes_before_the_answer(self):
        process = start(*LONG, "--json")
        wait_until_caught(process, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual((process.returncode, err), (130, b""))
        self.assertEqual(json.loads(out)["finish_reason"], "cancelled")

    def test_while_the_prompt_is_read_from_a_pipe(self):
        for s in (signal.SIGINT, signal.SIGTERM):
            process = start("-m", SMOL, stdin=subprocess.PIPE)
            process.stdin.write(b"half a prom")
            process.stdin.flush()
            wait_until_caught(process, s)
            process.send_signal(s)
            self.assertEqual((process.wait(timeout=HANG_S), process.stdout.read(), process.stderr.read()), (128 + s, b"", b""))
            for pipe in (process.stdin, process.stdout, process.stderr): pipe.close()

    def test_while_nobody_writes_to_a_named_pipe(self):
        pipe = str(self.folder / "pipe")
        os.mkfifo(pipe)
        for arguments in (["-p", "hi", "--prediction", pipe], ["-f", pipe]):
            for s in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(arguments, signal=s):
                    process = start("-m", SMOL, *arguments, stdin=subprocess.DEVNULL)
                    wait_until_caught(process, s)
                    time.sleep(0.2)  # into the wait; a signal that comes before it must do the same
                    process.send_signal(s)
                    out, err = process.communicate(timeout=HANG_S)
                    self.assertEqual((process.returncode, out, err), (128 + s, b"", b""))

    def test_what_comes_through_a_named_pipe_is_read(self):
        pipe = str(self.folder / "late")
        os.mkfifo(pipe)
        process = start("-m", SMOL, "--raw", "--temp", "0", "-n", "6", "-f", pipe)
        wait_until_caught(process, signal.SIGINT)
        time.sleep(0.2)  # it waits before there is a writer
        pathlib.Path(pipe).write_bytes(b"1, 2, 3,")
        out, _ = process.communicate(timeout=HANG_S)
        self.assertEqual((process.returncode, out), (0, run("-m", SMOL, "--raw", "--temp", "0", "-n", "6", "-p", "1, 2, 3,").out))

    def test_in_the_chat_of_a_pipe(self):
        for s in (signal.SIGINT, signal.SIGTERM):
            process = start("-m", SMOL, "-i", "-n", "4", stdin=subprocess.PIPE)
            process.stdin.write(b"Hi\n")
            process.stdin.flush()
            process.stderr.readline()  # the figures: the chat waits for the next line
            process.send_signal(s)
            self.assertEqual((process.wait(timeout=HANG_S), process.stderr.read()), (128 + s, b""))
            for pipe in (process.stdin, process.stdout, process.stderr): pipe.close()


class Output(ProgramTest):
    def test_a_reader_that_leaves(self):
        for more in ([], ["--draft", SMOL, "--spec", "model"]):
            process = start(*LONG, *more)
            process.stdout.read(1)
            process.stdout.close()
            err = process.stderr.read().decode().splitlines()
            self.assertEqual(process.wait(timeout=HANG_S), 1, err)
            self.assertEqual(len([line for line in err if "warning" not in line]), 1, err)
            self.assertRegex(err[-1], "^outrider: .*standard output")
            process.stderr.close()

    def test_a_reader_that_was_never_there(self):
        for more in ([], ["--json"]):
            read, write = os.pipe()
            os.close(read)
            outcome = run("-m", SMOL, "-p", "hi", "-n", "4", *more, stdout=write)
            os.close(write)
            self.refused(outcome, 1, "standard output")

    def test_full_disk_under_the_answer(self):
        for more in ([], ["--json"]):
            with open("/dev/full", "wb") as full: self.refused(run("-m", SMOL, "-p", "hi", "-n", "4", *more, stdout=full), 1, "standard output", "No space left on device")

    def test_full_disk_under_verify(self):
        with open("/dev/full", "wb") as full: outcome = run("verify", "-m", SMOL, "--arms", "1", "--tokens", "2", stdout=full)
        self.assertEqual((outcome.code, len(outcome.lines)), (1, 2), outcome)
        self.assertIn("No space left on device", outcome.lines[1])

    def test_no_standard_error(self):
        outcome = subprocess.run(["bash", "-c", f'"{PROGRAM}" -m "{SMOL}" --raw -p "1, 2, 3," --temp 0 -n 6 2>&-'], stdout=subprocess.PIPE, env=ENVIRONMENT, timeout=HANG_S)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, run("-m", SMOL, "--raw", "-p", "1, 2, 3,", "--temp", "0", "-n", "6").out))


if __name__ == "__main__": unittest.main()
