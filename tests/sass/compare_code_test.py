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

    def test_names_and_places_do_not_count(self):
        left = self.build("left", SCALE.format(name="scale", factor=2) + SUM.format(name="sum"))
        right = self.build("right", SUM.format(name="total"), SCALE.format(name="twice", factor=2))
        code, lines, _ = self.compare(left, right)
        self.assertEqual((code, lines), (0, ["2 the same, 0 changed, 0 only left, 0 only right"]))

    def test_one_operand_is_a_change(self):
        left = self.build("left", SCALE.format(name="scale", factor=2) + SUM.format(name="sum"))
        right = self.build("right", SCALE.format(name="scale", factor=3) + SUM.format(name="sum"))
        code, lines, _ = self.compare(left, right)
        self.assertEqual((code, lines[-1]), (1, "1 the same, 1 changed, 0 only left, 0 only right"))
        self.assertTrue(lines[0].startswith("changed ") and "scale" in lines[0])

    def test_resources_count(self):
        """The code of both is the same: what differs is the shared memory that they take."""
        left = self.build("left", STAGED.format(name="staged", words=64))
        right = self.build("right", STAGED.format(name="staged", words=128))
        self.assertEqual(self.compare(left, right)[0], 1)
        self.assertEqual(self.compare(left, left)[0], 0)

    def test_kernels_come_and_go(self):
        both = self.build("both", SCALE.format(name="scale", factor=2), SUM.format(name="sum"))
        one = self.build("one", SUM.format(name="sum"))
        code, lines, _ = self.compare(both, one)
        self.assertEqual((code, lines[-1]), (1, "1 the same, 0 changed, 1 only left, 0 only right"))
        self.assertEqual(self.compare(both, one, "--allow-removed")[0], 0)
        self.assertEqual(self.compare(one, both, "--allow-removed")[0], 1)
        twice = self.build("twice", SUM.format(name="sum"), SUM.format(name="again"))
        self.assertEqual(self.compare(twice, one)[1][-1],
                         "1 the same, 0 changed, 1 only left, 0 only right")

    def test_nothing_to_compare_is_no_agreement(self):
        some = self.build("some", SUM.format(name="sum"))
        empty = self.build("empty")
        for left, right in ((some, empty), (empty, empty), (some, some / "none.o")):
            code, _, errors = self.compare(left, right)
            self.assertEqual(code, 2)
            self.assertEqual(errors.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
