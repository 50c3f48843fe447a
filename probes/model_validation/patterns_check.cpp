
#include <fmt/format.h>

#include <algorithm>

#include "probes/model_validation/kernels.h"
#include "probes/model_validation/patterns.h"

namespace fathom::model_validation {
namespace {

using models::Access;
using models::WarpAccess;

/// Word `word` of the element at the lane's address, as far as the width reaches.
std::uint32_t word_of_element(const WarpAccess& access, int lane, int word) {
  const std::uint64_t address = access.address[lane] + 4 * static_cast<std::uint64_t>(word);
  const std::uint32_t whole = word_value(static_cast<std::uint32_t>(address / 4));
  const int bits = 8 * std::min(access.bytes_per_lane, 4);
  return whole >> 8 * (address % 4) & (0xFFFFFFFFu >> (32 - bits));
}

}  // namespace

std::optional<std::string> check_found(const WarpAccess& access,
                                       std::span<const std::uint32_t> found) {
  const int words = std::max(1, access.bytes_per_lane / 4);
  const bool load = access.op == Access::load;
  for (int lane = 0; lane < models::warp_size; ++lane) {
    for (int word = 0; word < words_per_lane; ++word) {
      const std::uint32_t value = found[static_cast<std::size_t>(lane * words_per_lane + word)];
      const bool touched = access.active(lane) && word < words;
      const std::uint32_t right = touched ? word_of_element(access, lane, word) : untouched;
      if (value == right) continue;
      return fmt::format("lane {} {} {:#x} instead of {:#x} as its word {}: {}", lane,
                         load ? "read" : "left", value, right, word, csv_row(access));
    }
  }
  if (load || access.active_mask == 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(models::distinct_bytes(access));
  std::uint64_t written = 0;
  for (const std::uint32_t count : found.subspan(found_values, lanes)) written += count;
  if (written == bytes) return std::nullopt;
  return fmt::format("{} bytes of memory changed instead of {}: {}", written, bytes,
                     csv_row(access));
}

}  // namespace fathom::model_validation
