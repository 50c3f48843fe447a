#include "probes/bank_conflicts/patterns.h"

#include <fmt/format.h>

#include <vector>

#include "probes/bank_conflicts/kernels.h"

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

/// Sum of the words that lane `lane` reads in one launch.
std::uint32_t expected_sum(const WarpAccess& access, int lane, int iterations) {
  std::uint32_t sum = 0;
  for_each_word(access, lane, [&](std::uint32_t word) { sum += word_value(word); });
  return sum * static_cast<std::uint32_t>(iterations / windows);
}

std::vector<std::uint32_t> expected_region(const WarpAccess& access) {
  std::vector<std::uint32_t> region(region_words, ~0u);
  for (int lane = 0; lane < models::warp_size; ++lane)
    if (access.active(lane))
      for_each_word(access, lane, [&](std::uint32_t word) { region.at(word) = word_value(word); });
  return region;
}

std::optional<std::string> check_stores(const WarpAccess& access,
                                        std::span<const std::uint32_t> out, int blocks) {
  const std::vector<std::uint32_t> region = expected_region(access);
  for (int block = 0; block < blocks; ++block) {
    const auto words = out.subspan(static_cast<std::size_t>(block) * region_words, region_words);
    for (int word = 0; word < region_words; ++word) {
      if (words[word] == region[word]) continue;
      return fmt::format("block {}: shared word {} holds {:#x} instead of {:#x}", block, word,
                         words[word], region[word]);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_output(const WarpAccess& access, int iterations,
                                        std::span<const std::uint32_t> out, int blocks, int warps) {
  if (access.op == models::Access::store) return check_stores(access, out, blocks);
  for (int thread = 0; thread < blocks * threads_per_block; ++thread) {
    const int lane = thread % models::warp_size;
    const int warp = thread % threads_per_block / models::warp_size;
    const bool reads = access.active(lane) && warp < warps;
    const std::uint32_t sum = reads ? expected_sum(access, lane, iterations) : 0;
    if (out[thread] == sum) continue;
    return fmt::format("thread {} summed the words it read to {:#x} instead of {:#x}", thread,
                       out[thread], sum);
  }
  return std::nullopt;
}

}  // namespace fathom::bank_conflicts
