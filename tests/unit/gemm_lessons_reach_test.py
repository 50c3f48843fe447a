#!/usr/bin/env python3
"""A lesson can be read: it opens at most 6 files of gemm, and 900 lines with its device headers.

    gemm_lessons_reach_test.py SOURCE_DIR

No file of gemm has more than 350 lines, either.
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
texts = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
         for room in ("gemm", "harness") for path in (source / room).rglob("*") if path.is_file()}
lines = {file: text.count("\n") for file, text in texts.items()}


def opened(file, seen=()):
    """`file` and what it includes, each once, as a reader meets them."""
    seen = [*seen, file]
    for included in re.findall(r'^#include "(gemm/[^"]+|harness/[^"]+\.cuh)"', texts[file],
                               re.MULTILINE):
        if included not in seen:
            seen = opened(included, seen)
    return seen


lessons = [file for file in sorted(texts) if re.match(r"gemm/ladder/.*/\d\d_\w+\.cu$", file)]
assert len(lessons) > 30, f"only {len(lessons)} lessons found"
too_long = [f"{file} has {count} lines" for file, count in sorted(lines.items())
            if file.startswith("gemm/") and count > 350]
for lesson in lessons:
    files = opened(lesson)
    of_gemm = [file for file in files if file.startswith("gemm/")]
    if len(of_gemm) > 6 or sum(lines[file] for file in files) > 900:
        too_long.append(f"{lesson} opens " + ", ".join(f"{file} ({lines[file]})" for file in files))
sys.exit("\n".join(too_long) or None)
