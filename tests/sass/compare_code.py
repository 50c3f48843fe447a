#!/usr/bin/env python3
"""Says which kernels of two builds have the same machine code.

    compare_code.py LEFT RIGHT [--cuobjdump PATH] [--allow-removed]

LEFT and RIGHT are objects, libraries, programs or cubins, or folders, of which every .o and .cubin
counts. Kernels are paired by their code, whatever they are called and wherever they lie: two are
the same if every instruction has the same encoding, scheduling bits included, and they take the
same registers, stack and shared memory. Kernels left over that have one name are called changed.

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


def pair(left, right):
    """(same, changed, only left, only right); the first two are lists of pairs."""
    by_code = collections.defaultdict(list)
    for kernel in right:
        by_code[kernel.code()].append(kernel)
    same, changed, only_left = [], [], []
    # Those with the same name first, so that copies of one code are not told as moved.
    for kernel in left:
        copies = by_code[kernel.code()]
        if copies:
            named = next((i for i, c in enumerate(copies) if c.name == kernel.name), 0)
            same.append((kernel, copies.pop(named)))
        else:
            only_left.append(kernel)
    only_right = [kernel for copies in by_code.values() for kernel in copies]
    for kernel in list(only_left):
        twins = [k for k in only_right
                 if (k.name, k.architecture) == (kernel.name, kernel.architecture)]
        if twins:
            changed.append((kernel, twins[0]))
            only_left.remove(kernel)
            only_right.remove(twins[0])
    return same, changed, only_left, only_right


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
    same, changed, only_left, only_right = pair(left, right)
    for a, b in changed:
        print(f"changed     {shown(a)}\n            {shown(b)}")
    for kernel in only_left:
        print(f"only left   {shown(kernel)}")
    for kernel in only_right:
        print(f"only right  {shown(kernel)}")
    print(f"{len(same)} the same, {len(changed)} changed, {len(only_left)} only left, "
          f"{len(only_right)} only right")
    return 1 if changed or only_right or (only_left and not arguments.allow_removed) else 0


if __name__ == "__main__":
    sys.exit(main())
