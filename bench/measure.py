"""What the programs of bench/ share: statistics of ratios, the state of the machine, the card, raw rows."""
import datetime, hashlib, json, math, multiprocessing, os, pathlib, platform, random, re, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FASTER, SLOWER, UNDECIDED = "faster", "slower", "no difference shown"
MARGIN = 1.03  # a ratio counts only when its whole interval lies beyond this


class Failed(Exception):
    """A command that was measured did not do its work; the text is its own last line."""


# ---- statistics ------------------------------------------------------------------------------------------------------

def quartiles(values):
    if len(values) == 1: return values[0], values[0], values[0]
    q1, q2, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return q1, q2, q3


def mean_log(node, pick, level=0):
    if not isinstance(node, list): return math.log(node)
    return statistics.fmean(mean_log(child, pick, level + 1) for child in pick(node, level))


def varies(node, fixed_levels, level=0):
    """Is there a list with something to draw from at a level that is resampled?"""
    if not isinstance(node, list): return False
    return level >= fixed_levels and len(node) > 1 or any(varies(child, fixed_levels, level + 1) for child in node)


def bootstrap(ratios, fixed_levels=0, resamples=4000, seed=1):
    """Geometric mean of ratios with its 95 % interval: (centre, low, high).

    ratios is a nested list, e.g. [prompts][repeats] or [tasks][prompts][repeats]. The children of a list weigh the same. Each
    level is resampled, except the outermost fixed_levels (tasks are chosen, not drawn)."""
    centre = math.exp(mean_log(ratios, lambda node, level: node))
    if not varies(ratios, fixed_levels): return centre, math.nan, math.nan
    dice = random.Random(seed)
    means = sorted(mean_log(ratios, lambda node, level: node if level < fixed_levels else dice.choices(node, k=len(node))) for _ in range(resamples))
    return centre, math.exp(means[int(0.025 * resamples)]), math.exp(means[int(0.975 * resamples) - 1])


def verdict(low, high):
    if low > MARGIN: return FASTER
    if high < 1 / MARGIN: return SLOWER
    return UNDECIDED


def ratio_text(centre, low, high):
    interval = "(one value)" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"
    return f"{centre:.3f} {interval:16}"


# ---- the machine -----------------------------------------------------------------------------------------------------

def copy_worker(seconds, out):
    size = 96 << 20  # larger than any cache we meet
    source, target = bytearray(size), bytearray(size)
    view, copies, end = memoryview(target), 0, time.perf_counter() + seconds
    start = time.perf_counter()
    while time.perf_counter() < end:
        view[:] = source
        copies += 1
    out.put(2 * size * copies / (time.perf_counter() - start) / 1e9)


def probe(threads, seconds=0.5):
    """The machine's mode right now: memory traffic of `threads` copying processes, and how fast one core hashes."""
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=copy_worker, args=(seconds, out)) for _ in range(threads)]
    for w in workers: w.start()
    traffic = sum(out.get() for _ in workers)
    for w in workers: w.join()
    block, start = bytes(16 << 20), time.perf_counter()
    hashlib.sha256(block).digest()
    return dict(copy_gb_per_s=round(traffic, 2), hash_mb_per_s=round(16.78 / (time.perf_counter() - start), 1), load=round(os.getloadavg()[0], 2))


def steadiness(probes):
    """A line for the report: did the machine stay in one mode?"""
    copies = [p["copy_gb_per_s"] for p in probes]
    middle = statistics.median(copies)
    spread = max(abs(c - middle) / middle for c in copies)
    word = "steady" if spread <= 0.1 else "NOT steady: some rounds ran in another mode, see the raw rows"
    return f"memory copy {middle:.1f} GB/s, furthest probe {spread:.0%} away ({word})"


def first(pattern, text, default="unknown"):
    found = re.search(pattern, text, re.M)
    return found[1].strip() if found else default


def output_of(command):
    try: return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired): return ""


def file_facts(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20): digest.update(block)
    return dict(file=pathlib.Path(path).name, bytes=os.path.getsize(path), sha256=digest.hexdigest())


def card(outrider, models, arguments):
    """Everything a reader needs to judge or repeat the run."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    governor = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return dict(time=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), cpu=first(r"model name\s*:(.*)", cpu), cpus=os.cpu_count(),
                governor=governor.read_text().strip() if governor.exists() else "unknown", kernel=platform.release(),
                memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1), commit=output_of(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
                outrider=output_of([outrider, "version"]), models=[file_facts(m) for m in models], arguments=arguments)


def warn_if_busy():
    load = os.getloadavg()[0]
    if load > 0.25 * os.cpu_count():
        print(f"note: this machine has been busy (load {load:.1f}); figures from a busy machine mean little", flush=True)


# ---- prompts ---------------------------------------------------------------------------------------------------------

def load_prompts(path, tasks, per_task):
    """{task: prompts}, of some tasks when named, the first per_task of each when not 0."""
    prompts, skipped = {}, 0
    for line in open(path, encoding="utf-8"):
        p = json.loads(line)
        if tasks and p["task"] not in tasks: continue
        roles = [m["role"] for m in p["messages"]]
        if roles not in (["user"], ["system", "user"]): skipped += 1; continue
        prompts.setdefault(p["task"], []).append(p)
    if skipped: print(f"{skipped} prompt(s) with earlier turns are left out: `outrider run` takes one message")
    if missing := set(tasks) - set(prompts): sys.exit(f"bench: no prompts for the task(s) {', '.join(sorted(missing))} in {path}")
    return {t: ps[:per_task] if per_task else ps for t, ps in prompts.items()}


# ---- running and keeping ---------------------------------------------------------------------------------------------

def run_text(command, timeout_s=1800, environment=None):
    """What a command prints."""
    try: done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, env=environment)
    except OSError as e: raise Failed(f"{command[0]}: {e.strerror}")
    except subprocess.TimeoutExpired: raise Failed(f"{command[0]} ran longer than {timeout_s} s")
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise Failed(f"{command[0]} ended with code {done.returncode}: {words[-1]}")
    return done.stdout


def run_json(command, timeout_s=1800, environment=None):
    """The JSON a command prints, the last value when llama.cpp prints lines before it."""
    text = run_text(command, timeout_s, environment)
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    try: return json.loads(text[start:])
    except ValueError: raise Failed(f"{command[0]} did not print JSON: {text[:80]!r}")


class Rows:
    """Raw rows as JSON lines, written as they happen, so that a stopped run leaves what it measured."""

    def __init__(self, path, name):
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        self.path = pathlib.Path(path) if path else ROOT / "build" / "bench" / f"{name}-{stamp}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.path, "w")

    def add(self, kind, **values):
        self.file.write(json.dumps(dict(kind=kind, **values), ensure_ascii=False) + "\n")
        self.file.flush()


def model_path(name):
    """A path, or a name of models/catalog.json."""
    if os.path.exists(name): return os.path.abspath(name)
    folder = os.environ.get("OUTRIDER_MODELS") or os.path.expanduser("~/.cache/outrider/models")
    for m in json.loads((ROOT / "models" / "catalog.json").read_text())["models"]:
        path = os.path.join(folder, m["file"])
        if name in (m["name"], m["file"]) and os.path.exists(path): return path
    sys.exit(f"bench: there is no model file «{name}». Give a path, or fetch it: tools/fetch_models {name}")
