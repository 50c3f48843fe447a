#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fathom {

/// The result document in memory: one run of Fathom on one GPU; results/document_fields.h says how
/// it stands on disk. Units: seconds, bytes, hertz, watts and degrees Celsius, unless a `unit`
/// beside says otherwise. A number that could not be had is an empty optional, on disk `null`.
inline constexpr int schema_version = 1;

/// A value of an axis: what distinguishes the cases of a sweep.
using AxisValue = std::variant<std::int64_t, double, std::string>;

/// Axes in the order in which the probe declares them; names are unique in one entry.
using Axes = std::vector<std::pair<std::string, AxisValue>>;

enum class Better { higher, lower };
enum class Source { measured, replay };

/// What an entry reports. `value` is the median of `samples`.
struct Metric {
  std::string name;  ///< "bandwidth", "cycles_per_access", ...
  std::string unit;  ///< "B/s", "cycles", "s", "%", ...
  Better better = Better::higher;
  std::optional<double> value;
  friend bool operator==(const Metric&, const Metric&) = default;
};

/// A confidence interval of the median and how it was made.
struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0.95;
  std::string method;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// What physics allows: no metric can be better than this.
struct Bound {
  double value = 0;
  std::string source;                ///< formula with its figures, or data sheet
  std::optional<double> clock_hz{};  ///< the SM clock that it holds at, if it grows with it
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// What a model predicts; `tolerance` is relative (0: must be equal).
struct Expectation {
  double value = 0;
  double tolerance = 0;
  std::string model;  ///< model and the term of it that binds
  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// Another implementation of the same work, timed alternately with the entry's own.
struct Opponent {
  std::string name;
  std::vector<double> samples;  ///< in the entry's metric
  std::optional<double> value;  ///< median of samples
  /// Entry's value over the opponent's, as a median of paired ratios oriented so that above 1 is
  /// better for the entry, and its interval.
  std::optional<double> ratio;
  std::optional<Interval> ratio_interval;
  std::map<std::string, std::string> notes;  ///< what it ran, in words: "algorithm", "kernels"
  friend bool operator==(const Opponent&, const Opponent&) = default;
};

/// One hardware counter, by Fathom's role name; the chip's metric name is beside it. A case of many
/// trials has their sum, and as `<role>_mismatches` the number of those that differ from the model.
struct Counter {
  std::string role;    ///< "global_load_sectors", ...
  std::string metric;  ///< "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
  std::string unit;
  std::optional<double> value;
  std::string reason;  ///< why value is missing; empty where it is there
  std::optional<double> expected;
  double tolerance = 0;        ///< relative; 0: must be equal; shown_alone or more: not judged
  std::string expected_model;  ///< where `expected` comes from
  friend bool operator==(const Counter&, const Counter&) = default;
};

/// The tolerance of an expectation that stands beside what is read and is not held against it.
inline constexpr double shown_alone = 1;

/// A telemetry channel over the time in which the samples were taken.
struct Range {
  std::optional<double> low, median, high;
  friend bool operator==(const Range&, const Range&) = default;
};

struct Telemetry {
  Range sm_clock_hz, memory_clock_hz, power_w, temperature_c;
  std::vector<std::string> throttle_reasons;  ///< every one seen, sorted; empty: none
  std::string missing_reason;          ///< why there is no telemetry; empty where it is there
  std::optional<int> other_processes;  ///< that used the GPU, the most at one time
  friend bool operator==(const Telemetry&, const Telemetry&) = default;
};

/// How the samples were taken.
struct Timing {
  std::string mode;   ///< "cold", "hot", "graph", "in-kernel clock", "host clock"
  std::string timer;  ///< "cudaEvent", "clock64", "globaltimer", "steady_clock"
  int launches_per_sample = 1;
  int warm_up_launches = 0;
  /// The GPU rested before each sample, this many times as long as the last one took.
  double rest = 0;
  std::string stop;      ///< "converged" or "time limit" or "sample limit"
  double elapsed_s = 0;  ///< wall time spent on this entry
  /// By the SMs' own counters, median of groups of samples; only of those that events timed.
  std::optional<double> sm_clock_hz{};
  friend bool operator==(const Timing&, const Timing&) = default;
};

enum class VerdictStatus {
  ok,  ///< the best; the worst comes last
  noisy,
  unexpected,
  counter_mismatch,
  above_bound,
  wrong_output,
  failed
};

struct Verdict {
  VerdictStatus status = VerdictStatus::ok;  ///< the worst of the findings
  std::vector<std::string> reasons;          ///< one sentence each; empty for ok
  std::vector<std::string> unchecked;        ///< what could not be checked, one sentence each
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// One figure for each place along an axis, as a latency for each of many lines. The entry's metric
/// sums it up.
struct Profile {
  std::string axis;  ///< what the places are: "L2 line"
  std::string unit;  ///< of the values
  std::vector<double> values;
  friend bool operator==(const Profile&, const Profile&) = default;
};

/// One measured case: a row of Google Benchmark's `benchmarks[]` with Fathom's object in it.
struct Entry {
  std::string name;  ///< "copy_bandwidth/type:float4/block:256/size:1GiB"
  std::string probe;
  Axes axes;
  std::int64_t iterations = 1;
  std::int64_t repetitions = 1, repetition_index = 0;
  double real_time_s = 0;  ///< median time of one launch
  double cpu_time_s = 0;
  Metric metric;
  std::map<std::string, double> extras;      ///< further figures, flattened as counters
  std::map<std::string, std::string> notes;  ///< what was measured, in words: "idea", "kernels"
  std::vector<double> samples;               ///< of the metric, in the order taken
  std::optional<Interval> interval;
  std::optional<double> repeatability;  ///< relative spread of the medians of separate rounds
  std::optional<Profile> profile;
  std::optional<Bound> bound;
  std::optional<Expectation> expected;
  std::vector<Opponent> opponents;
  std::vector<Counter> counters;
  Telemetry telemetry;
  Timing timing;
  Verdict verdict;
  friend bool operator==(const Entry&, const Entry&) = default;
};

/// A vertical line on a plot, at a place on the x axis.
struct PlotMarker {
  double x = 0;
  std::string label;
  friend bool operator==(const PlotMarker&, const PlotMarker&) = default;
};

/// A straight piece over the points of a plot: a level, or a ramp.
struct PlotStretch {
  double first_x = 0, first_y = 0, last_x = 0, last_y = 0;
  std::string label;
  friend bool operator==(const PlotStretch&, const PlotStretch&) = default;
};

/// A line across a plot at one value of y, in its unit.
struct PlotLevel {
  double y = 0;
  std::string label;
  friend bool operator==(const PlotLevel&, const PlotLevel&) = default;
};

/// A figure of an entry, "counter:<role>" or "extra:<name>", times a factor.
struct Term {
  std::string figure;
  double factor = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

/// A level of memory on a roofline: a kernel's bytes there are the sum of `counted`, else of
/// `otherwise`; a kernel that has neither is not shown.
struct MemoryLevel {
  std::string name;   ///< "DRAM"
  std::string bound;  ///< name of the document's bound (B/s) that is its roof; empty: none is known
  std::vector<Term> counted, otherwise;
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

/// What a view shows of the entries; the report draws it without knowing the probe.
struct View {
  enum class Kind { plot, table, heat_map, roofline, steps };
  Kind kind = Kind::table;
  std::string title{};
  std::string note{};  ///< one or two sentences under it; may be empty
  /// Only entries having each of these axes with one of the values given.
  std::vector<std::pair<std::string, std::vector<AxisValue>>> where{};
  bool overview = false;  ///< shown on the one-page atlas, beside the probe's own section
  std::string section{};  ///< its heading on the probe's own page; empty: in the report's section
  // A plot: x is an axis, y "metric", "metric_per_cycle" (a rate over the measured SM clock), a
  // counter's role or an extra's name; one line per distinct combination of the `series` axes.
  std::string x{}, x_label{};
  std::string y = "metric", y_label{};
  bool x_log2 = false, y_log = false, y_from_zero = true;
  std::vector<std::string> series{};
  bool show_bound = true, show_expected = true;
  bool show_opponents = false;      ///< the entries' opponents, each as a line of its own
  std::vector<PlotLevel> levels{};  ///< named lines across, of a roofline: what arithmetic allows
  // Conclusions drawn on it, where x is a quantity.
  std::vector<PlotMarker> markers{};
  std::vector<PlotStretch> stretches{};
  // A table: axis names, then any of "metric", "interval", "bound", "of_bound",
  // "of_bound_at_clock", "of_level:<label>" (of `levels`), "of_opponent" (the best of its own),
  // "expected", "ratio:<opponent>", "counter:<role>", "extra:<name>", "note:<name>", "time",
  // "sm_clock", "power", "throttle_reasons", "verdict". Steps: `x` names the entries, each with its
  // notes and with what it gained over the one before: its metric, and those of the `columns` that
  // changed most.
  std::vector<std::string> columns{};
  // A heat map: rows by the axis `y_axis` (those of `row_order` first), columns by the axis `x`,
  // and `y`, `y_label` and `y_log` are of the colour. Where x is "profile", the columns are the
  // places in the entries' profiles.
  std::string y_axis{};
  std::vector<AxisValue> row_order{};
  // A roofline: a point for each entry and level of memory, named by the axis `x`; its height is
  // the metric, its place the figure `work` (FLOP, as y of a plot) over the bytes that it moved
  // there.
  std::string work{};
  std::vector<MemoryLevel> memory{};
  friend bool operator==(const View&, const View&) = default;
};

enum class ProbeStatus { complete, partial, crashed, timed_out, failed, interrupted };

struct ProbeSummary {
  std::string name;
  std::string question;
  std::string answer;  ///< one sentence with figures; empty when nothing was measured
  std::string method;  ///< how it was measured, one paragraph
  ProbeStatus status = ProbeStatus::complete;
  std::string status_reason;  ///< why it is not complete
  double elapsed_s = 0;
  std::vector<View> views;
  /// Its views that have a section stand on a page of their own, of this name ("ladder") and title.
  std::string page{}, page_title{};
  friend bool operator==(const ProbeSummary&, const ProbeSummary&) = default;
};

/// conditional: true of some of the kernels, sizes or loads that the claim's words cover.
enum class ClaimVerdict { confirmed, refuted, conditional, does_not_apply, not_measured };

struct Claim {
  std::string id;         ///< "V1"
  std::string statement;  ///< the claim in one sentence
  std::string claimed;    ///< its author's figure
  ClaimVerdict verdict = ClaimVerdict::not_measured;
  std::string figure;                 ///< what this GPU answers, with figures
  std::vector<std::string> evidence;  ///< names of the entries
  std::string probe;
  std::string author{}, gpu{};  ///< whose claim it is, and where; empty in older documents
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// A figure that somebody else states for the same quantity; in the fact's unit.
struct Published {
  double value = 0;
  std::string source;  ///< title of the document, and the chip where it is not this one
  friend bool operator==(const Published&, const Published&) = default;
};

/// What a run states of the GPU: one quantity of one part of it, concluded from entries.
struct Fact {
  std::string id;                  ///< "<part>.<quantity>": "l1.latency"; unique within a run
  std::string subject;             ///< the part as a reader knows it: "L1"
  std::string quantity;            ///< "latency", "size", "bandwidth", ...
  std::string unit{};              ///< SI base unit or a counted thing: "B", "s", "cycles", ...
  Better better = Better::higher;  ///< higher: `bound` is the most there can be; lower: the least
  std::optional<double> value{};
  std::optional<Interval> interval{};   ///< of the value
  std::string method{};                 ///< how it was concluded, one phrase
  int repeats = 0;                      ///< samples behind the value
  std::vector<std::string> evidence{};  ///< names of the entries
  std::string reason{};                 ///< why there is no value; empty exactly where there is one
  std::optional<Published> published{};
  std::string probe{};
  std::optional<Bound> bound{};     ///< what physics allows, in the fact's unit
  std::vector<Counter> counters{};  ///< that back it: hit rates, sectors
  friend bool operator==(const Fact&, const Fact&) = default;
};

/// The GPU and the software that produced a run; two runs compare only when it agrees.
struct Fingerprint {
  std::string gpu_name, gpu_uuid_hash, compute_capability, vbios, driver, cuda_driver, cuda_runtime,
      toolkit;
  std::optional<std::int64_t> sms, memory_bytes, l2_bytes, memory_bus_bits;
  std::optional<double> sm_clock_max_hz, memory_clock_max_hz, power_limit_w;
  std::string ecc, mig, persistence, pcie_link, virtualization, compute_mode,
      confidential_computing;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// A figure the run's other figures are held against, for the report's opening page.
struct DeviceBound {
  std::string name, unit, source;
  double value = 0;
  friend bool operator==(const DeviceBound&, const DeviceBound&) = default;
};

struct Document {
  std::string date;        ///< ISO 8601, of the measurement
  std::string executable;  ///< file name only
  int schema_version = fathom::schema_version;
  std::string fathom_version, fathom_commit;
  Source source = Source::measured;
  std::string suite;
  std::string seed;
  double elapsed_s = 0;
  std::int64_t num_cpus = 0;
  std::optional<std::int64_t> mhz_per_cpu;  ///< of the host, as Google Benchmark reads them
  std::optional<bool> cpu_scaling_enabled;
  std::string google_benchmark_version;
  std::string library_build_type = "release";  ///< of Google Benchmark; "debug": with assertions
  Fingerprint fingerprint;
  std::vector<DeviceBound> bounds;
  std::vector<std::string> warnings;  ///< of the whole run, one sentence each
  std::vector<std::string> notes;     ///< what else the run should be read with, one sentence each
  std::vector<Entry> entries;
  std::vector<ProbeSummary> probes;
  std::vector<Claim> claims;
  std::vector<Fact> facts;  ///< in the probes' order
  friend bool operator==(const Document&, const Document&) = default;
};

namespace keys {

/// The object, in `context`, in each of `benchmarks` and at the top, in which Fathom's own part is.
inline const std::string own = "fathom";

/// What the names of a replay's entries begin with on disk.
inline const std::string replay_prefix = "REPLAY/";

}  // namespace keys

/// The words that a document uses for an enumeration, in its order.
template <typename Enum>
constexpr std::array<std::string_view, 0> enum_words{};

template <>
inline constexpr auto enum_words<Better> = std::to_array<std::string_view>({"higher", "lower"});
template <>
inline constexpr auto enum_words<Source> = std::to_array<std::string_view>({"measured", "replay"});
template <>
inline constexpr auto enum_words<VerdictStatus> = std::to_array<std::string_view>(
    {"ok", "noisy", "unexpected", "counter_mismatch", "above_bound", "wrong_output", "failed"});
template <>
inline constexpr auto enum_words<ProbeStatus> = std::to_array<std::string_view>(
    {"complete", "partial", "crashed", "timed_out", "failed", "interrupted"});
template <>
inline constexpr auto enum_words<ClaimVerdict> = std::to_array<std::string_view>(
    {"confirmed", "refuted", "conditional", "does_not_apply", "not_measured"});
template <>
inline constexpr auto enum_words<View::Kind> =
    std::to_array<std::string_view>({"plot", "table", "heat_map", "roofline", "steps"});

template <typename Enum>
requires(!enum_words<Enum>.empty()) std::string_view to_string(Enum value) {
  return enum_words<Enum>.at(static_cast<std::size_t>(value));
}

/// The value that a word stands for; nothing for another word.
template <typename Enum>
std::optional<Enum> from_string(std::string_view word) {
  const auto found = std::ranges::find(enum_words<Enum>, word);
  if (found == enum_words<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - enum_words<Enum>.begin());
}

}  // namespace fathom
