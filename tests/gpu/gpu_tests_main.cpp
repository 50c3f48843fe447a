#include <cuda_runtime.h>

#include <catch2/catch_session.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "tests/gpu/launched_kernels.h"

namespace {

/// 1 and a list, if a run of the sanitized tests left out a kernel: the sanitizer did not see it
/// then.
int check_that_all_were_launched() {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) == cudaSuccess && device.major < 9) {
    return 0;  // it has no instructions for some of them
  }
  const std::vector<std::string> left_out = fathom::test::kernels_never_launched();
  for (const std::string& kernel : left_out) {
    std::cout << "No test tagged [sanitized] launches " << kernel << "\n";
  }
  return left_out.empty() ? 0 : 1;
}

}  // namespace

// Catch2's main, but for a machine without a GPU, where no test can say anything, and for a run of
// the sanitized tests, which are to launch every kernel.
int main(int argc, char** argv) {
  Catch::Session session;
  if (const int status = session.applyCommandLine(argc, argv); status != 0) return status;
  const auto& asked = session.configData();
  const bool only_lists = asked.listTests || asked.listTags || asked.listReporters ||
                          asked.listListeners || asked.showHelp || asked.libIdentify;
  int devices = 0;
  if (!only_lists && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::cout << "SKIP: these tests need a GPU, and CUDA finds none on this machine.\n";
    return 4;
  }
  const int status = session.run();
  const bool sanitized =
      !asked.testsOrTags.empty() && asked.testsOrTags.front().starts_with("[sanitized]");
  return status == 0 && sanitized && !only_lists ? check_that_all_were_launched() : status;
}
