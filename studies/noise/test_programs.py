"""Twelve programs for pytest-benchmark, with SHARE units of work each (100 unless told).

See record.py.
"""

import bz2
import heapq
import json
import lzma
import os
import random
import re
import zlib

import pytest

RANDOM = random.Random(1)
NUMBERS = [RANDOM.randrange(1 << 31) for _ in range(4000)]
TEXT = " ".join(f"user{n % 5000}" + ("@host.example" if n % 7 == 0 else "") for n in NUMBERS)
RECORDS = [
    {"id": n, "name": f"user{n % 5000}", "tags": ["a", "b", "c"], "score": n / 7} for n in NUMBERS
]
BYTES = TEXT.encode()
DOCUMENT = json.dumps(RECORDS[:60])
SMALL = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 4096}]
ADDRESS = re.compile(r"[a-z]+[0-9]+@[a-z.]+")
NUMBER = re.compile(r"[0-9]{3,}")
WORDS = re.compile(r"(?:user1[0-9]*|user2[0-9]*) ")


def heap_sort(numbers):
    heap = list(numbers)
    heapq.heapify(heap)
    return [heapq.heappop(heap) for _ in range(len(heap))]


PROGRAMS = {
    "sort-numbers": lambda: sorted(NUMBERS[:700]),
    "sort-key": lambda: sorted(NUMBERS[:600], key=lambda number: number % 5000),
    "sort-heap": lambda: heap_sort(NUMBERS[:380]),
    "compress-zlib": lambda: zlib.compress(BYTES[:3500], 6),
    "compress-bz2": lambda: bz2.compress(BYTES[:600], 1),
    "compress-lzma": lambda: lzma.compress(BYTES[:200], lzma.FORMAT_RAW, filters=SMALL),
    "json-read": lambda: json.loads(DOCUMENT),
    "json-write": lambda: json.dumps(RECORDS[:40]),
    "json-indent": lambda: json.dumps(RECORDS[:9], indent=1),
    "regex-address": lambda: ADDRESS.findall(TEXT[:2600]),
    "regex-replace": lambda: NUMBER.sub("n", TEXT[:4200]),
    "regex-words": lambda: WORDS.findall(TEXT[:9500]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(benchmark, name):
    unit = PROGRAMS[name]
    units = int(os.environ.get("SHARE", "100"))

    def work():
        for _ in range(units):
            unit()

    benchmark.pedantic(work, rounds=9, iterations=1)
