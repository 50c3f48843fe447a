// A program for `fathom explain`: each entry once, between two markers with its
// number.

#include <cuda_runtime.h>

#include <cstdio>
#include <exception>

#include "harness/cuda_check.h"
#include "tests/gpu/explain_entries.h"

int main() try {
  int number = 0;
  fathom::test::for_each_entry([&](const std::string&, const std::function<void()>& launch) {
    fathom::test::launch_marker(number);
    launch();
    fathom::test::launch_marker(number++);
    FATHOM_CUDA(cudaDeviceSynchronize());
  });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
