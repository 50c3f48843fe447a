#pragma once

#include "gemm/half/half_rung.cuh"

// Products of which one of m and n is small: bound by the memory bus, which wants every SM to load.

namespace fathom::gemm::half {

/// Shapes by the columns that they multiply at once, each for products of that many or fewer: a cluster shares the k
/// of one tile, so that there are about as many blocks as SMs at the ladder's skinny sizes, and the ring
/// keeps more bytes on their way than the bus's latency needs.
struct Skinny16 {
  static constexpr Design design{.n = 16, .stages = 8, .split_k = 2, .band = 1};
  static constexpr MajorsTaken majors{};
};
struct Skinny64 {
  static constexpr Design design{.n = 64, .stages = 8, .split_k = 2, .band = 1};
  static constexpr MajorsTaken majors{};
};
struct Skinny128 {
  static constexpr Design design{.m_blocks = 2, .n = 128, .stages = 4, .split_k = 4, .band = 1};
  static constexpr MajorsTaken majors{};
};

/// Most columns of the small side for which these shapes are meant.
inline constexpr std::int64_t most_skinny = 128;

inline bool is_skinny(const Problem& p) { return std::min(p.m, p.n) <= most_skinny; }

/// Launches the shape that the small side asks for: it is the columns of the product in row-major terms, exchanged where
/// that takes C's transpose. Defined in 12_split_depth.cu.
template <class Element>
void launch_skinny(const Arguments& arguments, const Workspace& workspace, cudaStream_t stream);

}  // namespace fathom::gemm::half
