#pragma once

#include <span>
#include <string>
#include <vector>

#include "gemm/conclude_parts.h"
#include "results/document.h"

namespace fathom::gemm {

/// What the ladder's page shows: for each type that was measured a section with its rungs, what
/// each step gained, the counters, the roofline, the contests, the layouts, the sizes and lasting
/// load; the same of the product that the command line asked for.
std::vector<View> ladder_views(std::span<const Entry> entries);

// What it is made of.

/// Columns of a table: ratios to the library's two ways.
inline constexpr const char* ratio_to_cublas = "ratio:cuBLAS";
inline constexpr const char* ratio_to_cublaslt = "ratio:cuBLASLt, best of 32";

/// A type's last contenders at the compared size in all transpositions; its top rung and the
/// library over sizes, and around multiples of a tile with the model's saw-tooth, both as a picture
/// and as a table.
View layouts_view(std::span<const Entry> entries, const std::string& type);
std::vector<View> sizes_views(std::span<const Entry> entries, const std::string& type);
std::vector<View> tiles_views(std::span<const Entry> entries, const std::string& type);

}  // namespace fathom::gemm
