#!/usr/bin/env python3
"""Says which kernels of two builds have the same machine code.

    compare_code.py LEFT RIGHT [--cuobjdump PATH] [--allow-removed]

LEFT and RIGHT are objects, libraries, programs or cubins, or folders, of which every .o and .cubin
counts. Kernels are paired by their code, whatever they are called and wherever they lie: two are
the same if every instruction has the same encoding, scheduling bits included, and they take the
same registers, stack and shared memory. Kernels left over on both sides under the same name are
called changed.

Exit code: 0 if all are the same, 1 if not, 2 if a side has no kernel or cannot be read.
--allow-removed makes kernels that only LEFT has no difference: for a change that deletes some.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ENCODING = re.compile(r"/\* (0x[0-9a-f]{16}) \*/$", re.MULTILINE)
RESOURCES = re.compile(r"(REG|STACK|SHARED|LOCAL):(\d+)")
Kernel = collections.namedtuple("Kernel", "name file architecture words resources")


class Unreadable(Exception):
    pass


def output_of(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unreadable(f"cannot run {command[0]}: {error}") from error
    if run.returncode != 0 and "does not contain device code" not in run.stderr + run.stdout:
        raise Unreadable(f"{' '.join(command)}: {(run.stderr or run.stdout).strip()}")
    return run.stdout


def parts(text, heading):
    """What the headings name, and what stands below each."""
    _, *found = re.split(rf"\n\s+{heading} (\S+)", "\n" + text)
    return zip(found[::2], found[1::2])


def read_kernels(place, cuobjdump):
    path = pathlib.Path(place)
    files = sorted(p for p in path.rglob("*") if p.suffix in (".o", ".cubin")) \
        if path.is_dir() else [path]
    kernels = []
    for file in files:
        if not file.is_file():
            raise Unreadable(f"{file}: no such file")
        code = output_of(cuobjdump, "-sass", str(file))
        used = output_of(cuobjdump, "-res-usage", str(file)) if "Function :" in code else ""
        resources = {name: tuple(RESOURCES.findall(line))
                     for name, line in re.findall(r" Function (\S+):\n(.*REG:.*)", used)}
        for architecture, functions in parts(code, "code for"):
            kernels += [Kernel(name, file.name, architecture, tuple(ENCODING.findall(lines)),
                               resources.get(name, ()))
                        for name, lines in parts(functions, "Function :")]
    if not kernels:
        raise Unreadable(f"{place}: no kernel")
    return kernels


def without(kernels, others, key):
    """The kernels for which `others` has none left that is the same by that key."""
    spare = collections.Counter(map(key, others))
    left = []
    for kernel in kernels:
        spare[key(kernel)] -= 1
        if spare[key(kernel)] < 0:
            left.append(kernel)
    return left


def apart(left, right, *keys):
    """What each side has alone, once the same by the first key are gone, then by the next."""
    for key in keys:
        left, right = without(left, right, key), without(right, left, key)
    return left, right


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--allow-removed", action="store_true")
    arguments = parser.parse_args()
    try:
        left, right = (read_kernels(side, arguments.cuobjdump)
                       for side in (arguments.left, arguments.right))
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    # Those with the same name first, so that of copies of one code the right one is left.
    others, new = apart(left, right, lambda k: (k.name, k[2:]), lambda k: k[2:])
    only_left, only_right = apart(others, new, lambda k: (k.name, k.architecture))
    changed = [kernel for kernel in others if kernel not in only_left]
    for what, kernels in (("changed    ", changed), ("only left  ", only_left),
                          ("only right ", only_right)):
        for k in kernels:
            print(f"{what} {k.file} ({k.architecture}, {len(k.words) // 2} instructions): {k.name}")
    print(f"{len(left) - len(others)} the same, {len(changed)} changed, "
          f"{len(only_left)} only left, {len(only_right)} only right")
    return 1 if changed or only_right or (only_left and not arguments.allow_removed) else 0


if __name__ == "__main__":
    sys.exit(main())
