#include "gemm/bench/shapes.h"

#include <array>

namespace fathom::gemm {

std::span<const Shape> contested_shapes() {
  static constexpr std::array shapes{Shape{8192, 8192, 8192}, Shape{4095, 4095, 4095},
                                     Shape{16, 8192, 8192}, Shape{128, 8192, 8192}};
  return shapes;
}

std::span<const std::int64_t> swept_sizes() {
  static constexpr std::array<std::int64_t, 13> sizes{256,  384,  512,  768,  1024,  1536, 2048,
                                                      3072, 4096, 6144, 8192, 12288, 16384};
  return sizes;
}

std::span<const std::int64_t> sustained_sizes(Class of) {
  static constexpr std::array<std::int64_t, 2> sizes{ladder_size, 2 * ladder_size};
  const bool both = of == Class::fp16 || of == Class::bf16;
  return std::span(sizes).first(both ? 2 : 1);
}

std::span<const std::int64_t> sizes_around_tiles() {
  // 256 is the side of most tiles, and a multiple of all others.
  static constexpr std::array<std::int64_t, 16> sizes{3072, 3088, 3200, 3328, 3344, 3456,
                                                      3584, 3600, 3712, 3840, 3856, 3968,
                                                      4096, 4112, 4224, 4352};
  return sizes;
}

Problem contested_problem(Class of, const Shape& shape) {
  const bool along_k = of == Class::fp8 || of == Class::int8;
  return make_problem(of, shape.m, shape.n, shape.k, along_k ? Transpose::yes : Transpose::no);
}

std::vector<Problem> other_layouts(const Problem& problem) {
  const Problem& p = problem;
  std::vector<Problem> found;
  for (const Transpose a : {Transpose::no, Transpose::yes}) {
    for (const Transpose b : {Transpose::no, Transpose::yes}) {
      if (a == p.transa && b == p.transb) continue;
      found.push_back(make_problem(p.of, p.m, p.n, p.k, a, b, p.alpha, p.beta));
    }
  }
  return found;
}

}  // namespace fathom::gemm
