#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gemm/bench/rung.h"
#include "gemm/best/plan.h"

// The pipelined kernel's tilings, and which of them, in how many parts of k, suits a product. Seen
// row-major: m and n here are the problem's n and m.

namespace fathom::gemm::fp32 {

/// One way to cut C into blocks' tiles, compiled for every way that operands can lie in memory.
struct TilingChoice {
  const char* name;  ///< "128x256x16"
  int m, n, k;       ///< of a block's tile
  int blocks_per_sm;
  /// Share of the multiplication rate that its inner loop can reach: of its instructions, those
  /// that multiply (tests/sass counts them).
  double efficiency;
  void (*launch)(const Arguments&, int parts, float* sums, cudaStream_t);
  RungKernel kernel;  ///< as compiled for BLAS's NN with aligned columns
};

/// 128x256x16 first, then the others.
std::span<const TilingChoice> tilings();

/// A tiling with the parts that each tile's k is cut into, so that a few tiles fill all SMs.
struct Plan {
  const TilingChoice* tiling = nullptr;  ///< null: too small for any
  int parts = 1;
};

/// The plan with the least estimated time: whole tiles on the busiest SM, each with its
/// multiplications or, where that takes longer, its operands' way into the SM, with what its start
/// and its end take, and the adding up of parts.
Plan make_plan(std::int64_t m, std::int64_t n, std::int64_t k, int sms);
/// The same for a problem as BLAS states it; no tiling where alpha or k is 0.
Plan make_plan(const Problem& problem, int sms);

/// Whether the product has at least one tile, and how many parts its k can be cut into at most.
bool fits(const TilingChoice& tiling, std::int64_t m, std::int64_t n, std::int64_t k);
int most_parts(const TilingChoice& tiling, std::int64_t k);

/// Bytes of the parts' sums.
std::size_t bytes_of_parts(const Problem& problem, int parts);

/// Adds the parts up in order and stores C.
void launch_add_parts(const Arguments& arguments, int parts, const float* sums,
                      cudaStream_t stream);

/// Any product by that plan, and one that is too small for any tiling by the fallback. The
/// workspace holds the parts' sums.
RungPlan planned(const Problem& problem, int sms);

/// What the plan takes, then every other tiling that fits the product, in one part and in the
/// numbers of parts that use each round of blocks on the SMs in full: "128x256x16 in 4 parts". None
/// where no tiling fits.
std::vector<Variant> tiling_variants(const Problem& problem, int sms);

}  // namespace fathom::gemm::fp32
