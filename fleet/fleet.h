#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/document.h"

namespace fathom::fleet {

// One GPU, and the links of one host: what is on disk.

/// An optional figure in four bytes: a fleet has millions of them. Seven digits, which is more than
/// any measurement has.
class Reading {
 public:
  Reading() = default;
  /// Nothing for what is not finite, or too large or too small for it.
  Reading(double value) {
    if (value == 0 || std::isnormal(static_cast<float>(value))) value_ = static_cast<float>(value);
  }
  Reading(const std::optional<double>& value) : Reading(value.value_or(NAN)) {}
  explicit operator bool() const { return !std::isnan(value_); }
  double operator*() const { return value_; }
  std::optional<double> optional() const {
    return *this ? std::optional<double>(value_) : std::nullopt;
  }
  friend bool operator==(const Reading& a, const Reading& b) {
    return a.optional() == b.optional();
  }

 private:
  float value_ = std::numeric_limits<float>::quiet_NaN();
};

/// A metric as all GPUs have it.
struct MetricName {
  std::string name;  ///< of the entry: "copy_bandwidth/best/..."
  std::string unit;
  Better better = Better::higher;
};

/// One metric of one GPU: while its host's other GPUs did nothing, and while they did the same.
struct MetricFigures {
  Reading alone, together;
  Reading noise;        ///< relative standard deviation of either, as the run itself knows it
  Reading sm_clock_hz;  ///< median while it was measured
};

/// What may make a GPU slower, read from the driver and from the telemetry of all its metrics. SI
/// units; empty where it could not be read.
struct Health {
  std::optional<double> sm_clock_hz, memory_clock_hz;  ///< medians under load
  std::optional<double> temperature_c, power_w;        ///< highest
  std::vector<std::string> throttle_reasons;           ///< sorted; only those that hold clocks down
  std::optional<double> power_limit_w;
  std::optional<double> pcie_generation, pcie_width;  ///< the most it can have now; lanes in use
  std::optional<double> uncorrected_ecc_errors, remapped_rows, other_processes;
  bool remapping_failed = false, remapping_pending = false;
};

enum class GpuStatus { complete, partial, failed };
FATHOM_WORDS(GpuStatus, "complete", "partial", "failed")

/// Values by name: driver, ECC, power limit, MIG, clocks, ...
using Settings = std::map<std::string, std::string>;

/// How long the parts of a GPU's measurement took, in seconds; empty where there was no such part.
struct PhaseTimes {
  std::optional<double> alone, together, suite;
};

/// A figure that is not there though it should be, and why.
struct MissingFigure {
  std::string metric;  ///< its name
  std::string when;    ///< "alone", "together"
  std::string reason;  ///< a clause
};

/// What a fleet keeps of one GPU: all that its report needs, in about a hundredth of the result
/// document. On disk: gpu.json, beside the documents that it sums up.
struct GpuSummary {
  std::string host;
  int gpu = 0;              ///< number on its host
  std::optional<int> rank;  ///< of the launcher, where there was one
  std::string gpu_name, uuid_hash;
  std::string run;  ///< which one measured it, of random digits; empty: of before there were any
  std::string date, suite;
  Source source = Source::measured;
  GpuStatus status = GpuStatus::complete;
  std::string reason;  ///< why it is not complete, one sentence or clause; or what else to know
  int exit_code = 0;
  /// Why its run was not to collect hardware counters, a clause; empty: it was, or nobody knows.
  std::string no_counters;
  /// Probes whose hardware counters its run was to collect, where it was not to collect all; empty
  /// beside a reason in `no_counters`.
  std::vector<std::string> counters_of;
  std::string model;  ///< what cards must share to be compared at all
  Settings settings;
  Health health;
  PhaseTimes elapsed_s;
  /// As many figures as names; in a fleet, which has the names, by its metrics, and perhaps fewer.
  std::vector<MetricName> names;
  std::vector<MetricFigures> figures;
  std::filesystem::path where;         ///< its gpu.json or result.json
  std::vector<MissingFigure> missing;  ///< found in a fleet

  MetricFigures at(std::size_t metric) const {
    return metric < figures.size() ? figures[metric] : MetricFigures{};
  }
};

/// A fact of the probe `links`, without what stands behind it.
struct LinkFact {
  std::string id, subject, quantity, unit;
  Better better = Better::higher;
  std::optional<double> value, bound;
  std::string bound_source;
  std::string reason;  ///< why there is no value
  friend bool operator==(const LinkFact&, const LinkFact&) = default;
};

/// Transfers between two GPUs of a host, of one kind.
struct LinkKind {
  std::string engine, direction, unit;
  friend auto operator<=>(const LinkKind&, const LinkKind&) = default;
};

struct LinkPair {
  std::size_t kind = 0;
  std::string from, to;  ///< GPUs
  Reading value, bound;
  friend bool operator==(const LinkPair&, const LinkPair&) = default;
};

/// What a fleet keeps of the links of one host. On disk: links.json, beside the result document of
/// the probe `links`, which is many times as large.
struct HostLinks {
  std::string host;
  std::string run;  ///< as GpuSummary has it
  std::vector<LinkFact> facts;
  std::vector<LinkKind> kinds;
  std::vector<LinkPair> pairs;
};

inline constexpr std::string_view summary_file = "gpu.json", links_file = "links.json";
/// The files' first members.
inline constexpr std::string_view summary_key = "fathom_fleet_gpu";
inline constexpr std::string_view links_key = "fathom_fleet_links";

/// Which figures a document holds.
enum class Phase { alone, together };

/// Adds a run's metrics, telemetry and settings. The median of an entry's repetitions counts; an
/// entry whose verdict says that its value must not be used is left out. Figures that an earlier
/// document of the same phase gave stay. Identity and settings are the first document's.
void add_document(GpuSummary& summary, const Document& document, Phase phase);

/// From a document of the probe `links`.
HostLinks links_of(const std::string& host, const Document& document);

/// The text of gpu.json and of links.json.
std::string to_text(const GpuSummary& summary);
std::string to_text(const HostLinks& links);

/// Strictly as written; throws Error(document_malformed) or Error(document_version) naming `origin`
/// and the place. Hostile text costs bounded time and memory.
GpuSummary parse_summary(std::string_view text, const std::string& origin);
HostLinks parse_links(std::string_view text, const std::string& origin);

/// Throws Error(document_malformed) naming `origin` where figures have no date, or a bad one.
void require_date(const GpuSummary& summary, const std::string& origin);

/// "node07 GPU 3"
std::string name_of(const GpuSummary& summary);

// All of them.

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
  /// GPU, and tells what is missing or incomplete. That is also a figure that no measurement gives,
  /// which goes, and one that a card's peers have and it has not: cards of its model, suite and
  /// build, that were measured in the same parts and collect the same counters.
  void finish(const Expected& expected = {});
  std::size_t hosts() const;
  bool replay() const;  ///< any part of it

 private:
  std::unordered_map<std::string, std::size_t> places_;  ///< of metrics, by name
};

/// The first `most` of a list in words: "node01 GPU 3, node01 GPU 4 and 12 more".
std::string first_of(const auto& items, std::size_t most, const auto& text_of) {
  std::string text;
  for (const auto& item : std::span(items).first(std::min(most, items.size())))
    text += (text.empty() ? "" : ", ") + text_of(item);
  return items.size() > most ? text + " and " + std::to_string(items.size() - most) + " more"
                             : text;
}

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
  /// Each with the places of its cards in Fleet::gpus, the most frequent first.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> values;
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

/// Writes a report into a folder that is there: README.md, and a page for each of `hosts`, or for
/// all where there are few. Returns the pages' paths in that order. Throws Error(output_unwritable)
/// or Error(output_full).
std::vector<std::filesystem::path> write_fleet_report(const Fleet& fleet, const Outliers& outliers,
                                                      const std::filesystem::path& folder,
                                                      const std::vector<std::string>& hosts);

/// For a terminal: how many, who is named and why, what is missing.
std::string fleet_summary(const Fleet& fleet, const Outliers& outliers);

/// The text of fleet.json: all but the figures, which are in the GPUs' own summaries.
std::string fleet_document(const Fleet& fleet, const Outliers& outliers);

}  // namespace fathom::fleet
