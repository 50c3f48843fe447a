#pragma once

#include "models/warp_access.h"
#include "tests/testing.h"

namespace fathom::models {

inline constexpr std::array both{Access::load, Access::store};
inline constexpr std::array widths{1, 2, 4, 8, 16};

/// Random addresses within `span` bytes, random inactive lanes; a small span makes shared words,
/// merges and broadcasts likely.
inline WarpAccess random_access(std::mt19937_64& random) {
  static constexpr std::array spans{32, 128, 512, 4096, 65536};
  WarpAccess access;
  access.op = both[random() % both.size()];
  access.bytes_per_lane = widths[random() % widths.size()];
  const int span = spans[random() % spans.size()];
  const auto slots = static_cast<unsigned>(std::max(1, span / access.bytes_per_lane));
  for (auto& address : access.address) {
    address = random() % slots * static_cast<unsigned>(access.bytes_per_lane);
  }
  switch (random() % 4) {
    case 0:
      access.active_mask = all_lanes;
      break;
    case 1:
      access.active_mask = static_cast<std::uint32_t>(random());
      break;
    case 2:
      access.active_mask = static_cast<std::uint32_t>(random() & random());
      break;
    default:
      access.active_mask = all_lanes >> random() % 32;
      break;
  }
  if (random() % 3 == 0) {  // make pairs agree
    const int flip = random() % 2 == 0 ? 1 : 2;
    for (int lane = 0; lane < warp_size; ++lane) {
      access.address[lane] = access.address[lane & ~flip];
    }
  }
  return access;
}

}  // namespace fathom::models
