#include <fmt/format.h>

#include <vector>

#include "probes/bank_conflicts/kernels.h"
#include "probes/bank_conflicts/patterns.h"

namespace fathom::bank_conflicts {
namespace {

using models::WarpAccess;

/// Calls `f` with each word of the region that lane `lane` accesses in one round of the windows.
template <class F>
void for_each_word(const WarpAccess& access, int lane, F&& f) {
  for (int i = 0; i < windows; ++i)
    for (int k = 0; k < accesses_per_iteration; ++k)
      for (int b = 0; b < access.bytes_per_lane; b += 4)
        f(static_cast<std::uint32_t>(
            (access.address[lane] + i * window_bytes + k * access_step_bytes + b) / 4));
}

/// What one block must leave: loads the sum of each thread, stores the region.
std::vector<std::uint32_t> expected_of_block(const WarpAccess& access, int iterations, int warps) {
  const bool load = access.op == models::Access::load;
  std::vector<std::uint32_t> expected(load ? threads_per_block : region_words, load ? 0 : ~0u);
  for (int lane = 0; lane < models::warp_size; ++lane) {
    if (!access.active(lane)) continue;
    std::uint32_t sum = 0;
    for_each_word(access, lane, [&](std::uint32_t word) {
      sum += word_value(word);
      if (!load) expected.at(word) = word_value(word);
    });
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
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t wanted = expected[i % expected.size()];
    if (out[i] == wanted) continue;
    if (access.op == models::Access::load)
      return fmt::format("thread {} summed the words it read to {:#x} instead of {:#x}", i, out[i],
                         wanted);
    return fmt::format("block {}: shared word {} holds {:#x} instead of {:#x}", i / expected.size(),
                       i % expected.size(), out[i], wanted);
  }
  return std::nullopt;
}

}  // namespace fathom::bank_conflicts
