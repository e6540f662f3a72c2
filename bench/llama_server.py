"""llama.cpp's llama-server as a peer: one server per setting, answers read from its stream, wall clock on our side."""
import http.client, json, os, pathlib, re, signal, socket, subprocess, tempfile, time
import measure

START_TIMEOUT_S, ANSWER_TIMEOUT_S, STOP_TIMEOUT_S = 300, 1800, 30
BURST_S = 0.002  # tokens that arrive closer together left together: no step of a model worth drafting for is this short
REMEMBERING = ("ngram-mod", "ngram-cache")  # kinds that keep the n-grams of earlier requests
WARM_UP_TOKENS = 4


# ---- settings --------------------------------------------------------------------------------------------------------

def described(command):
    """(version line, n-gram kinds) the server tells about itself."""
    def words(flag): return subprocess.run([*command, flag], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300).stdout
    kinds = measure.first(r"--spec-type +([\w,-]+)", words("--help"), "").split(",")
    return measure.first(r"version: *(.*)", words("--version")), [k for k in kinds if k.startswith("ngram")]


def setting_flags(name, draft):
    """plain, draft-LENGTH-PMIN, a kind of --spec-type, or several of the last two joined by +."""
    kinds, flags = [], []
    for part in name.split("+"):
        length_and_p = re.fullmatch(r"draft-(\d+)-([\d.]+)", part)
        if length_and_p: flags += ["-md", draft, "--spec-draft-n-max", length_and_p[1], "--spec-draft-p-min", length_and_p[2]]
        if part != "plain": kinds.append("draft-simple" if length_and_p else part)
    return ["--spec-type", ",".join(kinds), *flags] if kinds else []


def remembers(name): return any(part in REMEMBERING for part in name.split("+"))


# ---- one server ------------------------------------------------------------------------------------------------------

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, command, flags):
        self.started, self.port, self.log = time.monotonic(), free_port(), tempfile.TemporaryFile("w+", errors="replace")
        arguments = [*command, *flags, "-np", 1, "--cache-ram", 0, "--host", "127.0.0.1", "--port", self.port]
        self.process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        try: self.wait_until_ready()
        except BaseException: self.stop(); raise

    def wait_until_ready(self):
        end = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < end:
            if self.process.poll() is not None: raise measure.Failed(f"llama-server ended with code {self.process.returncode}: {self.last_words()}")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200: return
            except (OSError, http.client.HTTPException): pass
            finally: connection.close()
            time.sleep(0.1)
        raise measure.Failed(f"llama-server was not ready after {START_TIMEOUT_S} s: {self.last_words()}")

    def last_words(self):
        self.log.seek(0)
        return (self.log.read().strip().splitlines() or ["no message"])[-1]

    def complete(self, request):
        """(arrivals, final event); arrivals are (seconds, tokens so far) of every event with text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_TIMEOUT_S)
        try:
            start = time.perf_counter()
            connection.request("POST", "/completion", json.dumps(request), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != 200: raise measure.Failed(f"llama-server answered {response.status}: {response.read(300).decode(errors='replace')}")
            return read_stream(response, start)
        except (OSError, http.client.HTTPException, ValueError) as e: raise measure.Failed(f"llama-server's stream broke: {e!r}; its last line: {self.last_words()}")
        finally: connection.close()

    def stop(self):
        """SIGINT to the whole group: a wrapper script waits for the server and tidies up."""
        for sign in (signal.SIGINT, signal.SIGKILL):
            try: os.killpg(self.process.pid, sign)
            except ProcessLookupError: pass
            try: self.process.wait(STOP_TIMEOUT_S); break
            except subprocess.TimeoutExpired: pass
        self.log.close()


def read_stream(response, start):
    lines = []
    for line in response:
        if line.startswith(b"data:"): lines.append((time.perf_counter() - start, line))
    events = [(at, json.loads(line[5:])) for at, line in lines]
    if not events or not events[-1][1].get("stop"): raise measure.Failed("llama-server ended its stream before the answer's end")
    texts = [(at, e) for at, e in events if e.get("content")]
    return [(at, e["tokens_predicted"]) for at, e in texts], events[-1][1] | dict(content="".join(e["content"] for _, e in texts))


def decode_rate(arrivals, limit):
    """(N - n1) / (tN - t1) in tokens/s, or None: n1 tokens left with the first one, N are out when the last text arrives."""
    first = next((tokens for (at, tokens), (after, _) in zip(arrivals, arrivals[1:]) if after - at > BURST_S), None)
    if first is None: return None
    return (min(arrivals[-1][1], limit) - first) / (arrivals[-1][0] - arrivals[0][0])


def answer(server, tokens, limit, sampling, ignore_eos):
    """One answer in the words of `outrider run --json`, as far as the comparison needs them."""
    arrivals, end = server.complete(dict(prompt=tokens, n_predict=limit, stream=True, cache_prompt=False, ignore_eos=ignore_eos, **sampling))
    timings = end.get("timings") or {}
    return dict(text=end["content"], prompt_tokens=end["tokens_evaluated"], completion_tokens=min(arrivals[-1][1], limit) if arrivals else 0,
                timings=dict(decode_tok_per_s=decode_rate(arrivals, limit), ttft_ms=arrivals[0][0] * 1e3 if arrivals else None, servers_own=timings),
                draft=dict(drafted=timings.get("draft_n", 0), accepted=timings.get("draft_n_accepted", 0)), arrivals=[(round(at * 1e3, 3), n) for at, n in arrivals])


# ---- several servers -------------------------------------------------------------------------------------------------

class Pool:
    """Servers by setting, at most `room` at once: the one that was idle longest gives way. Visits in the order A B B A reuse most."""

    def __init__(self, command, flags, draft, room):
        self.command, self.flags, self.draft, self.room, self.running = command, flags, draft, room, {}

    def answer(self, name, tokens, *request):
        server = self.running.pop(name, None)
        if server is None:
            while len(self.running) >= self.room: self.stop(next(iter(self.running)))
            server = Server(self.command, [*self.flags, *setting_flags(name, self.draft)])
            self.running[name] = server
            if not remembers(name): server.complete(dict(prompt=tokens[:8], n_predict=WARM_UP_TOKENS, stream=True, cache_prompt=False, temperature=0, ignore_eos=True))
        self.running[name] = server  # the last in line: in use most recently
        try: got = answer(server, tokens, *request)
        except BaseException: self.stop(name); raise
        if remembers(name): self.stop(name)
        return got

    def stop(self, name): self.running.pop(name).stop()

    def close(self):
        for name in sorted(self.running, key=lambda n: self.running[n].started, reverse=True): self.stop(name)  # what a wrapper set up goes with its first server


def room_in_memory(models, keep_gb=4):
    """How many servers fit: each holds its own rearranged copy of the weights, the files themselves are shared."""
    available = int(measure.first(r"MemAvailable: *(\d+)", pathlib.Path("/proc/meminfo").read_text(), "0")) * 1024
    return max(1, int((available - keep_gb * 1e9) / sum(os.path.getsize(m) for m in models)))
