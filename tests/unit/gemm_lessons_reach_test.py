#!/usr/bin/env python3
"""A lesson can be read: with what it includes from gemm/ it is at most 6 files of 900 lines.

    gemm_lessons_reach_test.py SOURCE_DIR

No file of gemm has more than 350 lines, either.
"""
import pathlib
import re
import sys

MOST_FILES, MOST_LINES, MOST_LINES_OF_A_FILE = 6, 900, 350
INCLUDE = re.compile(r'^#include "(gemm/[^"]+)"', re.MULTILINE)

source = pathlib.Path(sys.argv[1])
texts = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
         for path in (source / "gemm").rglob("*") if path.is_file()}


def lines(file):
    return texts[file].count("\n")


def opened(file, seen=()):
    """`file` and what it includes, each once, as a reader meets them."""
    seen = [*seen, file]
    for included in INCLUDE.findall(texts[file]):
        if included not in seen:
            seen = opened(included, seen)
    return seen


lessons = [file for file in sorted(texts) if re.match(r"gemm/ladder/.*/\d\d_\w+\.cu$", file)]
failures = [] if len(lessons) > 30 else [f"only {len(lessons)} lessons found"]
for lesson in lessons:
    files = opened(lesson)
    total = sum(map(lines, files))
    if len(files) > MOST_FILES or total > MOST_LINES:
        failures.append(f"{lesson} opens {len(files)} files, {total} lines:")
        failures += [f"  {lines(file):4} {file}" for file in files]
failures += [f"{file} has {lines(file)} lines" for file in sorted(texts)
             if lines(file) > MOST_LINES_OF_A_FILE]
print("\n".join(failures) or f"{len(lessons)} lessons are within the limits")
sys.exit(bool(failures))
