#pragma once

namespace fathom::gemm {

struct TileIndex {
  int m, n;
};

/// The tile of a block: bands of `Band` tile rows, each gone through column by column, so that
/// blocks that run at the same time share both operands in the L2 rather than one only.
template <int Band>
__device__ TileIndex banded_tile(int block, int tiles_m, int tiles_n) {
  const int band = block / (Band * tiles_n);
  const int first = band * Band;
  const int height = min(Band, tiles_m - first);
  const int within = block - band * Band * tiles_n;
  return {first + within % height, within / height};
}

}  // namespace fathom::gemm
