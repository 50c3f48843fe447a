#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

/// One of cublasLtMatmul's algorithms, by its place in the heuristic's list.
struct AlgorithmChoice {
  std::size_t index = 0;
  std::string remark{};  ///< what else is to be said of it, in words; empty: nothing
};

/// Which of cublasLtMatmul's algorithms were fastest in this run: each product's are tried once, so
/// that all rungs that compute it meet the same opponent.
class AlgorithmChoices {
 public:
  /// That of a product, and for fp8 of its kind of sums; empty until somebody has chosen.
  std::optional<AlgorithmChoice>& of(const Problem& problem, bool fast_sums) {
    return chosen_[{problem.describe(), fast_sums}];
  }

 private:
  std::map<std::pair<std::string, bool>, std::optional<AlgorithmChoice>> chosen_;
};

/// The vendor's library on the same product, as its users have it (cublasGemmEx with the default
/// algorithm) and as whoever tunes it has it (cublasLtMatmul with the fastest of the algorithms
/// that its heuristic names, each timed): none where the library is not there or does not take the
/// product (of fp8 and int8 some layouts and sizes), and without the first for fp8, which it does
/// not take. fp32 is computed in real fp32, with neither TF32 nor emulation.
///
/// `fast_sums`: 8-bit floating point is accumulated as fast as the tensor cores can; else the
/// library keeps the bits that they drop. `choices`: of the run; none: these opponents make their
/// own.
std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<ReferenceStore>& references,
                                    bool fast_sums = true,
                                    std::shared_ptr<AlgorithmChoices> choices = nullptr);

/// Why there are none, in one sentence that says what to do; empty where there are.
const std::string& why_no_opponents();

}  // namespace fathom::gemm
