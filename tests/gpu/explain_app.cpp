// A program for `fathom explain`: explain_app [ROUNDS [EXIT_STATUS]] runs the kernels with planted
// faults; explain_app marked runs every kernel once, each between two markers with its number.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "harness/cuda_check.h"
#include "tests/gpu/explain_kernels.h"

using namespace fathom::test;

int main(int argc, char** argv) try {
  const char* const mode = argc > 1 ? argv[1] : "1";
  if (std::string_view(mode) == "marked") {
    int number = 0;
    const Entry run = [&](const std::string&, const std::function<void()>& launch) {
      launch_marker(number);
      launch();
      launch_marker(number++);
      FATHOM_CUDA(cudaDeviceSynchronize());
    };
    for_each_planted(run);
    for_each_found(run);
    return 0;
  }
  std::puts("begin");
  for (int round = 0; round < std::atoi(mode); ++round)
    for_each_planted([](const std::string&, const std::function<void()>& launch) { launch(); });
  FATHOM_CUDA(cudaDeviceSynchronize());
  std::puts("end");
  return argc > 2 ? std::atoi(argv[2]) : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 98;
}
