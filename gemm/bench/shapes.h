#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gemm/bench/problem.h"
#include "harness/device_facts.h"

// Which products are measured, what bounds them, and the names under which a document has them.

namespace fathom::gemm {

/// The size, m = n = k, at which all rungs of a ladder are compared, and that of the quick suite:
/// large enough that a tile has its full depth, small enough for the first rungs.
inline constexpr std::int64_t ladder_size = 4096, quick_size = 1024;

/// m, n and k of a product.
struct Shape {
  std::int64_t m, n, k;
};

/// Where contenders meet the library beside the ladder's size: larger, odd and skinny products.
inline constexpr Shape contested_shapes[] = {
    {8192, 8192, 8192}, {4095, 4095, 4095}, {16, 8192, 8192}, {128, 8192, 8192}};

/// Sizes m = n = k over which the top rung and the library are swept.
inline constexpr std::int64_t swept_sizes[] = {256,  384,  512,  768,  1024,  1536, 2048,
                                               3072, 4096, 6144, 8192, 12288, 16384};

/// m of products with n = k = `ladder_size` (claim T2): at each multiple of 256, the side of most
/// tiles and a multiple of all others, just past it, and halfway to the next. All are multiples of
/// 16, so that columns stay on 16 bytes and nothing but the tiles changes.
inline constexpr std::int64_t sizes_around_tiles[] = {
    3072, 3088, 3200, 3328, 3344, 3456, 3584, 3600, 3712, 3840, 3856, 3968, 4096, 4112, 4224, 4352};

/// The product of a class in the layout in which it meets the library: of 8-bit types that of which
/// tensor cores read both operands as they lie, along k; the library has no other for fp8.
Problem contested_problem(Class of, const Shape& shape);

/// The same product in the three transpositions that it does not have itself.
std::vector<Problem> other_layouts(const Problem& problem);

/// Times the last sample's length that the GPU rests before a burst's sample, so that neither power
/// nor temperature settle: the same for all rungs, the library, and choices among its algorithms
/// and a rung's variants, since figures of other conditions are not compared.
inline constexpr double rest_of_bursts = 2;

/// The most that a class's arithmetic units do at the GPU's highest SM clock, FLOP/s: of fp32 the
/// FMA units, of fp64 the faster of these and tensor cores, of `fp32_3xtf32` a third of tf32's
/// rate, of the others tensor cores (models/instruction_throughput.h). Nothing where it is unknown.
std::optional<Bound> arithmetic_peak(const DeviceFacts& device, Class of);

/// Whether a product belongs into the sweep on this GPU: its matrices leave room for those of the
/// other classes, which stay where they are, and at the arithmetic peak a launch takes `longest_s`
/// seconds at most. A sweep launches each some thirty times, and first rungs are a hundred times
/// slower than the peak. What is not known of the GPU keeps nothing out.
bool within_reach(const DeviceFacts& device, const Problem& problem, double longest_s);

/// The axis `part` of a claim's own entries; the extra with a type's published dense peak, FLOP/s.
inline constexpr const char* claimed_part = "claim";
inline constexpr const char* published_peak_key = "published_peak_FLOP_per_s";

/// The axis `rung` of the library measured by itself, for its counters: opponents have none.
inline constexpr const char* library_alone = "cuBLAS";

/// The published dense peak of a type on tensor cores, sums in fp32, of the GPU of this name
/// (models/gpu_table.h); nothing for one that the table lacks.
std::optional<double> published_peak(const std::string& device, Class of);

/// The note in which an entry names the kernel that multiplied.
inline constexpr const char* kernel_note = "kernel";

}  // namespace fathom::gemm
