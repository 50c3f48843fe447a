#include <array>

#include "models/formatted.h"
#include "models/occupancy.h"

namespace fathom::models {
namespace {

// CUDA Programming Guide 13, section 5.1 "Compute Capabilities", table of the sizes of the unified
// data cache and of the shared memory in it.
constexpr std::array carveouts_turing{32, 64};
constexpr std::array carveouts_100{0, 8, 16, 32, 64, 100};
constexpr std::array carveouts_164{0, 8, 16, 32, 64, 100, 132, 164};
constexpr std::array carveouts_228{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr SmLimits limits(int major, int minor, int warps, int blocks,
                          std::span<const int> carveouts, int unified_kib, int fp32) {
  const bool reserves = major >= 8;
  const int shared = carveouts.back() * 1024;
  const int reserved = reserves ? 1024 : 0;
  return {.major = major,
          .minor = minor,
          .warps = warps,
          .blocks = blocks,
          .shared_bytes = shared,
          .shared_bytes_per_block = shared - reserved,
          .shared_reserved_per_block = reserved,
          .shared_granularity = major >= 8 ? 128 : 256,
          .carveouts_kib = carveouts,
          .unified_bytes = unified_kib * 1024,
          .fp32_per_clock = fp32,
          .l1_bytes_per_clock = major >= 8 ? 128 : 64};
}

// 8.8 and 11.0: blocks and carve-outs as cuda_occupancy.h has them; warps as their relatives with
// as many blocks.
constexpr std::array table{
    limits(7, 5, 32, 16, carveouts_turing, 96, 64), limits(8, 0, 64, 32, carveouts_164, 192, 64),
    limits(8, 6, 48, 16, carveouts_100, 128, 128),  limits(8, 7, 48, 16, carveouts_164, 192, 128),
    limits(8, 8, 48, 16, carveouts_100, 128, 128),  limits(8, 9, 48, 24, carveouts_100, 128, 128),
    limits(9, 0, 64, 32, carveouts_228, 256, 128),  limits(10, 0, 64, 32, carveouts_228, 256, 128),
    limits(10, 3, 64, 32, carveouts_228, 256, 128), limits(11, 0, 48, 24, carveouts_228, 256, 128),
    limits(12, 0, 48, 24, carveouts_100, 128, 128), limits(12, 1, 48, 24, carveouts_100, 128, 128)};

}  // namespace

std::span<const SmLimits> all_sm_limits() { return table; }

const SmLimits& sm_limits(int major, int minor) {
  for (const SmLimits& sm : table)
    if (sm.major == major && sm.minor == minor) return sm;
  refuse(
      "no SM limits are known for compute capability %d.%d; known are 7.5, 8.0, 8.6, 8.7, 8.8, "
      "8.9, 9.0, 10.0, 10.3, 11.0, 12.0 and 12.1",
      major, minor);
}

}  // namespace fathom::models
