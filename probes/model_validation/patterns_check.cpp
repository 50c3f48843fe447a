#include "probes/model_validation/patterns_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "probes/model_validation/kernels.h"
#include "probes/model_validation/patterns.h"

namespace fathom::model_validation {
namespace {

using models::Access;
using models::WarpAccess;

/// What of a word a narrow access sees.
std::uint32_t narrowed(std::uint32_t word, int bytes) {
  return bytes >= 4 ? word : word & ((1u << 8 * bytes) - 1);
}

std::uint32_t loaded_word(const WarpAccess& access, int lane, int word) {
  const std::uint64_t address = access.address[lane] + 4 * static_cast<std::uint64_t>(word);
  const std::uint32_t whole = word_value(static_cast<std::uint32_t>(address / 4));
  return narrowed(whole >> 8 * (address % 4), access.bytes_per_lane);
}

/// Addresses are multiples of the width, so two lanes' elements are the same or apart.
bool is_stored_word(const WarpAccess& access, int lane, int word, std::uint32_t found) {
  for (int other = 0; other < models::warp_size; ++other) {
    if (!access.active(other) || access.address[other] != access.address[lane]) continue;
    const std::uint32_t stored =
        stored_value(static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(word));
    if (found == narrowed(stored, access.bytes_per_lane)) return true;
  }
  return false;
}

}  // namespace

std::uint32_t distinct_bytes(const WarpAccess& access) {
  std::set<std::uint64_t> elements;
  for (int lane = 0; lane < models::warp_size; ++lane) {
    if (access.active(lane)) elements.insert(access.address[lane]);
  }
  return static_cast<std::uint32_t>(elements.size()) *
         static_cast<std::uint32_t>(access.bytes_per_lane);
}

std::optional<std::string> check_found(const WarpAccess& access,
                                       std::span<const std::uint32_t> found) {
  const int words = std::max(1, access.bytes_per_lane / 4);
  const bool load = access.op == Access::load;
  for (int lane = 0; lane < models::warp_size; ++lane) {
    for (int word = 0; word < words_per_lane; ++word) {
      const std::uint32_t value = found[static_cast<std::size_t>(lane * words_per_lane + word)];
      const bool touched = access.active(lane) && word < words;
      const bool right = !touched ? value == untouched
                         : load   ? value == loaded_word(access, lane, word)
                                  : is_stored_word(access, lane, word, value);
      if (right) continue;
      return fmt::format("lane {}, word {} {} {:#x}, which is wrong, in {}", lane, word,
                         load ? "read" : "left", value, csv_row(access));
    }
  }
  if (load || access.active_mask == 0) return std::nullopt;
  std::uint64_t written = 0;
  for (const std::uint32_t count : found.subspan(found_values, lanes)) written += count;
  if (written == distinct_bytes(access)) return std::nullopt;
  return fmt::format("{} bytes of memory changed instead of {}, in {}", written,
                     distinct_bytes(access), csv_row(access));
}

}  // namespace fathom::model_validation
