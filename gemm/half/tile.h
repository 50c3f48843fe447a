#pragma once

namespace fathom::gemm::half {

/// A block's tile in rungs 03 to 05: eight warps, each with 64 x 64, which need 85 multiplications of each
/// element of 16 bits that a block loads, and 64 of each that a warp reads from shared memory.
struct Tile {
  static constexpr int m = 128, n = 256, k = 32, threads = 256;
  static constexpr int warp_m = 64, warp_n = 64;
};

}  // namespace fathom::gemm::half
