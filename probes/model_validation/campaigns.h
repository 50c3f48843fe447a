#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/model_validation/kernels.h"
#include "results/document.h"

namespace fathom::model_validation {

const char* name(Space space);  ///< "shared"
const char* name(models::Access op);

/// Kinds of pattern, each drawn equally often.
inline constexpr int pattern_kinds = 14;
struct RandomPattern {
  const char* kind;  ///< "tile-column"
  models::WarpAccess access;
};

/// An endless series of valid patterns for one space, operation and width. The same seed gives the
/// same series on every machine; the standard library's distributions would not.
std::function<RandomPattern()> random_patterns(Space space, models::Access op, int bytes_per_lane,
                                               std::uint64_t seed);

/// A row of the table that `fathom predict shared|global --patterns` reads:
/// "load,8,0,8,,24,...", an empty field for an inactive lane.
std::string csv_row(const models::WarpAccess& access);

/// Holds what a trial found (kernels.h: `found_words` words) against what its instruction must do:
/// nothing, or what is wrong.
std::optional<std::string> check_found(const models::WarpAccess& access,
                                       std::span<const std::uint32_t> found);

/// One figure of a campaign: what was found in each trial, which must equal what a model says. The
/// entry has it as two counters: `<name>`, the sums of both sides, and `<name>_mismatches`, the
/// number of trials that differ, expected to be 0.
struct Comparison {
  std::string name;      ///< a counter's role, or what else was asked: "driver_blocks"
  std::string source;    ///< the chip's metric, or the call that answers
  std::string unit;      ///< of the figure
  std::string reason{};  ///< why a trial could not be compared; empty if all could
  std::int64_t compared = 0, differing = 0;
  double found_sum = 0, expected_sum = 0;
  std::vector<std::string> examples{};  ///< the first trials that differ, in words
  static constexpr std::size_t most_examples = 8;

  /// One trial; `describe` is asked for its words if they are needed. Returns whether it agrees.
  bool add(double found, double expected, const std::function<std::string()>& describe);
};

struct CampaignResult {
  std::string model;  ///< "the shared-memory model"
  std::vector<Comparison> comparisons;
  std::int64_t trials = 0;
  std::int64_t differing = 0;          ///< trials in which any comparison differs
  std::optional<std::string> wrong{};  ///< what is wrong with an output, if anything is
};

/// Puts into the entry, whose metric's unit is the trials' plural, what the campaign found. One
/// that could not compare everything has no value; without a reason for that it has failed. Returns
/// what is wrong with an output.
std::optional<std::string> report(const CampaignResult& result, Entry& entry);

}  // namespace fathom::model_validation
