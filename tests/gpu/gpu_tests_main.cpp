#include <cuda_runtime.h>

#include <catch2/catch_session.hpp>
#include <iostream>

// Catch2's main, but for a machine without a GPU: no test can say anything there.
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
  return session.run();
}
