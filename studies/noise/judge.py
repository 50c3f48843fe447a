#!/usr/bin/env python3
"""Judges comparisons of recorded runs by `fathom check` and its peers' rules, with the truth known.

    studies/noise/judge.py --fathom build/bin/fathom-gate
    studies/noise/judge.py --fathom build/bin/fathom-gate --programs unseen --paired 100

A comparison is a suite of one tool: its earlier runs, and later ones of the head, in which one
program does 0, 2, 5 or 10 % more work (record.py). Runs of both sides are drawn from a recording
without a run twice. A false alarm is a slowdown told of a program that does the same work. Python's
standard library alone: the peers' rules are written here, and test_peers.py compares them with the
peers.
"""

import argparse
import csv
import datetime
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("hyperfine", "pytest-benchmark", "google-benchmark")
SLOWDOWNS = ("2", "5", "10")
HEADS = 3
# What a paired check has time for in its 180 s: measuring a program took 0.1 s (511 s of recording
# for 420 runs of twelve).
PROGRAMS_IN_TIME = 1800


class Recording:
    """runs[tool][round][variant]: when it began, and each program's samples in seconds."""

    def __init__(self, path, which):
        self.runs = {tool: {} for tool in TOOLS}
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        kinds = {tool: {} for tool in TOOLS}
        for row in rows:
            programs = kinds[row["tool"]].setdefault(row["program"].split("-")[0], [])
            if row["program"] not in programs:
                programs.append(row["program"])
        # The last of each kind's three programs is the unseen one.
        chosen = {"seen": slice(0, 2), "unseen": slice(2, 3), "all": slice(0, 3)}[which]
        self.programs = {
            tool: [name for names in kinds[tool].values() for name in names[chosen]]
            for tool in TOOLS
        }
        for row in rows:
            if row["program"] not in self.programs[row["tool"]]:
                continue
            variants = self.runs[row["tool"]].setdefault(int(row["round"]), {})
            began, samples = variants.setdefault(row["variant"], (float(row["began_s"]), {}))
            samples[row["program"]] = [float(text) * 1e-7 for text in row["samples_100ns"].split()]
        # A recording that was stopped may end with part of a round.
        self.rounds = min(
            sum(
                len(variants) == 5
                and all(len(run[1]) == len(self.programs[tool]) for run in variants.values())
                for variants in self.runs[tool].values()
            )
            for tool in TOOLS
        )

    def describe(self):
        """How far the runs' medians spread, and how slow the slowed programs really were."""
        spread, found = [], {slowdown: [] for slowdown in SLOWDOWNS}
        for tool in TOOLS:
            for name in self.programs[tool]:

                def medians(variant):
                    return [
                        math.log(statistics.median(self.runs[tool][number][variant][1][name]))
                        for number in range(self.rounds)
                    ]

                same = [(a + b) / 2 for a, b in zip(medians("0a"), medians("0b"))]
                for slowdown in SLOWDOWNS:
                    slower = [math.expm1(a - b) for a, b in zip(medians(slowdown), same)]
                    found[slowdown].append(statistics.median(slower))
                both = medians("0a") + medians("0b")
                middle = statistics.median(both)
                spread.append(1.4826 * statistics.median(abs(value - middle) for value in both))
        tenths = statistics.quantiles(spread, n=10)
        print(
            f"{self.rounds} rounds, {len(spread)} programs. A run's median differs from run to run "
            f"by (robust standard deviation) {statistics.median(spread):.2%} in the median "
            f"program, {tenths[0]:.2%} to {tenths[-1]:.2%} from the tenth to the ninetieth "
            "percentile."
        )
        for slowdown, values in found.items():
            print(
                f"Slowed by {slowdown} %: {min(values):.1%} to {max(values):.1%} as recorded, "
                f"{statistics.median(values):.1%} in the median program."
            )


def document(tool, run):
    """A run as the tool's own file."""
    began, programs = run
    date = datetime.datetime.fromtimestamp(1_760_000_000 + began, datetime.timezone.utc).isoformat()
    if tool == "hyperfine":
        return {"results": [{"command": name, "median": statistics.median(s), "times": s,
                             "exit_codes": [0] * len(s)} for name, s in programs.items()]}
    if tool == "pytest-benchmark":
        return {"machine_info": {"node": "study"}, "datetime": date, "benchmarks": [
            {"fullname": name,
             "stats": {"min": min(s), "median": statistics.median(s), "total": sum(s), "data": s}}
            for name, s in programs.items()]}
    return {"context": {"date": date, "host_name": "study", "num_cpus": 2}, "benchmarks": [
        {"name": name, "run_type": "iteration", "real_time": sample * 1e6,
         "cpu_time": sample * 1e6, "time_unit": "us"}
        for name, s in programs.items() for sample in s]}


def write(path, tool, run):
    path.write_text(json.dumps(document(tool, run)))
    os.utime(path, (1_760_000_000 + run[0],) * 2)  # the date where the file names none


def slowed(run, slower, name):
    return (run[0], run[1] | {name: slower[1][name]}) if name else run


class Comparison:
    """`earlier` and `head`: runs in the order of time; `name`: the slowed program or None."""

    def __init__(self, recording, chance, number, slowdown, earlier):
        self.tool = TOOLS[number % len(TOOLS)]
        runs = recording.runs[self.tool]
        self.name = chance.choice(recording.programs[self.tool]) if slowdown != "0" else None
        first = chance.randrange((earlier + 1) // 2, recording.rounds - HEADS + 1)
        before = [runs[number][variant] for number in range(first) for variant in ("0a", "0b")]
        self.earlier = sorted(chance.sample(before, earlier), key=lambda run: run[0])
        self.head = [
            slowed(runs[number][chance.choice(("0a", "0b"))], runs[number].get(slowdown), self.name)
            for number in range(first, first + HEADS)
        ]
        # For the paired mode: rounds from one on, with a coin for which of two like runs is whose.
        start = chance.randrange(max(1, recording.rounds - 19))
        self.pairs = []
        for number in range(start, recording.rounds):
            a, b = chance.sample(("0a", "0b"), 2)
            head = slowed(runs[number][b], runs[number].get(slowdown), self.name)
            self.pairs.append((runs[number][a], head))


def regressions(result):
    return {metric["name"] for metric in result["metrics"] if metric["outcome"] == "regression"}


def fathom(program, arguments, folder):
    out = folder / "check.json"
    command = [program, "check", *arguments, "--json", out]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1, 3, 4):
        raise SystemExit(f"fathom check ended with {ended.returncode}: {ended.stderr}")
    return ended.returncode, json.loads(out.read_text())


def by_stored(program, earlier, heads, kept):
    """`kept`: what `fathom baseline add` makes of a run, which many comparisons have."""

    def keep(tool, run, folder):
        if id(run[1]) not in kept:
            write(folder / "add.json", tool, run)
            command = [program, "baseline", "add", "add.json", "--baseline", "add"]
            subprocess.run(command, check=True, cwd=folder, capture_output=True)
            (file,) = (folder / "add").glob("*/*.json")
            kept[id(run[1])] = file.relative_to(folder / "add"), file.read_bytes()
            shutil.rmtree(folder / "add")
        name, content = kept[id(run[1])]
        (folder / "baseline" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "baseline" / name).write_bytes(content)

    def judge(comparison, folder):
        for run in comparison.earlier[-earlier:]:
            keep(comparison.tool, run, folder)
        files = [folder / f"head.{number}.json" for number in range(heads)]
        for file, run in zip(files, comparison.head):
            write(file, comparison.tool, run)
        code, result = fathom(program, [*files, "--baseline", folder / "baseline"], folder)
        return regressions(result) if code == 1 else None if code == 3 else set()

    return judge


def by_paired(program):
    def judge(comparison, folder):
        for side, runs in zip(("base", "head"), zip(*comparison.pairs)):
            for number, run in enumerate(runs):
                write(folder / f"{side}.{number}", comparison.tool, run)
            (folder / f"{side}.next").write_text("0")
        # A check that wants more rounds than were recorded goes around the recording again.
        recorded = len(comparison.pairs)
        most = PROGRAMS_IN_TIME // len(comparison.head[0][1]) // 2
        next_file = (
            f"cd {folder} && n=$(cat $FATHOM_CHECK_SIDE.next) && test $n -lt {most} && "
            f"cp $FATHOM_CHECK_SIDE.$((n % {recorded})) {{out}} && "
            "echo $((n+1)) >$FATHOM_CHECK_SIDE.next"
        )
        arguments = ["--base", next_file, "--head", next_file, "--seed", "1"]
        code, result = fathom(program, arguments, folder)
        used = [int((folder / f"{side}.next").read_text()) for side in ("base", "head")]
        judge.rounds.append(sum(used))
        judge.went_around += max(used) > recorded
        return regressions(result) if code == 1 else set() if code == 0 else None

    judge.rounds, judge.went_around = [], 0
    return judge


def u_test(a, b):
    """Two-sided p as scipy.stats.mannwhitneyu has it for nine or more: normal, ties, continuity."""
    both = sorted(a + b)
    rank, ties, at = {}, 0, 0
    while at < len(both):
        end = at
        while end < len(both) and both[end] == both[at]:
            end += 1
        rank[both[at]] = (at + 1 + end) / 2
        ties += (end - at) ** 3 - (end - at)
        at = end
    n, total = len(a) * len(b), len(both)
    u = sum(rank[value] for value in a) - len(a) * (len(a) + 1) / 2
    deviation = math.sqrt(n / 12 * (total + 1 - ties / (total * (total - 1))))
    if deviation == 0:
        return 1.0
    return min(1.0, math.erfc((abs(u - n / 2) - 0.5) / deviation / math.sqrt(2)))


# How much slower a rule calls the head, and from where on it says so.
def compare_py(base, head):
    """tools/compare.py benchmarks: whether the times differ; the reader sees which are slower."""
    return -u_test(base, head) if statistics.median(head) > statistics.median(base) else -1.0


def nvbench_legacy(base, head):
    """nvbench-compare-legacy: a difference of means beyond the smaller relative deviation."""
    noise = min(statistics.stdev(s) / statistics.mean(s) for s in (base, head))
    return (statistics.mean(head) / statistics.mean(base) - 1) / noise


def nvbench_robust(base, head):
    """nvbench-compare-robust: the head's fastest sample is slower than the base's third quartile.
    Its second condition, that the same holds in clocks of the GPU, has no meaning here."""
    third_quartile = sorted(base)[(75 * (len(base) - 1) + 50) // 100]
    return min(head) / third_quartile - 1


def median(base, head):
    """pytest-benchmark's check of the field median."""
    return statistics.median(head) / statistics.median(base) - 1


RULES = (
    ("`compare.py`, U test at 5 %", compare_py, -0.05),
    ("nvbench, legacy: difference > smaller noise", nvbench_legacy, 1.0),
    ("nvbench, robust: gap > 0.5 %", nvbench_robust, 0.005),
    ("`--benchmark-compare-fail=median:5%`, as median > 5 %", median, 0.05),
)


def scores(rule, earlier, heads, comparison):
    def samples(runs, name):
        return [sample for run in runs for sample in run[1][name]]

    base, head = comparison.earlier[-earlier:], comparison.head[:heads]
    return {name: rule(samples(base, name), samples(head, name)) for name in head[0][1]}


def by_rule(rule, limit, earlier, heads):
    def judge(comparison, _):
        found = scores(rule, earlier, heads, comparison)
        return {name for name, score in found.items() if score > limit}

    return judge


def limit_with_hindsight(rule, earlier, heads, comparisons, most):
    """The lowest limit that gives at most so many of these comparisons a false alarm."""
    worst = []
    for comparison in comparisons:
        found = scores(rule, earlier, heads, comparison)
        worst.append(max(score for name, score in found.items() if name != comparison.name))
    return sorted(worst, reverse=True)[most]


def tally(judge, comparisons):
    """(found, missed, undecided, comparisons with a false alarm) and seconds a decision."""
    found = missed = undecided = false = 0
    start = time.monotonic()
    for comparison in comparisons:
        with tempfile.TemporaryDirectory() as folder:
            told = judge(comparison, pathlib.Path(folder))
        undecided += told is None
        false += bool((told or set()) - {comparison.name})
        if comparison.name and told is not None:
            found += comparison.name in told
            missed += comparison.name not in told
    return (found, missed, undecided, false), (time.monotonic() - start) / max(1, len(comparisons))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--fathom", required=True, help="fathom or fathom-gate")
    parser.add_argument("--recording", default=HERE / "own-core.csv")
    parser.add_argument("--programs", choices=("seen", "unseen", "all"), default="seen")
    parser.add_argument("--comparisons", type=int, default=100, help="of each slowdown and of none")
    parser.add_argument(
        "--paired", type=int, default=60, help="how many of them in the paired mode as well"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = os.path.abspath(options.fathom)
    recording = Recording(options.recording, options.programs)
    recording.describe()
    earlier = 30 if recording.rounds > 20 else 10
    chance = random.Random(options.seed)
    numbers = range(options.comparisons)
    cases = {
        slowdown: [Comparison(recording, chance, n, slowdown, earlier) for n in numbers]
        for slowdown in ("0", *SLOWDOWNS)
    }
    columns = [f"{s} % slower: found, missed, undecided (false alarms)" for s in SLOWDOWNS]
    print(
        f"\n| judge | same: false alarms, undecided of {options.comparisons} | "
        f"{' | '.join(columns)} | s a decision |\n| --- |" + " ---: |" * 5
    )

    def row(label, judge, number=options.comparisons):
        """Prints it; returns how many comparisons had a false alarm."""
        cells, seconds, alarms = [], 0.0, 0
        for slowdown, comparisons in cases.items():
            (found, missed, undecided, false), each = tally(judge, comparisons[:number])
            seconds += each / len(cases)
            alarms += false
            cells.append(f"{false}, {undecided}" if slowdown == "0" else
                         f"{found}, {missed}, {undecided} ({false})")
        if getattr(judge, "rounds", None):
            label += (
                f" ({number} each; {statistics.mean(judge.rounds):.0f} rounds; "
                f"{judge.went_around} wanted more than were recorded)"
            )
        print(f"| {label} | {' | '.join(cells)} | {seconds:.3f} |", flush=True)
        return alarms

    kept, alarms = {}, {}
    for runs in (10, 30) if earlier == 30 else (10,):
        for heads in (1, HEADS):
            label = f"`fathom check`, stored: {heads} against {runs} earlier"
            alarms[runs, heads] = row(label, by_stored(program, runs, heads, kept))
    if options.paired > 0:
        row("`fathom check`, paired", by_paired(program), min(options.paired, options.comparisons))
    for label, rule, limit in RULES:
        row(f"{label}: 1 against 1", by_rule(rule, limit, 1, 1))
        for (runs, heads), most in alarms.items():
            if heads == 1:
                continue
            row(f"{label}: {heads} against {runs}, pooled", by_rule(rule, limit, runs, heads))
            least = limit_with_hindsight(rule, runs, heads, sum(cases.values(), []), most)
            label_least = f"... with the limit ({abs(least):.2g}) of as few false alarms"
            row(label_least, by_rule(rule, least, runs, heads))


if __name__ == "__main__":
    main()
