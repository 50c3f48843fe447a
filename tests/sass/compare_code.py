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
import dataclasses
import pathlib
import re
import subprocess
import sys

FUNCTION = re.compile(r"\s+Function : (\S+)")
ENCODING = re.compile(r"/\* (0x[0-9a-f]{16}) \*/$")
RESOURCE_OWNER = re.compile(r" Function (\S+):$")
RESOURCES = re.compile(r"(REG|STACK|SHARED|LOCAL):(\d+)")


class Unreadable(Exception):
    pass


@dataclasses.dataclass
class Kernel:
    name: str
    file: str
    architecture: str
    words: list = dataclasses.field(default_factory=list)
    resources: tuple = ()

    def code(self):
        return self.architecture, tuple(self.words), self.resources


def parse_code(text, file):
    """The kernels in what `cuobjdump -sass` wrote."""
    kernels, architecture = [], ""
    for line in text.splitlines():
        if line.lstrip().startswith("code for "):
            architecture = line.split()[-1]
        elif match := FUNCTION.match(line):
            kernels.append(Kernel(match[1], file, architecture))
        elif kernels and (match := ENCODING.search(line)):
            kernels[-1].words.append(match[1])
    return kernels


def parse_resources(text):
    """Name to resources, of what `cuobjdump -res-usage` wrote."""
    found, owner = {}, None
    for line in text.splitlines():
        if match := RESOURCE_OWNER.match(line):
            owner = match[1]
        elif owner and "REG:" in line:
            found[owner] = tuple(RESOURCES.findall(line))
            owner = None
    return found


def output_of(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unreadable(f"cannot run {command[0]}: {error}") from error
    if run.returncode != 0 and "does not contain device code" not in run.stderr + run.stdout:
        raise Unreadable(f"{' '.join(command)}: {(run.stderr or run.stdout).strip()}")
    return run.stdout


def read_kernels(place, cuobjdump):
    path = pathlib.Path(place)
    files = sorted(p for p in path.rglob("*") if p.suffix in (".o", ".cubin")) \
        if path.is_dir() else [path]
    kernels = []
    for file in files:
        if not file.is_file():
            raise Unreadable(f"{file}: no such file")
        here = parse_code(output_of(cuobjdump, "-sass", str(file)), file.name)
        resources = parse_resources(output_of(cuobjdump, "-res-usage", str(file))) if here else {}
        for kernel in here:
            kernel.resources = resources.get(kernel.name, ())
        kernels += here
    if not kernels:
        raise Unreadable(f"{place}: no kernel")
    return kernels


def without(kernels, others, key):
    """The kernels for which `others` has none left that is the same by that key."""
    spare = collections.Counter(map(key, others))
    left = []
    for kernel in kernels:
        if spare[key(kernel)] == 0:
            left.append(kernel)
        else:
            spare[key(kernel)] -= 1
    return left


def apart(left, right, *keys):
    """What each side has alone, once the same by the first key are gone, then by the next."""
    for key in keys:
        left, right = without(left, right, key), without(right, left, key)
    return left, right


def shown(kernel):
    size = f"{kernel.architecture}, {len(kernel.words) // 2} instructions"
    return f"{kernel.file} ({size}): {kernel.name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    parser.add_argument("--allow-removed", action="store_true")
    arguments = parser.parse_args()
    try:
        left = read_kernels(arguments.left, arguments.cuobjdump)
        right = read_kernels(arguments.right, arguments.cuobjdump)
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    # Those with the same name first, so that of copies of one code the right one is left.
    others, new = apart(left, right, lambda k: (k.name, k.code()), Kernel.code)
    only_left, only_right = apart(others, new, lambda k: (k.name, k.architecture))
    changed = [kernel for kernel in others if kernel not in only_left]
    for what, kernels in (("changed    ", changed), ("only left  ", only_left),
                          ("only right ", only_right)):
        for kernel in kernels:
            print(f"{what} {shown(kernel)}")
    print(f"{len(left) - len(others)} the same, {len(changed)} changed, "
          f"{len(only_left)} only left, {len(only_right)} only right")
    return 1 if changed or only_right or (only_left and not arguments.allow_removed) else 0


if __name__ == "__main__":
    sys.exit(main())
