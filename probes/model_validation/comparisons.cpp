#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probes/model_validation/campaigns.h"
#include "probes/model_validation/kernels.h"

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

bool Comparison::add(double found, double expected, const std::function<std::string()>& describe) {
  ++compared;
  found_sum += found;
  expected_sum += expected;
  if (found == expected) return true;
  ++differing;
  if (examples.size() < most_examples)
    examples.push_back(
        fmt::format("{} has {:g} {} instead of {:g}", describe(), found, unit, expected));
  return false;
}

std::optional<std::string> report(const CampaignResult& result, Entry& entry) {
  const std::string& trials = entry.metric.unit;
  entry.extras["trials"] = static_cast<double>(result.trials);
  entry.iterations = result.trials;
  if (result.wrong) return result.wrong;
  bool all_compared = !result.comparisons.empty();
  if (!all_compared) {
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {"nothing was compared with the model"};
  }
  for (const Comparison& c : result.comparisons) {
    Counter sum{c.name, c.source, c.unit, {}, c.reason, {}, 0, result.model};
    Counter mismatches{c.name + "_mismatches", c.source, trials, {}, c.reason, 0, 0, result.model};
    sum.expected_model += ", summed over all " + trials;
    if (!c.examples.empty())
      mismatches.expected_model +=
          fmt::format("; the first that differ: {}", fmt::join(c.examples, "; "));
    if (c.reason.empty()) {
      sum.value = c.found_sum;
      sum.expected = c.expected_sum;
      mismatches.value = static_cast<double>(c.differing);
    }
    entry.counters.push_back(std::move(sum));
    entry.counters.push_back(std::move(mismatches));
    // Not knowing must not look like agreement, even if all that was compared agrees.
    if (c.compared == result.trials && c.compared > 0) continue;
    all_compared = false;
    // Not measured at all, as the counters say: nothing has failed.
    if (!c.reason.empty() && c.compared == 0) continue;
    entry.verdict.status = VerdictStatus::failed;
    entry.verdict.reasons = {fmt::format("only {} of {} {} were compared with the model{}{}",
                                         c.compared, result.trials, trials,
                                         c.reason.empty() ? "" : ": ", c.reason)};
  }
  if (!all_compared) return std::nullopt;
  entry.metric.value = static_cast<double>(result.differing);
  entry.expected = Expectation{0, 0, result.model};
  return std::nullopt;
}

}  // namespace fathom::model_validation
