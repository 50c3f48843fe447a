// In place of opponents.cpp where the toolkit that builds has no headers of cuBLAS.

#include "gemm/bench/rung_workload.h"

namespace fathom::gemm {

std::vector<OpponentCase> opponents(const Problem&, const std::shared_ptr<RunMemory>&, bool) {
  return {};
}

const std::string& why_no_opponents() {
  static const std::string sentence =
      "This build cannot compare with cuBLAS, since its toolkit has no cublasLt.h: install the "
      "toolkit's cuBLAS (package libcublas-dev) and build again.";
  return sentence;
}

}  // namespace fathom::gemm
