"""What the tests of the program share: calling it, its models, and what every error must look like."""
import json, os, pathlib, re, shutil, stat, subprocess, sys, tempfile, unittest

PROGRAM = os.environ.get("OUTRIDER_BIN", "")
MODELS = pathlib.Path(os.environ.get("OUTRIDER_MODELS") or pathlib.Path.home() / ".cache" / "outrider" / "models")
SMOL = str(MODELS / "smollm2-135m-instruct-q4_1.gguf")
QWEN_SMALL = str(MODELS / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
GEMMA = str(MODELS / "gemma-3-270m-q4_k_m.gguf")
FIGURES = re.compile(r"^\d+ tokens?(, .*)?$")
HANG_S = float(os.environ.get("OUTRIDER_TEST_HANG_S") or 300)  # only to end a hanging test; nothing is measured

# Settings of the person who runs the tests must not change them; the choice of kernels and of models may.
KEPT = {"OUTRIDER_ISA", "OUTRIDER_MODELS"}
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("OUTRIDER_") or k in KEPT} | {"OUTRIDER_CALIBRATION": "off"}


class Outcome:
    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err
        self.lines = err.splitlines()

    @property
    def text(self): return self.out.decode()

    @property
    def json(self): return json.loads(self.out)

    def __repr__(self): return f"outrider {' '.join(map(str, self.arguments))}\ncode {self.code}\nstdout {self.out[:400]!r}\nstderr {self.err[:1200]}"


def run(*arguments, stdin=b"", environment=None, binary=PROGRAM, **more):
    arguments = [str(a) if not isinstance(a, bytes) else a for a in arguments]
    p = subprocess.run([binary, *arguments], input=stdin, stdout=more.pop("stdout", subprocess.PIPE),
                       stderr=subprocess.PIPE, env=ENVIRONMENT | (environment or {}), timeout=HANG_S, **more)
    return Outcome(arguments, p.returncode, p.stdout or b"", p.stderr.decode(errors="replace"))


def start(*arguments, environment=None, **more):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], **(dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE) | more), env=ENVIRONMENT | (environment or {}))


class ProgramTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        if not PROGRAM: sys.exit("OUTRIDER_BIN must name the program to test")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="outrider-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def device(self, name, minor):
        """A character device that a faulty program may destroy: root gets one of its own, others cannot harm that of the system."""
        if os.getuid() != 0: return "/dev/" + name
        path = str(self.folder / name)
        try: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except PermissionError: self.skipTest("devices cannot be made here")
        return path

    def refused(self, outcome, code, *words):
        """One line on stderr that holds the words, nothing on stdout, and the exit code: what every error looks like."""
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.out, b"", outcome)
        self.assertEqual(len(outcome.lines), 1, outcome)
        self.assertTrue(outcome.err.startswith("outrider: ") and outcome.err.endswith("\n"), outcome)
        for word in words: self.assertIn(str(word), outcome.err, outcome)
        return outcome

    def answered(self, outcome):
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def answer(self, *arguments, **more):
        """The object of --json."""
        outcome = self.answered(run(*arguments, "--json", **more))
        self.assertTrue(outcome.text.endswith("}\n") and outcome.text.count("\n") == 1, outcome)
        return outcome.json
