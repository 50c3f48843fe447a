#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/document.h"

namespace fathom::fleet {

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
  friend bool operator==(const MetricName&, const MetricName&) = default;
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
  friend bool operator==(const Health&, const Health&) = default;
};

enum class GpuStatus { complete, partial, failed };

/// Values by name: driver, ECC, power limit, MIG, clocks, ...
using Settings = std::map<std::string, std::string>;

/// How long the parts of a GPU's measurement took, in seconds; empty where there was no such part.
struct PhaseTimes {
  std::optional<double> alone, together, suite;
  friend bool operator==(const PhaseTimes&, const PhaseTimes&) = default;
};

/// A figure that is not there though it should be, and why.
struct MissingFigure {
  std::string figure;  ///< the metric's name
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
  friend bool operator==(const LinkKind&, const LinkKind&) = default;
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

}  // namespace fathom::fleet

template <>
inline constexpr auto fathom::enum_words<fathom::fleet::GpuStatus> =
    std::to_array<std::string_view>({"complete", "partial", "failed"});
