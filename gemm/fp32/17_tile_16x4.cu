// A thread's share is 16 x 4 instead of 8 x 8 (4 x 16, seen column-major): a warp's lanes then
// store whole lines of C.

#include "gemm/blocks/block_tile.cuh"
#include "gemm/blocks/grouped_layout.cuh"
#include "gemm/blocks/launch.cuh"
#include "gemm/blocks/padded_layout.cuh"
#include "gemm/blocks/vectorised_product.cuh"
#include "gemm/fp32/fallback.h"
#include "gemm/fp32/rungs.h"

namespace fathom::gemm::fp32 {
namespace {

using Tile = BlockTile<128, 128, 8, 16, 4, PaddedLayout, PlainLayout>;

__global__ void __launch_bounds__(Tile::threads) tile_16x4_product(Product<float> p, int tiles_n) {
  __shared__ Tile::Shared shared;
  vectorised_tile_product<Tile>(p, tiles_n, shared);
}

/// For claim GC9: 8 x 8 a thread, and B where its reads have no bank conflicts either.
using Tile8x8 = BlockTile<128, 128, 8, 8, 8, PaddedLayout, GroupedLayout>;

__global__ void __launch_bounds__(Tile8x8::threads)
    tile_8x8_product(Product<float> p, int tiles_n) {
  __shared__ Tile8x8::Shared shared;
  vectorised_tile_product<Tile8x8>(p, tiles_n, shared);
}

/// Sectors of 32 bytes that a warp's stores of 16 bytes a lane touch, one request after the other:
/// neighbouring lanes are a thread's columns apart, and a sector has eight.
template <class T>
std::vector<CounterModel> store_sectors(const Problem& p, int) {
  const double elements = static_cast<double>(p.m) * static_cast<double>(p.n);
  return {{"global_store_sectors", T::n / T::threads_n >= 8 ? elements / 4 : elements / 8,
           "16 bytes a lane, whose sector it shares with the next lane or with nobody"}};
}

}  // namespace

Rung tile_16x4() {
  Rung rung;
  rung.id = "fp32/17_tile_16x4";
  rung.of = Class::fp32;
  rung.idea =
      "16 x 4 elements a thread: a warp covers 128 neighbouring columns, so that it reads B and "
      "stores C in whole lines.";
  rung.gain =
      "Stores of C are coalesced and B is read without conflicts, for 20 elements from shared "
      "memory instead of 16.";
  rung.claims = {"GC6", "GC9"};
  compute_whole_tiles<Tile, tile_16x4_product, launch_fallback>(rung);
  rung.counters = &store_sectors<Tile>;
  return rung;
}

Rung tile_8x8() {
  Rung ablation;
  ablation.id = "fp32/tile_8x8";
  ablation.of = Class::fp32;
  ablation.idea = "The thread tile has 8 x 8 elements instead of 16 x 4.";
  compute_whole_tiles<Tile8x8, tile_8x8_product, launch_fallback>(ablation);
  ablation.counters = &store_sectors<Tile8x8>;
  return ablation;
}

}  // namespace fathom::gemm::fp32
