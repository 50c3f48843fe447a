// A 16 x 16 tile of each operand in shared memory, an element of C a thread: the textbook's tiled
// product, in doubles. A warp is two rows of the block. Of A each half-warp reads one word for all
// (two k at once, which the compiler makes a 16-byte load); of B, 16 neighbours, 128 bytes: claim
// S7 says that none of it conflicts.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/fp64/rungs.h"

namespace fathom::gemm::fp64 {
namespace {

/// A's rows as they are read from memory: neighbours along k beside each other.
struct RowLayout {
  static constexpr int depth = 16;
  template <int Outer, int PerThread>
  static __device__ constexpr int slot(int k, int outer) {
    return outer * depth + k;
  }
  template <int Outer, int Depth>
  static constexpr int size = Outer* Depth;
};

using Types = SameTypes<double>;
using Tile = BlockTile<16, 16, RowLayout::depth, 1, 1, RowLayout, PlainLayout, Types>;

__global__ void __launch_bounds__(Tile::threads)
    square_tile_product(Product<double> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  block_tile_product<Tile>(p, shared, tiles_n);
}

}  // namespace

Rung shared_memory() {
  Rung rung;
  rung.id = "fp64/01_shared_memory";
  rung.of = Class::fp64;
  rung.idea =
      "A block of 16 x 16 threads stages 16 x 16 tiles of doubles in shared memory; a thread "
      "computes one element.";
  rung.gain =
      "Each element is read from memory once for 16 uses; but each multiplication still takes an "
      "element of both operands from shared memory, whose bandwidth is the limit.";
  rung.claims = {"S7", "G4"};
  rung.kernel = tile_kernel<Tile, square_tile_product>();
  rung.launch = &launch_tiles<Tile, square_tile_product, Types>;
  return rung;
}

}  // namespace fathom::gemm::fp64
