"""Drafted and plain decoding end to end, outrider beside llama.cpp, over prompts/ by task, in one interleaved run.

  bench/peer --spec                                                    llama-server from the PATH, everything: hours
  bench/peer --spec --llama-server "/path/to/wrapper llama-server" --per-task 2 --rounds 2
  bench/peer --spec --tasks copy,edit --settings plain,draft-6-0.75,draft-6-0.75+ngram-mod

Arms: `outrider run --spec off`, `outrider run --draft` with default flags, outrider with one kind of drafter at a fixed length for each of
--own, and llama.cpp's llama-server in each of --settings:
  plain              no drafting (always measured)
  draft-LENGTH-PMIN  the same draft model (draft-simple, --spec-draft-n-max, --spec-draft-p-min)
  ngram-…            an n-gram kind with the server's defaults; default: all that it offers
  A+B                both together; `default` stands for plain, six draft-… and the n-gram kinds
Both engines get the same prompt tokens (the chat template and tokeniser are ours; token counts are compared), the same limit of
tokens, threads, context, and sampling: greedy, or with --temperature T also top-k 40, top-p 0.95, min-p 0.05. No prompt cache.
Answers end naturally or at --max-tokens; --ignore-eos makes them all equally long, but what follows an end is no usual text.
Decode speed is (N - n1) / (tN - t1) by the wall clock: ours from `--json`, theirs from the arrival of streamed events; tokens that
left with the first one are not counted. Every prompt is visited --rounds times, its arms in turn forwards and backwards (A B B A).
Servers stay up between visits as far as memory allows (an idle one uses no processor time); those whose n-gram memory outlives a
request are started anew for each. llama.cpp's threads spin while they wait for each other: with one processor busy elsewhere its speed
falls tenfold, so a run on a busy machine says nothing.
What our drafting learns (odds and prices, no text) goes from answer to answer within the run, as in daily use, and starts from nothing.
Figures: geometric means of ratios within a visit, bootstrap 95 % interval over prompts and rounds, tasks of equal weight. The peer's
best setting is chosen on the same figures that are reported, which favours the peer. Raw rows: build/bench/peer-spec-TIME.jsonl.
"""
import argparse, math, re, shlex, shutil, signal, statistics, sys, tempfile, time
import llama_server, measure

PLAIN, OURS_PLAIN, OURS_SPEC, OURS = "plain", "ours plain", "ours spec", "ours "
OWN = ["model:max=3,p_min=0.5", "model:max=6,p_min=0.6", "model:max=7", "lookup:max=7", "lookup:max=31", "recycle:max=7"]
DRAFTS = [f"draft-{length}-{p_min}" for p_min in ("0", "0.75") for length in (3, 6, 10)]
SAMPLING = dict(top_k=40, top_p=0.95, min_p=0.05)


# ---- one answer ------------------------------------------------------------------------------------------------------

def sampling_of(o, number):
    return dict(temperature=0) if o.temperature == 0 else dict(temperature=o.temperature, seed=1000 + number, **SAMPLING)


def prompt_tokens(o, prompt):
    """The ids that `outrider run` makes of the prompt."""
    said = [x for m in prompt["messages"] for x in ("--system" if m["role"] == "system" else "-p", m["content"])]
    text = measure.run_text([o.outrider, "template", "-m", o.model, *said])
    return measure.run_json([o.outrider, "tokenize", "-m", o.model, "--json", "--no-bos", "-p", text])["ids"]


def ours(o, arm, prompt, limit, sampling):
    command = [o.outrider, "run", "-m", o.model, "--json", "-t", o.threads, "-c", o.context, "-n", limit]
    for m in prompt["messages"]: command += ["--system" if m["role"] == "system" else "-p", m["content"]]
    for name, value in sampling.items(): command += ["--" + name.replace("_", "-"), value]
    return measure.run_json([*command, *(["--ignore-eos"] if o.ignore_eos else []), *drafting(o, arm)])


def drafting(o, arm):
    if arm == OURS_PLAIN: return ["--spec", "off"]
    return ["--draft", o.draft, "--calibration", o.calibration, *([] if arm == OURS_SPEC else ["--spec", arm.removeprefix(OURS) + ",fixed=1,width=1"])]


def run_arm(o, pool, arm, prompt, tokens, number):
    limit, sampling = min(prompt["max_tokens"], o.max_tokens), sampling_of(o, number)
    got = ours(o, arm, prompt, limit, sampling) if arm.startswith(OURS) else pool.answer(arm, tokens, limit, sampling, o.ignore_eos)
    if got["prompt_tokens"] != len(tokens): raise measure.Failed(f"{arm} read {got['prompt_tokens']} prompt tokens, not {len(tokens)}")
    return got


# ---- visits ----------------------------------------------------------------------------------------------------------

def visit(o, pool, rows, prompt, number, forward):
    """{task, prompt, answers {arm: facts}, failures}: every arm once on one prompt."""
    done, tokens = dict(task=prompt["task"], prompt=prompt["id"], answers={}, failures=0), prompt_tokens(o, prompt)
    for arm in o.arms if forward else o.arms[::-1]:
        try: got = run_arm(o, pool, arm, prompt, tokens, number)
        except measure.Failed as e:
            done["failures"] += 1
            rows.add("failure", prompt=prompt["id"], round=number, arm=arm, what=str(e))
            print(f"FAILED: {prompt['id']}, {arm}: {e}", flush=True)
            continue
        rows.add("answer", prompt=prompt["id"], task=prompt["task"], round=number, arm=arm, **got)
        draft, rate = got.get("draft") or {}, got["timings"]["decode_tok_per_s"]
        done["answers"][arm] = dict(text=got["text"], tokens=got["completion_tokens"], drafted=draft.get("drafted", 0), accepted=draft.get("accepted", 0),
                                    rate=rate if rate and got["completion_tokens"] >= o.shortest else None)
    plain, drafted = (done["answers"].get(a) for a in (OURS_PLAIN, OURS_SPEC))
    if plain and drafted and plain["text"] != drafted["text"]: print(f"DIFFERENT TEXT: {prompt['id']}, ours plain and drafted; both are in {rows.path}", flush=True)
    return done


def run_visits(o, pool, rows, prompts):
    """visits, probes; stopped by Ctrl-C it returns what it has."""
    visits, probes, start = [], [], time.monotonic()
    plan = [(number, p) for number in range(o.rounds) for ps in prompts.values() for p in ps]
    try:
        for turn, (number, prompt) in enumerate(plan):
            before = measure.probe(o.threads)
            visits.append(visit(o, pool, rows, prompt, number, forward=turn % 2 == 0))
            probes += [before, measure.probe(o.threads)]
            rows.add("probe", prompt=prompt["id"], round=number, before=before, after=probes[-1])
            shown = {a: round(f["rate"], 1) for a, f in visits[-1]["answers"].items() if f["rate"]}
            left = (time.monotonic() - start) / (turn + 1) * (len(plan) - turn - 1)
            print(f"{turn + 1} of {len(plan)}, {prompt['id']}: {shown} tok/s; about {left / 60:.0f} min left", flush=True)
    except KeyboardInterrupt: print("\nstopped; the report covers what was measured")
    return visits, probes


# ---- report ----------------------------------------------------------------------------------------------------------

def ratios(visits, over, under):
    """[tasks][prompts][rounds] of over / under, each {task: arm}; empty lists left out."""
    tasks = {}
    for v in visits:
        a, b = (v["answers"].get(arm[v["task"]], {}).get("rate") for arm in (over, under))
        if a and b: tasks.setdefault(v["task"], {}).setdefault(v["prompt"], []).append(a / b)
    return [list(prompts.values()) for prompts in tasks.values()]


def centre(tree): return math.exp(measure.mean_log(tree, lambda node, level: node)) if tree else math.nan


def everywhere(visits, arm): return {v["task"]: arm for v in visits}


def best_setting(visits, settings, plain=PLAIN):
    """The setting that is fastest over the same engine's plain decoding; plain itself is one of them."""
    gains = {name: centre(ratios(visits, everywhere(visits, name), everywhere(visits, plain))) for name in settings}
    return max(settings, key=lambda name: 0 if math.isnan(gains[name]) else gains[name])


def report_settings(o, visits):
    """Every arm: speed, share of accepted tokens, and its gain per task over the same engine's plain decoding."""
    tasks = list(everywhere(visits, PLAIN))
    width = max(len(a) for a in o.arms) + 2
    print(f"\ngain over the same engine's plain decoding, per task\n{'':{width}} {'tok/s':>7} {'accepted':>8}  {'all':>6} " + " ".join(f"{t:>11}" for t in tasks))
    for arm in o.arms:
        base = OURS_PLAIN if arm.startswith(OURS) else PLAIN
        gains = [centre(ratios([v for v in visits if wanted in (None, v["task"])], everywhere(visits, arm), everywhere(visits, base))) for wanted in (None, *tasks)]
        facts = [v["answers"][arm] for v in visits if arm in v["answers"]]
        rates, drafted, accepted = [f["rate"] for f in facts if f["rate"]], sum(f["drafted"] for f in facts), sum(f["accepted"] for f in facts)
        print(f"{arm:{width}} {statistics.fmean(rates) if rates else math.nan:7.2f} {accepted / drafted if drafted else 0:8.0%}  {gains[0]:6.3f} " + " ".join(f"{g:11.3f}" for g in gains[1:]))


def report_ratio(rows, visits, name, what, over, under):
    tree = ratios(visits, over, under)
    if not tree: return print(f"  {what:62} not measured")
    result = measure.bootstrap(tree, fixed_levels=1)
    print(f"  {what:62} {measure.ratio_text(*result):26} {measure.verdict(*result[1:])}")
    rows.add("summary", scope=name, what=what, ratio=result[0], low=result[1], high=result[2])


def report_scope(rows, name, visits, settings, single, per_task, own_best):
    """The comparisons for one task, or for all."""
    of = lambda arm: everywhere(visits, arm)
    print(f"\n{name}: {len({v['prompt'] for v in visits})} prompt(s)")
    report_ratio(rows, visits, name, "ours: drafted / plain", of(OURS_SPEC), of(OURS_PLAIN))
    report_ratio(rows, visits, name, "plain: ours / llama.cpp", of(OURS_PLAIN), of(PLAIN))
    if own_best: report_ratio(rows, visits, name, "ours drafted / our best fixed setting of each task" if name == "all tasks" else f"ours drafted / our best fixed, {own_best[name]}", of(OURS_SPEC), own_best)
    if settings == [PLAIN]: return
    own = "each task's best" if len(set(everywhere(visits, 0))) > 1 else f"this task's best, {per_task[visits[0]['task']]}"
    for words, choice in ((f"one setting for all, {single}", of(single)), (own, per_task)):
        report_ratio(rows, visits, name, f"llama.cpp ({words}) / its plain", choice, of(PLAIN))
        report_ratio(rows, visits, name, f"ours drafted / llama.cpp ({words})", of(OURS_SPEC), choice)


def report(o, rows, visits):
    report_settings(o, visits)
    single = best_setting(visits, o.settings)
    best_by_task = lambda settings, plain: {t: best_setting([v for v in visits if v["task"] == t], settings, plain) for t in everywhere(visits, 0)}
    per_task, own_best = best_by_task(o.settings, PLAIN), best_by_task([OURS_PLAIN, *o.own_arms], OURS_PLAIN) if o.own_arms else {}
    for task in per_task: report_scope(rows, task, [v for v in visits if v["task"] == task], o.settings, single, per_task, own_best)
    if len(per_task) > 1: report_scope(rows, "all tasks", visits, o.settings, single, per_task, own_best)
    rows.add("best", single=single, per_task=per_task, own=own_best)


def differing(visits, arm, base):
    pairs = [(v["answers"][arm]["text"], v["answers"][base]["text"]) for v in visits if arm in v["answers"] and base in v["answers"]]
    return sum(a != b for a, b in pairs), len(pairs)


def report_texts(o, visits):
    """How many answers are other texts; returns ours, which must be none."""
    drafted = [differing(visits, a, OURS_PLAIN) for a in (OURS_SPEC, *o.own_arms)]
    wrong, pairs = (sum(x) for x in zip(*drafted))
    said = f"\nother texts than plain decoding's: ours drafted {wrong} of {pairs}"
    if o.temperature == 0: said += "".join(f", llama.cpp {s} {'{} of {}'.format(*differing(visits, s, PLAIN))}" for s in o.settings if s != PLAIN)
    print(said + ("; plain, ours against llama.cpp {} of {}".format(*differing(visits, OURS_PLAIN, PLAIN)) if o.temperature == 0 else ""))
    return wrong


# ---- the program -----------------------------------------------------------------------------------------------------

def options():
    a = argparse.ArgumentParser(prog="bench/peer --spec", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("-m", "--model", default="qwen2.5-coder-1.5b", help="path or catalog name")
    a.add_argument("--draft", default="qwen2.5-coder-0.5b", help="draft model of both engines, path or catalog name")
    a.add_argument("--outrider", default=str(measure.ROOT / "build" / "release" / "outrider"))
    a.add_argument("--llama-server", default="llama-server", help="command of llama.cpp's llama-server")
    a.add_argument("--settings", default="default", help="llama.cpp's settings, comma-separated")
    a.add_argument("--own", default="default", help="our own settings KIND:key=value,…, separated by spaces; default: " + " ".join(OWN) + "; empty: none")
    a.add_argument("--servers", type=int, default=0, help="servers that may be up at once; 0: as memory allows")
    a.add_argument("--prompts", default=str(measure.ROOT / "prompts" / "outrider.jsonl"))
    a.add_argument("--tasks", default="", help="comma-separated; all when empty")
    a.add_argument("--per-task", type=int, default=0, help="only the first N prompts of each task")
    a.add_argument("--max-tokens", type=int, default=128, help="tokens of an answer at most; a prompt's own lower limit holds")
    a.add_argument("--rounds", type=int, default=2)
    a.add_argument("--temperature", type=float, default=0.0)
    a.add_argument("--ignore-eos", action="store_true", help="go on after the end, up to the limit")
    a.add_argument("--shortest", type=int, default=16, help="answers with fewer tokens are not timed")
    a.add_argument("-c", "--context", type=int, default=4096)
    a.add_argument("-t", "--threads", type=int, default=2)
    a.add_argument("-o", "--rows", help="file for the raw rows")
    o = a.parse_args()
    o.model, o.draft, o.llama_server = measure.model_path(o.model), measure.model_path(o.draft), shlex.split(o.llama_server)
    for command, option in ((o.llama_server, "--llama-server"), ([o.outrider], "--outrider")):
        if not (command and shutil.which(command[0])): sys.exit(f"peer: there is no program «{' '.join(command)}». Name it with {option}.")
    return o


def chosen_settings(text, offered):
    """plain first, then what was asked for, once each."""
    names = [n for part in text.split(",") if part for n in ([*DRAFTS, *offered] if part == "default" else [part])]
    for name in names:
        for part in name.split("+"):
            if not (part == PLAIN and name == PLAIN or re.fullmatch(r"draft-[1-9]\d*-[\d.]+", part) or part in offered):
                sys.exit(f"peer: there is no setting «{name}». Settings: plain, draft-LENGTH-PMIN, {', '.join(offered) or '(this server offers no n-gram kind)'}, or some of them joined by +.")
    return list(dict.fromkeys([PLAIN, *names]))


def interrupt(*_): raise KeyboardInterrupt


def main():
    o = options()
    signal.signal(signal.SIGTERM, interrupt)  # no server outlives us
    version, offered = llama_server.described(o.llama_server)
    o.settings = chosen_settings(o.settings, offered)
    o.own_arms = [OURS + s for s in (OWN if o.own == "default" else o.own.split())]
    o.arms = [OURS_SPEC, OURS_PLAIN, *o.own_arms, *o.settings]
    room = o.servers or llama_server.room_in_memory([o.model, o.draft])
    prompts = measure.load_prompts(o.prompts, [t for t in o.tasks.split(",") if t], o.per_task)
    measure.warn_if_busy()
    rows = measure.Rows(o.rows, "peer-spec")
    rows.add("card", **measure.card(o.outrider, [o.model, o.draft], sys.argv[1:]), peer=version, settings=o.settings, servers_at_once=room, ignore_eos=o.ignore_eos, temperature=o.temperature)
    pool = llama_server.Pool(o.llama_server, ["-m", o.model, "-t", o.threads, "-c", o.context], o.draft, room)
    with tempfile.TemporaryDirectory(prefix="outrider-calibration-") as o.calibration:
        try: visits, probes = run_visits(o, pool, rows, prompts)
        finally: pool.close()
    if not probes: sys.exit(f"peer: nothing was measured; see {rows.path}")
    report(o, rows, visits)
    wrong, failures = report_texts(o, visits), sum(v["failures"] for v in visits)
    print(f"visits {len(visits)}, failed answers {failures}, up to {room} servers at once\n{measure.steadiness(probes)}\nraw rows: {rows.path}")
    sys.exit(1 if wrong or failures else 0)
