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

/// The result document in memory: one run of Fathom on one GPU; results/document_fields.h says what
/// its parts are and how they stand on disk. Units: seconds, bytes, hertz, watts and degrees
/// Celsius, unless a `unit` beside says otherwise. A number that could not be had is an empty
/// optional, on disk `null`.
inline constexpr int schema_version = 1;

/// A value of an axis: what distinguishes the cases of a sweep.
using AxisValue = std::variant<std::int64_t, double, std::string>;

/// Axes in the order in which the probe declares them; names are unique in one entry.
using Axes = std::vector<std::pair<std::string, AxisValue>>;

/// The words that a document uses for an enumeration, in its order.
#define FATHOM_WORDS(Enum, ...) \
  constexpr auto words_of(Enum) { return std::to_array<std::string_view>({__VA_ARGS__}); }

enum class Better { higher, lower };
FATHOM_WORDS(Better, "higher", "lower")

enum class Source { measured, replay };
FATHOM_WORDS(Source, "measured", "replay")

struct Metric {
  std::string name;  ///< "bandwidth", "cycles_per_access", ...
  std::string unit;  ///< "B/s", "cycles", "s", "%", ...
  Better better = Better::higher;
  std::optional<double> value;
};

struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0.95;
  std::string method;
  friend bool operator==(const Interval&, const Interval&) = default;
};

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
};

struct Opponent {
  std::string name;
  std::vector<double> samples;  ///< in the entry's metric
  std::optional<double> value;  ///< median of samples
  /// Entry's value over the opponent's, as a median of paired ratios oriented so that above 1 is
  /// better for the entry, and its interval.
  std::optional<double> ratio;
  std::optional<Interval> ratio_interval;
  std::map<std::string, std::string> notes;  ///< what it ran, in words: "algorithm", "kernels"
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
};

/// The tolerance of an expectation that stands beside what is read and is not held against it.
inline constexpr double shown_alone = 1;

struct Range {
  std::optional<double> low, median, high;
};

struct Telemetry {
  Range sm_clock_hz, memory_clock_hz, power_w, temperature_c;
  std::vector<std::string> throttle_reasons;  ///< every one seen, sorted; empty: none
  std::string missing_reason;          ///< why there is no telemetry; empty where it is there
  std::optional<int> other_processes;  ///< that used the GPU, the most at one time
};

struct Timing {
  std::string mode;   ///< "cold", "hot", "graph", "in-kernel clock", "host clock"
  std::string timer;  ///< "cudaEvent", "clock64", "globaltimer", "steady_clock"
  int launches_per_sample = 1;
  int warm_up_launches = 0;
  /// The GPU rested before each sample, this many times as long as the last one took.
  std::optional<double> rest;
  std::string stop;      ///< "converged" or "time limit" or "sample limit"
  double elapsed_s = 0;  ///< wall time spent on this entry
  /// By the SMs' own counters, median of groups of samples; only of those that events timed.
  std::optional<double> sm_clock_hz{};
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
FATHOM_WORDS(VerdictStatus, "ok", "noisy", "unexpected", "counter_mismatch", "above_bound",
             "wrong_output", "failed")

struct Verdict {
  VerdictStatus status = VerdictStatus::ok;  ///< the worst of the findings
  std::vector<std::string> reasons;          ///< one sentence each; empty for ok
  std::vector<std::string> unchecked;        ///< what could not be checked, one sentence each
};

/// One figure for each place along an axis, as a latency for each of many lines. The entry's metric
/// sums it up.
struct Profile {
  std::string axis;  ///< what the places are: "L2 line"
  std::string unit;  ///< of the values
  std::vector<double> values;
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
};

struct PlotMarker {
  double x = 0;
  std::string label;
};

struct PlotStretch {
  double first_x = 0, first_y = 0, last_x = 0, last_y = 0;
  std::string label;
};

struct PlotLevel {
  double y = 0;
  std::string label;
};

struct Term {
  std::string figure;
  double factor = 1;
};

/// A level of memory on a roofline: a kernel's bytes there are the sum of `counted`, else of
/// `otherwise`; a kernel that has neither is not shown.
struct MemoryLevel {
  std::string name;   ///< "DRAM"
  std::string bound;  ///< name of the document's bound (B/s) that is its roof; empty: none is known
  std::vector<Term> counted, otherwise;
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
};
FATHOM_WORDS(View::Kind, "plot", "table", "heat_map", "roofline", "steps")

enum class ProbeStatus { complete, partial, crashed, timed_out, failed, interrupted };
FATHOM_WORDS(ProbeStatus, "complete", "partial", "crashed", "timed_out", "failed", "interrupted")

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
};

/// conditional: true of some of the kernels, sizes or loads that the claim's words cover.
enum class ClaimVerdict { confirmed, refuted, conditional, does_not_apply, not_measured };
FATHOM_WORDS(ClaimVerdict, "confirmed", "refuted", "conditional", "does_not_apply", "not_measured")

struct Claim {
  std::string id;         ///< "V1"
  std::string statement;  ///< the claim in one sentence
  std::string claimed;    ///< its author's figure
  ClaimVerdict verdict = ClaimVerdict::not_measured;
  std::string figure;                 ///< what this GPU answers, with figures
  std::vector<std::string> evidence;  ///< names of the entries
  std::string probe;
  std::string author{}, gpu{};  ///< whose claim it is, and where; empty in older documents
};

struct Published {
  double value = 0;
  std::string source;  ///< title of the document, and the chip where it is not this one
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
};

/// The GPU and the software that produced a run; two runs compare only when it agrees.
struct Fingerprint {
  std::string gpu_name, gpu_uuid_hash, compute_capability, vbios, driver, cuda_driver, cuda_runtime,
      toolkit;
  std::optional<std::int64_t> sms, memory_bytes, l2_bytes, memory_bus_bits;
  std::optional<double> sm_clock_max_hz, memory_clock_max_hz, power_limit_w;
  std::string ecc, mig, persistence, pcie_link, virtualization, compute_mode,
      confidential_computing;
};

struct DeviceBound {
  std::string name, unit, source;
  double value = 0;
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
};

/// What the names of a replay's entries begin with on disk.
inline const std::string replay_prefix = "REPLAY/";

template <typename Enum>
constexpr auto enum_words = words_of(Enum{});

template <typename Enum>
requires requires { words_of(Enum{}); }
std::string_view to_string(Enum value) {
  return enum_words<Enum>.at(static_cast<std::size_t>(value));
}

/// The value that a word stands for; nothing for another word.
template <typename Enum>
std::optional<Enum> from_string(std::string_view word) {
  const auto found = std::ranges::find(enum_words<Enum>, word);
  if (found == enum_words<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - enum_words<Enum>.begin());
}

// What an entry is worth.

/// Medians of whole runs that are no further apart than this, relative to the median, are equal.
inline constexpr double equal_runs = 0.005;

/// An interval of the median wider than this to either side, relative to the median, is noise:
/// half of the difference between two runs that are still equal.
inline constexpr double noise_half_width = equal_runs / 2;

/// Medians of a run's three rounds that are further apart than this, relative to the median, are
/// noise. By the studentised range's d2 it would be 1.69/3.08 of what ten runs may differ by; 0.4,
/// since a range of three is known to half its size only and rounds share a process.
inline constexpr double noise_repeatability = 0.4 * equal_runs;

/// Decides what an entry is worth, and writes it to `entry.verdict`, worst finding first:
/// - above_bound: its value is better than its bound, by however little;
/// - counter_mismatch: a counter differs from its expectation by more than its tolerance;
/// - unexpected: its value differs from the model's by more than the tolerance;
/// - noisy: its interval or the spread of its rounds is too wide, and why, as far as is known.
/// A number that is missing never counts as right: `verdict.unchecked` lists it. One that is not
/// finite counts as wrong. wrong_output and failed, which only the measurement knows, stay.
void judge_entry(Entry& entry);

/// Every throttle reason but two: the GPU does nothing, or it follows the clock that it was told.
inline bool holds_clocks_down(std::string_view reason) {
  return reason != "gpu_idle" && reason != "applications_clocks_setting";
}

}  // namespace fathom
