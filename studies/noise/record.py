#!/usr/bin/env python3
"""Records real CPU programs, with true slowdowns, by hyperfine, pytest-benchmark, Google Benchmark.

    studies/noise/record.py --pytest VENV/bin/pytest --rounds 30 --priority \\
        --out recordings/noise/quiet.csv

A round runs, in an order of chance, each tool's twelve programs five times: twice as they are (0a,
0b), and with 2, 5 and 10 % more of the same work. A line of the CSV is one tool, round, variant and
program, with the tool's samples in units of 100 ns and the second since the start at which the tool
began. --priority runs them with real-time priority, so that what else the machine does takes
caches, memory and the host's time, but not their core. Needs hyperfine, pytest-benchmark, Google
Benchmark, zlib, bzip2, nlohmann-json and g++.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {"0a": 100, "0b": 100, "2": 102, "5": 105, "10": 110}

# Units of work are lines: a share of 105 is 5 % more of them.
COMMANDS = {
    "sort-bytes": "sort --parallel=1 {dir}/lines",
    "sort-numbers": "sort --parallel=1 -n {dir}/numbers",
    "sort-key": "sort --parallel=1 -k2,2 {dir}/table",
    "compress-gzip": "gzip -c -6 {dir}/text",
    "compress-bzip2": "bzip2 -c {dir}/text",
    "compress-xz": "xz -c -0 -T1 {dir}/text",
    "json-read": "{programs} once json-read",
    "json-write": "{programs} once json-write",
    "json-both": "{programs} once json-both",
    "regex-perl": "perl -ne '$n++ if /[a-z]+[0-9]+@[a-z.]+/; END {{ print $n }}' {dir}/long",
    "regex-sed": "sed -nE s/[0-9]{{3,}}/n/g {dir}/short",
    "regex-awk": "awk '/(user1|user2)[0-9]*@/{{n++}}END{{print n}}' {dir}/long",
}


def prepare(folder):
    """The programs and each share's input files."""
    compiler = ["g++", "-O2", "-std=c++20", HERE / "programs.cpp", "-lbenchmark", "-lz", "-lbz2"]
    subprocess.run([*compiler, "-o", folder / "programs"], check=True)
    sizes = {"lines": 280, "numbers": 220, "table": 260, "text": 90, "short": 320, "long": 500}
    for share in sorted(set(VARIANTS.values())):
        chance = random.Random(1)
        (folder / str(share)).mkdir()
        rows = [
            f"user{chance.randrange(5000)}{'@host.example' if chance.randrange(7) == 0 else ''}"
            for _ in range(max(sizes.values()) * 110)
        ]
        made = {
            "lines": rows,
            "text": [f"{row} {row[-3:]} at {i}" for i, row in enumerate(rows)],
            "numbers": [str(chance.randrange(1 << 31)) for _ in rows],
            "short": rows,
            "long": rows,
            "table": [f"{i} {row}" for i, row in enumerate(rows)],
        }
        for name, lines in made.items():
            (folder / str(share) / name).write_text("\n".join(lines[: sizes[name] * share]) + "\n")


def hyperfine(folder, share, run, out):
    arguments = ["hyperfine", "-N", "--runs", "9", "--style", "none", "--export-json", out]
    places = {"dir": folder / str(share), "programs": folder / "programs"}
    for name, command in COMMANDS.items():
        arguments += ["-n", name, command.format(**places)]
    run(arguments)
    rows = json.loads(out.read_text())["results"]
    return {row["command"]: [s * 1e7 for s in row["times"]] for row in rows}


def pytest_benchmark(pytest, run, out):
    run([pytest, "-q", "-p", "no:cacheprovider", f"--benchmark-json={out}",
         HERE / "test_programs.py"])
    rows = json.loads(out.read_text())["benchmarks"]
    return {row["params"]["name"]: [s * 1e7 for s in row["stats"]["data"]] for row in rows}


def google_benchmark(folder, run, out):
    run([folder / "programs", f"--benchmark_out={out}", "--benchmark_out_format=json"])
    samples = {}
    for row in json.loads(out.read_text())["benchmarks"]:
        if row["run_type"] == "iteration":
            samples.setdefault(row["name"].split("/")[0], []).append(row["real_time"] * 10)
    return samples


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pytest", required=True, help="the pytest that has pytest-benchmark")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--cpu-limit", type=float, default=480, help="seconds of CPU after which no round begins"
    )
    parser.add_argument("--priority", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    chance = random.Random(7)
    first = ["chrt", "-f", "10"] if options.priority else []
    start = time.time()
    with tempfile.TemporaryDirectory() as name, open(options.out, "w", newline="") as file:
        folder = pathlib.Path(name)
        prepare(folder)
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["tool", "round", "variant", "program", "began_s", "samples_100ns"])
        used = 0.0
        for number in range(options.rounds):
            tools = ("hyperfine", "pytest-benchmark", "google-benchmark")
            cells = [(tool, variant) for tool in tools for variant in VARIANTS]
            chance.shuffle(cells)
            for tool, variant in cells:
                share = VARIANTS[variant]

                def run(command):
                    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                    env = os.environ | {"SHARE": str(share), "LC_ALL": "C"}
                    command = first + [str(part) for part in command]
                    subprocess.run(command, check=True, cwd=folder, env=env, **quiet)

                began = time.time() - start
                out = folder / "out.json"
                if tool == "hyperfine":
                    found = hyperfine(folder, share, run, out)
                elif tool == "pytest-benchmark":
                    found = pytest_benchmark(options.pytest, run, out)
                else:
                    found = google_benchmark(folder, run, out)
                assert len(found) == 12, (tool, sorted(found))
                for program, samples in found.items():
                    text = " ".join(f"{sample:.0f}" for sample in samples)
                    rows.writerow([tool, number, variant, program, f"{began:.0f}", text])
            file.flush()
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = usage.ru_utime + usage.ru_stime
            elapsed = time.time() - start
            print(f"round {number + 1}: {used:.0f} s of CPU, {elapsed:.0f} s", flush=True)
            if used > options.cpu_limit:
                break


if __name__ == "__main__":
    main()
