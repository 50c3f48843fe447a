#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gemm/problem.h"
#include "gemm/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

inline constexpr const char* cublas_name = "cuBLAS";
inline constexpr const char* cublaslt_name = "cuBLASLt, best of 32";

/// Room for the library's scratch data, and most of its algorithms that are tried.
inline constexpr std::size_t library_workspace_bytes = std::size_t{64} << 20;
inline constexpr int most_algorithms = 32;

/// The vendor's library on the same product, as its users have it (cublasGemmEx with the default
/// algorithm) and as whoever tunes it has it (cublasLtMatmul with the fastest of the algorithms that
/// its heuristic names, each timed): none where the library is not there, and without the first for
/// fp8, which it does not take. fp32 is computed in real fp32, with neither TF32 nor emulation.
///
/// `fast_sums`: 8-bit floating point is accumulated as fast as the tensor cores can; else the library
/// keeps the bits that they drop.
std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<ReferenceStore>& references, bool fast_sums = true);

/// Why there are none, in one sentence that says what to do; empty where there are.
const std::string& why_no_opponents();

/// Index of the algorithm to take: the one with the lowest median time; ties go to the earlier one, which
/// the heuristic thinks better of. An algorithm that failed has no times. Nothing if all did.
std::optional<std::size_t> fastest(std::span<const std::vector<double>> seconds_of_algorithm);

}  // namespace fathom::gemm
