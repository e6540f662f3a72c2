"""The Python packages of the oracles, in a virtual environment of their own that the first run makes."""
import importlib.util, os, pathlib, subprocess, sys

PACKAGES = {"numpy": "numpy==2.4.6", "gguf": "gguf==0.19.0"}


def ensure():
    """Returns when numpy and gguf can be imported; until then, runs this program again where they can be."""
    if all(importlib.util.find_spec(name) for name in PACKAGES): return
    home = pathlib.Path(os.environ.get("OUTRIDER_VENV") or os.path.expanduser("~/.cache/outrider/venv"))
    python = home / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == home.resolve() or not python.exists() or not has_packages(python):
        if pathlib.Path(sys.prefix).resolve() != home.resolve() and not python.exists():
            print(f"making the oracles' environment in {home} (once)", file=sys.stderr)
            run([sys.executable, "-m", "venv", home], "Install the Debian package python3-venv.")
        run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES.values()], "Check the network and pip's index settings.")
    os.execv(python, [str(python), *sys.argv])


def has_packages(python):
    code = "import importlib.util, sys; sys.exit(not all(importlib.util.find_spec(n) for n in sys.argv[1:]))"
    return subprocess.run([python, "-c", code, *PACKAGES]).returncode == 0


def run(command, hint):
    try: subprocess.check_call([str(c) for c in command])
    except (OSError, subprocess.CalledProcessError) as e: sys.exit(f"oracle environment: {e}. {hint}")
