#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/fields.h"

namespace fathom {

// The result document, once: names and order on disk, what values keep to, and what the schema
// says.

inline constexpr FieldRule not_empty{.not_empty = true};
inline constexpr FieldRule not_below_0{.least = 0};
inline constexpr FieldRule later{.presence = Presence::later};
constexpr FieldRule about(const char* words) { return {.about = words}; }
constexpr FieldRule later_about(const char* words) {
  return {.presence = Presence::later, .about = words};
}
constexpr FieldRule differs(const char* title) { return {.title = title}; }

using NamedAxis = std::pair<std::string, AxisValue>;
template <>
inline constexpr auto fields_of<NamedAxis> = field_list("axis",
                                                        "A named value; in the probe's order",
                                                        field("name", &NamedAxis::first),
                                                        field("value", &NamedAxis::second));

template <>
inline constexpr auto fields_of<Metric> = field_list(
    "metric", "What the entry reports; value is the median of samples",
    field("name", &Metric::name, not_empty),
    field("unit", &Metric::unit, about("SI base unit or a counted thing: B/s, s, cycles, %")),
    field("better", &Metric::better), field("value", &Metric::value));

template <>
inline constexpr auto fields_of<Interval> =
    field_list("interval", "Confidence interval of a median", field("low", &Interval::low),
               field("high", &Interval::high),
               field("confidence", &Interval::confidence, {.least = 0, .most = 1}),
               field("method", &Interval::method));

template <>
inline constexpr auto fields_of<Bound> = field_list(
    "bound", "What physics allows: no value can be better", field("value", &Bound::value),
    field("source", &Bound::source, about("Formula with its figures, or data sheet")),
    field("clock_hz", &Bound::clock_hz,
          {.presence = Presence::if_set,
           .about = "The SM clock that it holds at, where it grows with that clock"}));

inline constexpr FieldRule tolerance{.least = 0, .about = "Relative; 0: must be equal"};

template <>
inline constexpr auto fields_of<Expectation> = field_list(
    "expectation", "What a model predicts", field("value", &Expectation::value),
    field("tolerance", &Expectation::tolerance, tolerance), field("model", &Expectation::model));

template <>
inline constexpr auto fields_of<Opponent> =
    field_list("opponent", "Another implementation of the same work, timed alternately",
               field("name", &Opponent::name), field("value", &Opponent::value),
               field("ratio", &Opponent::ratio,
                     about("Median of paired ratios; above 1: the entry is better")),
               field("ratio_interval", &Opponent::ratio_interval),
               field("notes", &Opponent::notes, later_about("What it ran, in words by name")),
               field("samples", &Opponent::samples));

template <>
inline constexpr auto fields_of<Counter> = field_list(
    "counter", "A hardware counter per launch; a missing value is null, with its reason",
    field("role", &Counter::role,
          {.not_empty = true, .about = "Fathom's name for what is counted, on every chip"}),
    field("metric", &Counter::metric, about("The chip's own name")), field("unit", &Counter::unit),
    field("value", &Counter::value), field("reason", &Counter::reason),
    field("expected", &Counter::expected), field("tolerance", &Counter::tolerance, tolerance),
    field("expected_model", &Counter::expected_model));

template <>
inline constexpr auto fields_of<Range> = field_list("range", "Lowest, median and highest reading",
                                                    field("low", &Range::low),
                                                    field("median", &Range::median),
                                                    field("high", &Range::high));

template <>
inline constexpr auto fields_of<Telemetry> = field_list(
    "telemetry", "Readings while the samples were taken",
    field("sm_clock_hz", &Telemetry::sm_clock_hz),
    field("memory_clock_hz", &Telemetry::memory_clock_hz), field("power_w", &Telemetry::power_w),
    field("temperature_c", &Telemetry::temperature_c),
    field("throttle_reasons", &Telemetry::throttle_reasons),
    field("missing_reason", &Telemetry::missing_reason),
    field("other_processes", &Telemetry::other_processes,
          {.presence = Presence::if_set,
           .about = "That used the GPU, the most at one time; absent where it is not known"}));

template <>
inline constexpr auto fields_of<Timing> = field_list(
    "timing", "How the samples were taken", field("mode", &Timing::mode),
    field("timer", &Timing::timer), field("launches_per_sample", &Timing::launches_per_sample),
    field("warm_up_launches", &Timing::warm_up_launches), field("stop", &Timing::stop),
    field("elapsed_s", &Timing::elapsed_s, not_below_0),
    field("rest", &Timing::rest,
          {.presence = Presence::if_set,
           .above = 0,
           .about = "Before each sample the GPU rested for so many times as long as the last one "
                    "took; absent: not at all"}),
    field("sm_clock_hz", &Timing::sm_clock_hz,
          {.presence = Presence::if_set,
           .above = 0,
           .about = "Of the SMs while samples were taken, by their own counters; absent: it was "
                    "not measured"}));

template <>
inline constexpr auto fields_of<Profile> =
    field_list("profile", "A figure for each place along an axis of its own",
               field("axis", &Profile::axis, {.not_empty = true, .about = "What the places are"}),
               field("unit", &Profile::unit), field("values", &Profile::values));

template <>
inline constexpr auto fields_of<Verdict> = field_list(
    "verdict", "What the entry is worth, worst finding first", field("status", &Verdict::status),
    field("reasons", &Verdict::reasons), field("unchecked", &Verdict::unchecked));

inline constexpr auto entry_part = field_list(
    "entry", "Fathom's part of an entry", field("probe", &Entry::probe, not_empty),
    field("axes", &Entry::axes), field("metric", &Entry::metric),
    field("interval", &Entry::interval),
    field("repeatability", &Entry::repeatability,
          {.least = 0, .about = "Relative spread of the medians of separate rounds"}),
    field("profile", &Entry::profile, later), field("bound", &Entry::bound),
    field("expected", &Entry::expected), field("verdict", &Entry::verdict),
    field("opponents", &Entry::opponents), field("counters", &Entry::counters),
    field("extras", &Entry::extras, about("Further figures by name")),
    field("notes", &Entry::notes, later_about("What was measured, in words by name")),
    field("telemetry", &Entry::telemetry), field("timing", &Entry::timing),
    field("real_time_s", &Entry::real_time_s, {.least = 0, .about = "Median time of one launch"}),
    field("cpu_time_s", &Entry::cpu_time_s, not_below_0),
    field("samples", &Entry::samples, about("Of the metric, in the order taken")));

// What Google Benchmark's readers look for beside these (results/document_to_json.cpp).
void add_numbers(const Entry& entry, nlohmann::ordered_json& row);
void add_error(const Entry& entry, nlohmann::ordered_json& row);
void add_user_counters(const Entry& entry, nlohmann::ordered_json& row);
void add_host(const Document& document, nlohmann::ordered_json& context);
void add_caches(const Document& document, nlohmann::ordered_json& context);

template <>
inline constexpr auto fields_of<Entry> = field_list(
    "row", "A case, as in Google Benchmark; further numbers are user counters",
    field("name", &Entry::name,
          {.not_empty = true, .about = "Begins with REPLAY/ in a replay, and only there"}),
    further<Entry>(add_numbers),
    derived<Entry>(
        "run_name", +[](const Entry& e) { return e.name; }),
    constant("run_type", "iteration"), field("repetitions", &Entry::repetitions),
    field("repetition_index", &Entry::repetition_index),
    derived<Entry>(
        "threads", +[](const Entry&) { return std::int64_t{1}; }),
    further<Entry>(add_error), field("iterations", &Entry::iterations),
    derived<Entry>(
        "real_time", +[](const Entry& e) { return e.real_time_s * 1e9; }, not_below_0),
    derived<Entry>(
        "cpu_time", +[](const Entry& e) { return e.cpu_time_s * 1e9; }, not_below_0),
    constant("time_unit", "ns"), further<Entry>(add_user_counters), part("fathom", entry_part));

template <>
inline constexpr auto fields_of<Fingerprint> = field_list(
    "fingerprint", "The GPU and the software behind a run; an empty text or null is unknown",
    field("gpu_name", &Fingerprint::gpu_name, differs("GPU")),
    field("gpu_uuid_hash", &Fingerprint::gpu_uuid_hash, differs("GPU UUID")),
    field("compute_capability", &Fingerprint::compute_capability, differs("compute capability")),
    field("vbios", &Fingerprint::vbios, differs("VBIOS")),
    field("driver", &Fingerprint::driver, differs("driver")),
    field("cuda_driver", &Fingerprint::cuda_driver, differs("driver's CUDA")),
    field("cuda_runtime", &Fingerprint::cuda_runtime, differs("CUDA runtime")),
    field("toolkit", &Fingerprint::toolkit, differs("toolkit")),
    field("sms", &Fingerprint::sms, differs("SMs")),
    field("memory_bytes", &Fingerprint::memory_bytes, differs("memory bytes")),
    field("l2_bytes", &Fingerprint::l2_bytes, differs("L2 bytes")),
    field("memory_bus_bits", &Fingerprint::memory_bus_bits, differs("memory bus bits")),
    field("sm_clock_max_hz", &Fingerprint::sm_clock_max_hz, differs("maximum SM clock in Hz")),
    field("memory_clock_max_hz", &Fingerprint::memory_clock_max_hz,
          differs("maximum memory clock in Hz")),
    field("power_limit_w", &Fingerprint::power_limit_w, differs("power limit in W")),
    field("ecc", &Fingerprint::ecc, differs("ECC")),
    field("mig", &Fingerprint::mig, differs("MIG")),
    field("persistence", &Fingerprint::persistence, differs("persistence mode")),
    field("pcie_link", &Fingerprint::pcie_link, differs("PCIe link")),
    field("virtualization", &Fingerprint::virtualization, differs("virtualisation")),
    field("compute_mode", &Fingerprint::compute_mode, differs("compute mode")),
    field("confidential_computing", &Fingerprint::confidential_computing,
          differs("confidential computing")));

template <>
inline constexpr auto fields_of<DeviceBound> = field_list("device_bound",
                                                          "A figure that others are held against",
                                                          field("name", &DeviceBound::name),
                                                          field("unit", &DeviceBound::unit),
                                                          field("value", &DeviceBound::value),
                                                          field("source", &DeviceBound::source));

inline constexpr auto run_part = field_list(
    "run", "Fathom's part of the context", constant("schema_version", schema_version),
    field("version", &Document::fathom_version, differs("Fathom's version")),
    field("commit", &Document::fathom_commit, differs("Fathom's commit")),
    field("source", &Document::source,
          {.about = "A replay shows what was recorded elsewhere; nothing in it was measured",
           .title = "source"}),
    field("suite", &Document::suite, differs("suite")),
    field("seed", &Document::seed, differs("seed")),
    field("elapsed_s", &Document::elapsed_s, not_below_0),
    field("fingerprint", &Document::fingerprint), field("bounds", &Document::bounds),
    field("warnings", &Document::warnings),
    field("notes", &Document::notes, later_about("What else the run should be read with")));

template <>
inline constexpr auto fields_of<PlotMarker> = field_list("marker", "A vertical line on a plot",
                                                         field("x", &PlotMarker::x),
                                                         field("label", &PlotMarker::label));

template <>
inline constexpr auto fields_of<PlotStretch> =
    field_list("stretch", "A level or a ramp over a plot's points, in the units of its axes",
               field("first_x", &PlotStretch::first_x), field("first_y", &PlotStretch::first_y),
               field("last_x", &PlotStretch::last_x), field("last_y", &PlotStretch::last_y),
               field("label", &PlotStretch::label));

template <>
inline constexpr auto fields_of<PlotLevel> = field_list("level",
                                                        "A line across a plot at one value of y",
                                                        field("y", &PlotLevel::y),
                                                        field("label", &PlotLevel::label));

template <>
inline constexpr auto fields_of<Term> =
    field_list("term", "A figure of an entry, counter:<role> or extra:<name>, times a factor",
               field("figure", &Term::figure), field("factor", &Term::factor));

template <>
inline constexpr auto fields_of<MemoryLevel> = field_list(
    "memory_level", "A level of memory on a roofline; bytes are the sum of terms",
    field("name", &MemoryLevel::name),
    field("bound", &MemoryLevel::bound, about("Of the run's bounds, its roof; or empty")),
    field("counted", &MemoryLevel::counted),
    field("otherwise", &MemoryLevel::otherwise, about("Where one of the counted is missing")));

using AxisValues = std::pair<std::string, std::vector<AxisValue>>;
template <>
inline constexpr auto fields_of<AxisValues> =
    field_list("", "Entries with one of these values on this axis",
               field("axis", &AxisValues::first), field("values", &AxisValues::second));

template <>
inline constexpr auto fields_of<View> = field_list(
    "view", "What a plot or a table shows of the entries", field("kind", &View::kind),
    field("title", &View::title), field("note", &View::note),
    field("overview", &View::overview, later_about("On the one-page atlas, too")),
    field("section", &View::section, later_about("Heading on the probe's own page")),
    field("where", &View::where), field("x", &View::x), field("x_label", &View::x_label),
    field("y", &View::y), field("y_label", &View::y_label), field("x_log2", &View::x_log2),
    field("y_log", &View::y_log), field("y_from_zero", &View::y_from_zero),
    field("series", &View::series), field("show_bound", &View::show_bound),
    field("show_expected", &View::show_expected),
    field("show_opponents", &View::show_opponents, later), field("levels", &View::levels, later),
    field("markers", &View::markers, later), field("stretches", &View::stretches, later),
    field("columns", &View::columns),
    field("y_axis", &View::y_axis, later_about("Of a heat map's rows")),
    field("row_order", &View::row_order, later_about("Of a heat map's rows, from the top")),
    field("work", &View::work, later_about("Of a roofline: the figure that counts FLOP")),
    field("memory", &View::memory, later));

template <>
inline constexpr auto fields_of<ProbeSummary> = field_list(
    "probe", "A question put to the GPU, and its answer",
    field("name", &ProbeSummary::name, not_empty), field("question", &ProbeSummary::question),
    field("answer", &ProbeSummary::answer), field("method", &ProbeSummary::method),
    field("status", &ProbeSummary::status), field("status_reason", &ProbeSummary::status_reason),
    field("elapsed_s", &ProbeSummary::elapsed_s, not_below_0),
    field("page", &ProbeSummary::page,
          later_about("Name of its own page, for views with a section")),
    field("page_title", &ProbeSummary::page_title, later), field("views", &ProbeSummary::views));

inline constexpr FieldRule entry_names = about("Names of entries");

template <>
inline constexpr auto fields_of<Claim> = field_list(
    "claim", "A claim of the literature, held against the entries", field("id", &Claim::id),
    field("statement", &Claim::statement), field("claimed", &Claim::claimed),
    field("verdict", &Claim::verdict), field("figure", &Claim::figure),
    field("evidence", &Claim::evidence, entry_names), field("probe", &Claim::probe),
    field("author", &Claim::author, later_about("Whose claim it is, and where it was made")),
    field("gpu", &Claim::gpu, later_about("The author's GPU")));

template <>
inline constexpr auto fields_of<Published> =
    field_list("published", "What somebody else states, in the fact's unit",
               field("value", &Published::value), field("source", &Published::source, not_empty));

template <>
inline constexpr auto fields_of<Fact> = field_list(
    "fact", "A quantity of a part of the GPU; a missing value is null, with its reason",
    field("id", &Fact::id,
          {.not_empty = true, .about = "part.quantity, as l1.latency; unique within a run"}),
    field("subject", &Fact::subject), field("quantity", &Fact::quantity),
    field("value", &Fact::value),
    field("unit", &Fact::unit, about("SI base unit or a counted thing: B, s, B/s, cycles")),
    field("interval", &Fact::interval), field("method", &Fact::method),
    field("repeats", &Fact::repeats), field("evidence", &Fact::evidence, entry_names),
    field("reason", &Fact::reason, about("Empty exactly where there is a value")),
    field("published", &Fact::published), field("probe", &Fact::probe),
    field("bound", &Fact::bound), field("better", &Fact::better),
    field("counters", &Fact::counters));

template <>
inline constexpr auto fields_of<Document> = field_list(
    "", "A superset of Google Benchmark's JSON. SI base units; null: not to be had.",
    part("context",
         field_list("", "As in Google Benchmark", field("date", &Document::date, about("ISO 8601")),
                    further<Document>(add_host), field("executable", &Document::executable),
                    field("num_cpus", &Document::num_cpus),
                    field("mhz_per_cpu", &Document::mhz_per_cpu),
                    field("cpu_scaling_enabled", &Document::cpu_scaling_enabled,
                          {.presence = Presence::if_set}),
                    further<Document>(add_caches),
                    field("library_version", &Document::google_benchmark_version),
                    field("library_build_type", &Document::library_build_type),
                    constant("json_schema_version", 1,
                             about("Google Benchmark's; Fathom's own is fathom/schema_version")),
                    part("fathom", run_part))),
    field("benchmarks", &Document::entries),
    part("fathom",
         field_list("", "What the run answers", field("probes", &Document::probes),
                    field("claims", &Document::claims), field("facts", &Document::facts, later))));

}  // namespace fathom
