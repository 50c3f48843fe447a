#!/usr/bin/env python3
"""What compare_code.py says of kernels that were renamed and moved, changed, added or removed.

    compare_code_test.py NVCC CUOBJDUMP
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

NVCC, CUOBJDUMP = sys.argv[1:3]
TOOL = pathlib.Path(__file__).with_name("compare_code.py")

SCALE = "__global__ void {name}(float* x) {{ x[threadIdx.x] *= {factor}; }}\n"
SUM = ("__global__ void {name}(float* x, int n) {{ float s = 0;\n"
       "  for (int i = 0; i < n; ++i) s += x[i]; x[n] = s; }}\n")
STAGED = ("__global__ void {name}(float* x) {{ __shared__ float s[{words}];\n"
          "  s[threadIdx.x] = x[threadIdx.x]; __syncthreads();\n"
          "  x[threadIdx.x] = s[threadIdx.x ^ 1]; }}\n")


class CompareCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, name, *sources):
        """A folder with one cubin for each source."""
        folder = self.folder / name
        folder.mkdir()
        for i, source in enumerate(sources):
            (folder / f"{i}.cu").write_text(source)
            subprocess.run([NVCC, "-arch=sm_80", "-cubin", "-o", folder / f"{i}.cubin",
                            folder / f"{i}.cu"], check=True)
        return folder

    def compare(self, left, right, *flags):
        run = subprocess.run([sys.executable, TOOL, left, right, "--cuobjdump", CUOBJDUMP, *flags],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.splitlines(), run.stderr

    def test_kernels_are_paired_by_their_code(self):
        scale, total = SCALE.format(name="scale", factor=2), SUM.format(name="sum")
        both = self.build("both", scale, total)
        moved = self.build("moved", total.replace("sum", "total") + scale.replace("scale", "twice"))
        other = self.build("other", SCALE.format(name="scale", factor=3) + total)
        one = self.build("one", total)
        twice = self.build("twice", total, total.replace("sum", "again"))
        # The code of these is the same: what differs is the shared memory that they take.
        few, many = (self.build(f"staged{words}", STAGED.format(name="staged", words=words))
                     for words in (64, 128))
        for left, right, flags, code, said in (
                (both, moved, [], 0, "2 the same, 0 changed, 0 only left, 0 only right"),
                (both, other, [], 1, "1 the same, 1 changed, 0 only left, 0 only right"),
                (few, few, [], 0, "1 the same, 0 changed, 0 only left, 0 only right"),
                (few, many, [], 1, "0 the same, 1 changed, 0 only left, 0 only right"),
                (both, one, [], 1, "1 the same, 0 changed, 1 only left, 0 only right"),
                (both, one, ["--allow-removed"], 0, "1 the same, 0 changed, 1 only left, "
                                                    "0 only right"),
                (one, both, ["--allow-removed"], 1, "1 the same, 0 changed, 0 only left, "
                                                    "1 only right"),
                (twice, one, [], 1, "1 the same, 0 changed, 1 only left, 0 only right")):
            with self.subTest(left=left.name, right=right.name, flags=flags):
                ended, lines, _ = self.compare(left, right, *flags)
                self.assertEqual((ended, lines[-1]), (code, said))
                if right == other:
                    self.assertTrue(lines[0].startswith("changed ") and "scale" in lines[0])

    def test_nothing_to_compare_is_no_agreement(self):
        some, empty = self.build("some", SUM.format(name="sum")), self.build("empty")
        for left, right in ((some, empty), (empty, empty), (some, some / "none.o")):
            code, _, errors = self.compare(left, right)
            self.assertEqual((code, errors.count("\n")), (2, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
