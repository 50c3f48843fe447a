#include <fmt/format.h>

#include <random>

#include "models/shared_memory.h"
#include "probes/bank_conflicts/kernels.h"

namespace fathom::bank_conflicts {

using namespace models;

namespace {

/// What one block must leave: loads the sum of each thread, stores the region.
std::vector<std::uint32_t> expected_of_block(const WarpAccess& access, int iterations, int warps) {
  const bool load = access.op == Access::load;
  std::vector<std::uint32_t> expected(load ? threads_per_block : region_words, load ? 0 : ~0u);
  for (int lane = 0; lane < warp_size; ++lane) {
    if (!access.active(lane)) continue;
    std::uint32_t sum = 0;
    // Windows and accesses follow each other without a gap.
    for (int k = 0; k < windows * accesses_per_iteration; ++k) {
      for (int byte = 0; byte < access.bytes_per_lane; byte += 4) {
        const auto word = (access.address[lane] + k * access_step_bytes + byte) / 4;
        const std::uint32_t value = word_value(static_cast<std::uint32_t>(word));
        sum += value;
        if (!load) expected.at(word) = value;
      }
    }
    for (int warp = 0; load && warp < warps; ++warp)
      expected[warp * warp_size + lane] = sum * static_cast<std::uint32_t>(iterations / windows);
  }
  return expected;
}

}  // namespace

std::vector<Pattern> patterns(Access op, int bytes) {
  std::vector<Pattern> result;
  const auto add = [&](std::string family, std::string name, const WarpAccess& access,
                       int stride_words = 0, bool quick = false) {
    result.push_back({std::move(family), std::move(name), access, stride_words, quick});
  };
  const auto by_lane = [&](auto&& address) {
    WarpAccess access{op, bytes, all_lanes, {}};
    for (int lane = 0; lane < warp_size; ++lane)
      access.address[lane] = static_cast<std::uint64_t>(address(lane));
    return access;
  };
  const int width_words = bytes / 4;
  // S1 to S3, S5: strides in words; a multiple of the width, since addresses must be aligned.
  for (const int stride : {1, 2, 3, 4, 5, 8, 16, 31, 32}) {
    if (stride < width_words || stride % width_words != 0) continue;
    const bool quick = (stride & (stride - 1)) == 0;
    add("stride", "stride:" + std::to_string(stride),
        strided(op, bytes, static_cast<std::uint64_t>(stride) * 4), stride, quick);
  }
  add("broadcast", "broadcast", broadcast(op, bytes), 0, true);
  // S2: two words of one bank, half of the lanes each.
  add("two-words", "two-words-one-bank", by_lane([](int lane) { return lane % 2 * 128; }));
  // S4, S5: pairs that agree on the address, and pairs that are too far apart to count.
  for (const unsigned bit : {1u, 2u, 4u, 8u, 16u})
    add("pairs", "pairs:i^" + std::to_string(bit), paired(op, bytes, bit), 0, bit <= 4);
  add("pairs", "pairs:i^1,i^2", paired(op, bytes, 3));
  // S4 within one half-warp only: lanes 0-15 agree in pairs, 16-31 are contiguous.
  const WarpAccess pairs = paired(op, bytes, 1);
  add("pairs", "pairs:i^1-in-lower-half",
      by_lane([&](int lane) { return lane < 16 ? pairs.address[lane] : lane * bytes; }));
  // S7's broadcast operand: each half-warp one element, both in the same banks.
  add("pairs", "pairs:half-warps-in-one-bank", by_lane([](int lane) { return lane / 16 * 128; }));
  const WarpAccess contiguous = strided(op, bytes, static_cast<std::uint64_t>(bytes));
  add("inactive", "inactive:lower-half-active", masked(contiguous, 0x0000FFFFu), 0, true);
  add("inactive", "inactive:even-lanes-active", masked(contiguous, 0x55555555u), 0, true);
  add("inactive", "inactive:one-lane-active", masked(contiguous, 0x00000100u));
  add("inactive", "inactive:quarters-0-2-active", masked(contiguous, 0x00FF00FFu));
  add("inactive", "inactive:stride-32-lower-quarter-active",
      masked(strided(op, bytes, 128), 0x000000FFu));
  // The order of lanes within the hardware's group must not matter.
  add("order", "reversed", by_lane([&](int lane) { return (warp_size - 1 - lane) * bytes; }));
  // Lanes anywhere in 4096 bytes: nothing for a rule of thumb to hold on to.
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> slot(0, 4096 / bytes - 1);
    add("scattered", "scattered:" + std::to_string(seed),
        by_lane([&](int) { return slot(generator) * bytes; }), 0, seed == 1);
  }
  // S8: a column of a 32 x 32 tile of elements as wide as the access (16 x 32 for 16 bytes, so that
  // the tile fits), plain, padded and swizzled.
  const int row = 128 / bytes;
  add("column", "column:plain", tile_column(op, {bytes, row}, 0), 0, true);
  add("column", "column:padded", tile_column(op, {bytes, row, 1}, 0), 0, true);
  add("column", "column:swizzled", tile_column(op, {bytes, row, 0, true}, 0), 0, true);
  return result;
}

int claimed_wavefronts(WarpAccess access) {
  access.op = Access::load;
  return shared_cost(access).wavefronts;
}

std::optional<std::string> check_output(const WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int warps) {
  const std::vector<std::uint32_t> expected = expected_of_block(access, iterations, warps);
  const char* what =
      access.op == Access::load ? "the sum of the words read by thread" : "shared word";
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const std::uint32_t wanted = expected[i % expected.size()]; out[i] != wanted)
      return fmt::format("block {}: {} {} is {:#x} instead of {:#x}", i / expected.size(), what,
                         i % expected.size(), out[i], wanted);
  return std::nullopt;
}

}  // namespace fathom::bank_conflicts
