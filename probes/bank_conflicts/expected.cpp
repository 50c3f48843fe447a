#include <fmt/format.h>

#include "probes/bank_conflicts/kernels.h"
#include "probes/bank_conflicts/patterns.h"

namespace fathom::bank_conflicts {
namespace {

using models::WarpAccess;

/// What one block must leave: loads the sum of each thread, stores the region.
std::vector<std::uint32_t> expected_of_block(const WarpAccess& access, int iterations, int warps) {
  const bool load = access.op == models::Access::load;
  std::vector<std::uint32_t> expected(load ? threads_per_block : region_words, load ? 0 : ~0u);
  for (int lane = 0; lane < models::warp_size; ++lane) {
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
      expected[warp * models::warp_size + lane] =
          sum * static_cast<std::uint32_t>(iterations / windows);
  }
  return expected;
}

}  // namespace

std::optional<std::string> check_output(const WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int warps) {
  const std::vector<std::uint32_t> expected = expected_of_block(access, iterations, warps);
  const char* what =
      access.op == models::Access::load ? "the sum of the words read by thread" : "shared word";
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const std::uint32_t wanted = expected[i % expected.size()]; out[i] != wanted)
      return fmt::format("block {}: {} {} is {:#x} instead of {:#x}", i / expected.size(), what,
                         i % expected.size(), out[i], wanted);
  return std::nullopt;
}

}  // namespace fathom::bank_conflicts
