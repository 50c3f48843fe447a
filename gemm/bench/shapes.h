#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gemm/bench/problem.h"

namespace fathom::gemm {

/// The size, m = n = k, at which all rungs of a ladder are compared, and that of the quick suite:
/// large enough that a tile has its full depth, small enough for the first rungs.
inline constexpr std::int64_t ladder_size = 4096, quick_size = 1024;

/// m, n and k of a product.
struct Shape {
  std::int64_t m, n, k;
};

/// Where contenders meet the vendor's library beside the ladder's own size: twice as large, one
/// less than whole tiles and 16-byte rows, and skinny.
std::span<const Shape> contested_shapes();

/// Sizes m = n = k over which the top rung and the library are swept.
std::span<const std::int64_t> swept_sizes();
/// Those at which a class is held against the library under lasting load: the ladder's own, and of
/// the classes that the power limit holds hardest one eight times as long.
std::span<const std::int64_t> sustained_sizes(Class of);

/// m of products with n = k = `ladder_size` around multiples of a tile's side (claim T2): at each
/// multiple, just past it, and halfway to the next. They end where 4096 is passed, and all are
/// multiples of 16, so that columns stay on 16 bytes and nothing but the tiles changes.
std::span<const std::int64_t> sizes_around_tiles();

/// The product of a class in the layout in which it is held against the library: of 8-bit types
/// that of which tensor cores read both operands as they lie, along k. Of 8-bit floating point the
/// library has no other, and of integers kernels for older chips.
Problem contested_problem(Class of, const Shape& shape);

/// The same product in the three transpositions that it does not have itself.
std::vector<Problem> other_layouts(const Problem& problem);

/// Times the last sample's length that the GPU rests before each sample of a burst: twice as long,
/// so that neither power nor temperature settle. The same for every rung of a ladder, the library,
/// and the choices among its algorithms and a rung's variants: figures taken under other conditions
/// are not compared.
inline constexpr double rest_of_bursts = 2;

}  // namespace fathom::gemm
