#include "gemm/fp32_3xtf32/split_operands.h"

#include <algorithm>

#include "gemm/blocks/tensor_map.h"

namespace fathom::gemm::fp32_3xtf32 {
namespace {

/// A product is skinny where one operand is so many times the other's size.
constexpr std::int64_t skinny_ratio = 8;

/// Lower is better to split before the product.
int effort(const TmaOperand& x, const TmaOperand& other) {
  int effort = 0;
  if (x.outer > skinny_ratio * other.outer) effort += 4;
  if (columns_aligned(x.stride, x.element, map_alignment)) effort += 2;
  if (x.major != Major::k) effort += 1;
  return effort;
}

}  // namespace

SplitChoice choose_operands(const Arguments& arguments) {
  // In row-major terms: `a` is BLAS's B and `b` is BLAS's A.
  const TmaOperands plain = TmaOperands::of(arguments);
  // Equal effort: the product in row-major terms, whose C is contiguous along its columns.
  if (effort(plain.b, plain.a) <= effort(plain.a, plain.b)) return {plain.a, plain.b, false};
  return {plain.b, plain.a, true};
}

std::size_t plane_bytes(const TmaOperand& second, int columns) {
  return workspace_part(tf32_planes(second, columns).bytes());
}

std::size_t split_workspace_bytes(const Problem& problem, int columns) {
  const SplitChoice choice = choose_operands({problem});
  return plane_bytes(choice.second, columns) + copy_bytes(choice.first, std::nullopt);
}

}  // namespace fathom::gemm::fp32_3xtf32
