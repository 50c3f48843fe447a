#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gemm/bench/problem.h"
#include "gemm/bench/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

inline constexpr const char* cublas_name = "cuBLAS";
inline constexpr const char* cublaslt_name = "cuBLASLt, best of 32";

/// Room for the library's scratch data, and most of its algorithms that are tried.
inline constexpr std::size_t library_workspace_bytes = std::size_t{64} << 20;
inline constexpr int most_algorithms = 32;

/// By which the choice among cublasLtMatmul's algorithms is known.
inline std::string choice_key(const Problem& problem, bool fast_sums) {
  return std::string(cublaslt_name) + (fast_sums ? " " : " kept ") + problem.describe();
}

/// The vendor's library on the same product, as its users have it (cublasGemmEx with the default
/// algorithm) and as whoever tunes it has it (cublasLtMatmul with the fastest of the algorithms
/// that its heuristic names, each timed): none where there is no library or it does not take the
/// product (of fp8 and int8 some layouts and sizes), and for fp8 the second alone. fp32 is computed
/// in real fp32, with neither TF32 nor emulation.
///
/// `fast_sums`: fp8 is accumulated as fast as the tensor cores can; else all bits are kept.
std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<RunMemory>& memory, bool fast_sums);

/// Why there are none, in one sentence that says what to do; empty where there are.
const std::string& why_no_opponents();

}  // namespace fathom::gemm
