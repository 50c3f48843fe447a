#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom {

class Context;
class CounterSession;

/// One figure of a campaign: what was found in each trial against what a model says of it. The two
/// must be equal each time. In the entry it becomes two counters: `<name>`, the sums of both sides,
/// and `<name>_mismatches`, the number of trials that differ, expected to be 0.
struct Comparison {
  std::string name;    ///< a counter's role, or what else was asked: "driver_blocks"
  std::string source;  ///< the chip's metric, or the call that answers
  std::string unit;    ///< of the figure
  std::string model;   ///< "shared-memory model"
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  double found_sum = 0, expected_sum = 0;
  std::vector<std::string> examples;  ///< the first trials that differ, in words
  std::string reason;                 ///< why a trial could not be compared; empty if all could

  static constexpr std::size_t most_examples = 8;

  /// One trial; `describe` is asked for its words if they are needed. Returns whether it agrees.
  bool add(double found, double expected, const std::function<std::string()>& describe);
};

/// What one run of a campaign found.
struct CampaignResult {
  std::int64_t trials = 0;
  std::int64_t differing = 0;        ///< trials in which any comparison differs
  std::optional<std::string> wrong;  ///< what is wrong with an output, if anything is
  std::vector<Comparison> comparisons;
  std::map<std::string, double> extras;
};

/// False once the user has asked for an end.
using KeepGoing = std::function<bool()>;

/// A case that is not timed: very many short trials, each held against what a model says of it.
struct Campaign {
  std::string trials;              ///< what a trial is, in the plural: "patterns"
  std::vector<std::string> roles;  ///< hardware counters that it compares; may be none
  /// Runs all trials, or those until `keep_going` says no. `counters` collects `roles`; it is null
  /// where there are none, and then only what needs none is done: outputs are checked, nothing is
  /// compared by `roles`.
  std::function<CampaignResult(Context&, CounterSession* counters, const KeepGoing&)> run;
};

/// Puts into the entry what the campaign found: the metric `mismatches`, the number of trials that
/// differ, expected to be 0, and the counters of each comparison. A campaign that could not compare
/// everything has no value and has failed, never passed; `no_counters` says why its roles were not
/// collected and is empty if they were.
void report_campaign(const Campaign& campaign, const CampaignResult& result,
                     const std::string& no_counters, Entry& entry);

}  // namespace fathom
