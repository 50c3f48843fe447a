#pragma once

#include <optional>

#include "gemm/bench/problem.h"
#include "gemm/bench/rung.h"

namespace fathom::gemm {

/// The axis `part` of what is measured for a claim's own sake, and the extra in which such an entry
/// says what the GPU's maker publishes as the dense peak of its type, in FLOP/s.
inline constexpr const char* claimed_part = "claim";
inline constexpr const char* published_peak_key = "published_peak_FLOP_per_s";

/// The value of the axis `rung` of the library measured by itself, for its counters: of an opponent
/// none are read.
inline constexpr const char* library_alone = "cuBLAS";

/// The product of which a claim on this rung speaks, where it is none of the ladder's: of G6 8192
/// cubed with alpha = beta = 0.5, in fp16.
std::optional<Problem> claimed_product(const Rung& rung);

/// What the maker of the GPU of this name publishes as the dense peak of a type on its tensor
/// cores, sums in fp32 (models/gpu_table.h); nothing for one that the table lacks.
std::optional<double> published_peak(const std::string& device, Class of);

/// The note in which an entry names the kernel that multiplied, and its prefix if that is unknown;
/// the reason follows.
inline constexpr const char* kernel_note = "kernel";
inline constexpr const char* unknown_kernel = "unknown: ";

}  // namespace fathom::gemm
