"""The rules of judge.py say of recorded runs what the peers themselves say.

    pip install pytest pytest-benchmark scipy numpy cuda-bench
    pytest studies/noise/test_peers.py

compare.py of Google Benchmark takes its p from scipy. nvbench's scripts are in cuda-bench.
"""

import json
import random
import statistics

import pytest

import judge

RECORDING = judge.Recording(judge.HERE / "own-core.csv", "all")
PAIRS = 3000


@pytest.fixture(scope="module")
def pairs():
    """A program's samples of one run, and of another with 0, 2, 5 or 10 % more work."""
    chance, drawn = random.Random(1), []
    for _ in range(PAIRS):
        tool = chance.choice(judge.TOOLS)
        name = chance.choice(RECORDING.programs[tool])
        base, head = (
            RECORDING.runs[tool][chance.randrange(RECORDING.rounds)][variant][1][name]
            for variant in ("0a", chance.choice(("0b", *judge.SLOWDOWNS)))
        )
        drawn.append((base, head))
    return drawn


def agrees(rule, limit, said, pairs):
    """Both say "slower" of some pairs, not of all, and of the same."""
    told = [rule(base, head) > limit for base, head in pairs]
    assert told == [said(base, head) for base, head in pairs]
    assert 0 < sum(told) < len(told)


def rule_named(start):
    return next((rule, limit) for label, rule, limit in judge.RULES if start in label)


def test_compare_py(pairs):
    stats = pytest.importorskip("scipy.stats")

    def said(base, head):
        p = stats.mannwhitneyu(base, head, alternative="two-sided").pvalue
        return bool(p < 0.05) and statistics.median(head) > statistics.median(base)

    agrees(*rule_named("compare.py"), said, pairs)


def test_pytest_benchmark(pairs):
    utils = pytest.importorskip("pytest_benchmark.utils")
    check = utils.parse_compare_fail("median:5%")

    def said(base, head):
        stats = [{"median": statistics.median(samples)} for samples in (head, base)]
        return check.fails(*stats) is not None

    agrees(*rule_named("median:5%"), said, pairs)


def nvbench_document(samples):
    """What nvbench writes of one state with these samples."""

    def value(tag, number):
        return {"tag": tag, "name": tag,
                "data": [{"name": "value", "type": "float64", "value": repr(float(number))}]}

    mean, deviation = statistics.mean(samples), statistics.stdev(samples)
    state = {"name": "state", "device": 0, "is_skipped": False, "axis_values": None,
             "summaries": [value("nv/cold/time/gpu/mean", mean),
                           value("nv/cold/time/gpu/stdev/relative", deviation / mean)]}
    return {"meta": {"version": {"json": {"string": "1.0.0"}}},
            "devices": [{"id": 0, "name": "device"}],
            "benchmarks": [{"name": "program", "devices": [0], "axes": None, "states": [state]}]}


def test_nvbench_legacy(pairs, tmp_path, monkeypatch, capsys):
    script = pytest.importorskip("cuda.bench.scripts.nvbench_compare")
    files = [tmp_path / "base.json", tmp_path / "head.json"]

    def said(base, head):
        for file, samples in zip(files, (base, head)):
            file.write_text(json.dumps(nvbench_document(samples)))
        monkeypatch.setattr("sys.argv", ["nvbench_compare", *map(str, files), "--no-color"])
        script.all_ref_devices.clear(), script.all_cmp_devices.clear()
        script.main()
        printed = capsys.readouterr().out
        assert sum(word in printed for word in ("SLOW", "SAME", "FAST")) == 1, printed
        return "SLOW" in printed

    agrees(*rule_named("legacy"), said, pairs[:300])


def test_nvbench_robust(pairs):
    script = pytest.importorskip("cuda.bench.scripts.nvbench_compare_robust")
    script.load_nvbench_compare_tooling(load_color=False)

    def timing(samples):
        input_ = script.compute_robust_timing_input_from_samples(samples)
        assert input_ is not None
        return input_[1]

    thresholds = script.get_default_thresholds()

    def said(base, head):
        status = script.compare_intervals_for_clear_gap(timing(base), timing(head), thresholds)
        return status == script.ComparisonStatus.SLOW

    agrees(*rule_named("robust"), said, pairs)
