#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/summaries.h"

namespace fathom::fleet {

/// A host or rank without figures, or a file that could not be read.
struct Problem {
  std::string what;    ///< "rank 3", "host node07", "node07-0/gpu.json"
  std::string reason;  ///< one sentence or clause
  int exit_code = 0;
};

/// An exit code that a file has; `incomplete` instead of one that no measurement ends with.
int known_code(int exit_code);

/// What the fleet should have; what is missing of it becomes a problem.
struct Expected {
  std::optional<std::size_t> gpus;
  std::vector<std::string> hosts;
  /// The run that counts, whatever others have left beside it; empty: all of them.
  std::string run;
};

struct Fleet {
  std::vector<MetricName> metrics;
  std::vector<GpuSummary> gpus;  ///< without names
  std::vector<HostLinks> links;
  std::vector<Problem> problems;

  /// Takes in a GPU as its file has it.
  void add(GpuSummary&& gpu);
  /// Once all is there: sorts the GPUs by host and number, keeps the later of two summaries of one
  /// GPU, and tells what is missing or incomplete.
  void finish(const Expected& expected = {});
  std::size_t hosts() const;
  bool replay() const;  ///< any part of it

 private:
  std::unordered_map<std::string, std::size_t> places_;  ///< of metrics, by name
};

/// Takes out of a fleet the figures that no measurement gives: negative ones, and 0 where it is no
/// count or share. They are missing, and so is what a card's peers have and it has not: cards of
/// its model, suite and build, that were measured in the same parts and collect the same counters.
/// A card that misses a figure is incomplete. Links are treated the same, without peers.
void find_missing_figures(Fleet& fleet);

/// Hands each number below `count` to `work`, on all processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

/// Reads what runs left in a folder and those below: gpu.json and links.json, and other .json where
/// neither sums it up. For one run only (Expected) its own gpu.json and links.json count, and what
/// others left there half-written is not its problem. A file that is half-written or none of ours
/// becomes a problem. Throws Error(bad_input) if there is no such folder, or nothing in it.
Fleet read_fleet(const std::filesystem::path& folder, const Expected& expected);

/// Cards that are held against each other: of one model, and of the same settings where there are
/// enough of them.
struct Group {
  std::string model;
  std::string settings;              ///< those of most of its cards, as one text
  std::vector<std::size_t> members;  ///< places in Fleet::gpus
};

/// Every GPU with figures is in one group.
std::vector<Group> groups_of(const Fleet& fleet);

/// A setting in which cards of one model differ.
struct DifferingSetting {
  std::string model, name;
  struct Value {
    std::string value;
    std::vector<std::size_t> gpus;  ///< places in Fleet::gpus
  };
  std::vector<Value> values;  ///< the most frequent first
};

std::vector<DifferingSetting> differing_settings(const Fleet& fleet);

struct OutlierOptions {
  /// Chance that a card without a fault is named, over all metrics together: half of what is
  /// promised, since real cards' figures are not quite normal.
  double false_names = 0.0005;
  double least_gap = 0.01;  ///< smaller gaps are nobody's trouble
  /// Assumed relative standard deviation between cards of one model: a few cards do not tell it.
  double card_noise = 0.005;
};

/// What of a metric is held against the others'.
enum class Compared {
  level,  ///< the figure; where there are two, alone and together, the mean of both gaps
  loss    ///< how much together is worse than alone
};

struct Finding {
  std::size_t metric = 0;  ///< place in Fleet::metrics
  Compared compared = Compared::level;
  double gap = 0;    ///< relative, above 0 is worse than the group's median
  double score = 0;  ///< gap over its standard deviation, robustly
  double limit = 0;  ///< score from which on a card is named
  /// What the card's telemetry and settings show against the others', likeliest first.
  std::vector<std::string> causes{};
};

/// What was found of one card.
struct CardScore {
  std::size_t gpu = 0;            ///< place in Fleet::gpus
  std::size_t group = 0;          ///< place in the groups
  Finding worst;                  ///< of all its metrics, by score over limit
  std::vector<Finding> findings;  ///< beyond limit and least gap, worst first; empty: not named
};

/// One metric over one group.
struct Distribution {
  std::size_t group = 0, metric = 0;
  std::size_t cards = 0;
  double median = 0;              ///< of the figures together, else alone
  std::vector<double> quantiles;  ///< of the gap at distribution_points; below 0: better
  double spread = 0;              ///< relative standard deviation of the cards, robustly
};
inline constexpr double distribution_points[] = {0.001, 0.01, 0.05, 0.25, 0.5,
                                                 0.75,  0.95, 0.99, 0.999};

struct Outliers {
  std::vector<Group> groups;
  std::vector<CardScore> cards;  ///< every card of every group, the worst first
  std::vector<Distribution> distributions;
  std::size_t named() const;
};

/// The robust score of each card in each metric, among the cards of its group.
///
/// Gaps are logarithms over the group's median, above 0 for worse. Their standard deviation is the
/// median absolute deviation times 1.4826, moderated where cards are few, as G. K. Smyth moderates
/// variances ("Linear models and empirical Bayes methods", 2004): 30 degrees of freedom for what is
/// assumed (`card_noise`, and the noise of the metric's own samples), 0.37 (the efficiency of that
/// estimate) for each card but one. A card is named beyond Student's t at `false_names` over the
/// number of metrics tested (Bonferroni). Groups of fewer than three cards name nobody.
Outliers find_outliers(const Fleet& fleet, const OutlierOptions& options);

/// No fault makes a card so much worse, or better, than its kind: it is the figure that is wrong.
bool beyond_measured(double gap);

/// A finding in words: in which state it shows ("alone and together"); "1.23 %" worse or "-0.4 %"
/// better, and what no fault makes of a card as such; the likely causes, or that there are none.
std::string kind_of(const Finding& finding, const MetricFigures& figures);
std::string gap_text(double gap);
std::string cause_text(const Finding& finding);

struct FleetReportPaths {
  std::filesystem::path readme;
  std::vector<std::filesystem::path> hosts;
};

/// Writes a report into a folder: README.md, and a page for each of `hosts`, or for all
/// where there are few. Throws Error(output_unwritable) or Error(output_full).
FleetReportPaths write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                    const std::filesystem::path& folder,
                                    const std::vector<std::string>& hosts);

/// For a terminal: how many, who is named and why, what is missing.
std::string fleet_summary(const Fleet& fleet, const Outliers& outliers);

/// The text of fleet.json: all but the figures, which are in the GPUs' own summaries.
std::string fleet_document(const Fleet& fleet, const Outliers& outliers);

}  // namespace fathom::fleet
