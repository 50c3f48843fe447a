#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/fields.h"

namespace fathom {

// The result document, once: names and order on disk, and what the schema says.

inline constexpr auto later = Presence::later, if_set = Presence::if_set;

/// What the schema says of fields, and which may be absent, by "<list>.<name>".
inline constexpr std::pair<std::string_view, FieldRule> field_rules[] = {
    {"metric.unit", {"SI base unit or a counted thing: B/s, s, cycles, %"}},
    {"bound.source", {"Formula with its figures, or data sheet"}},
    {"bound.clock_hz", {"The SM clock that it holds at, where it grows with it", if_set}},
    {"expectation.tolerance", {"Relative; 0: must be equal"}},
    {"opponent.ratio", {"Median of paired ratios; above 1: the entry is better"}},
    {"opponent.notes", {"What it ran, in words by name", later}},
    {"counter.role", {"Fathom's name for what is counted, on every chip"}},
    {"counter.metric", {"The chip's own name"}},
    {"counter.tolerance", {"Relative; 0: must be equal"}},
    {"telemetry.other_processes",
     {"That used the GPU, the most at one time; absent where it is not known", if_set}},
    {"timing.rest",
     {"Of the GPU before each sample, in times of the last one; absent: none", if_set}},
    {"timing.sm_clock_hz",
     {"Of the SMs, by their own counters; absent: it was not measured", if_set}},
    {"profile.axis", {"What the places are"}},
    {"entry.repeatability", {"Relative spread of medians of separate rounds"}},
    {"entry.profile", {"", later}},
    {"entry.extras", {"Further figures by name"}},
    {"entry.notes", {"What was measured, in words by name", later}},
    {"entry.real_time_s", {"Median time of one launch"}},
    {"entry.samples", {"Of the metric, in the order taken"}},
    {"memory_level.bound", {"Of the run's bounds, its roof; or empty"}},
    {"memory_level.otherwise", {"Where one of the counted is missing"}},
    {"view.overview", {"On the one-page atlas, too", later}},
    {"view.section", {"Heading on the probe's own page", later}},
    {"view.show_opponents", {"", later}},
    {"view.levels", {"", later}},
    {"view.markers", {"", later}},
    {"view.stretches", {"", later}},
    {"view.y_axis", {"Of a heat map's rows", later}},
    {"view.row_order", {"Of a heat map's rows, from the top", later}},
    {"view.work", {"Of a roofline: the figure that counts FLOP", later}},
    {"view.memory", {"", later}},
    {"probe.page", {"Name of its own page, for views with a section", later}},
    {"probe.page_title", {"", later}},
    {"claim.evidence", {"Names of entries"}},
    {"claim.author", {"Whose claim it is, and where it was made", later}},
    {"claim.gpu", {"The author's GPU", later}},
    {"fact.id", {"part.quantity, as l1.latency; unique within a run"}},
    {"fact.unit", {"SI base unit or a counted thing: B, s, B/s, cycles"}},
    {"fact.evidence", {"Names of entries"}},
    {"fact.reason", {"Empty exactly where there is a value"}}};

constexpr FieldRule rule_of(std::string_view list, std::string_view name) {
  for (const auto& [field, rule] : field_rules)
    if (field.substr(0, field.find('.')) == list && field.substr(field.find('.') + 1) == name)
      return rule;
  return {};
}

using NamedAxis = std::pair<std::string, AxisValue>;
template <>
inline constexpr auto fields_of<NamedAxis> = field_list("axis",
                                                        "A named value; in the probe's order",
                                                        field("name", &NamedAxis::first),
                                                        field("value", &NamedAxis::second));
FATHOM_FIELDS(Metric, "metric", "What the entry reports; value is the median of samples", name,
              unit, better, value);
FATHOM_FIELDS(Interval, "interval", "Confidence interval of a median", low, high, confidence,
              method);
FATHOM_FIELDS(Bound, "bound", "What physics allows: no value can be better", value, source,
              clock_hz);
FATHOM_FIELDS(Expectation, "expectation", "What a model predicts", value, tolerance, model);
FATHOM_FIELDS(Opponent, "opponent", "Another implementation of the same work, timed alternately",
              name, value, ratio, ratio_interval, notes, samples);
FATHOM_FIELDS(Counter, "counter",
              "A hardware counter per launch; a missing value is null, with its reason", role,
              metric, unit, value, reason, expected, tolerance, expected_model);
FATHOM_FIELDS(Range, "range", "Lowest, median and highest reading", low, median, high);
FATHOM_FIELDS(Telemetry, "telemetry", "Readings while the samples were taken", sm_clock_hz,
              memory_clock_hz, power_w, temperature_c, throttle_reasons, missing_reason,
              other_processes);
FATHOM_FIELDS(Timing, "timing", "How the samples were taken", mode, timer, launches_per_sample,
              warm_up_launches, stop, elapsed_s, rest, sm_clock_hz);
FATHOM_FIELDS(Profile, "profile", "A figure for each place along an axis of its own", axis, unit,
              values);
FATHOM_FIELDS(Verdict, "verdict", "What the entry is worth, worst finding first", status, reasons,
              unchecked);
inline constexpr auto entry_part =
    FATHOM_LIST(Entry, "entry", "Fathom's part of an entry", probe, axes, metric, interval,
                repeatability, profile, bound, expected, verdict, opponents, counters, extras,
                notes, telemetry, timing, real_time_s, cpu_time_s, samples);

template <>
inline constexpr auto fields_of<Entry> = field_list(
    "row", "A case, as in Google Benchmark; further members are for its readers",
    field("name", &Entry::name, {"Begins with REPLAY/ in a replay, and only there"}),
    field("repetitions", &Entry::repetitions), field("repetition_index", &Entry::repetition_index),
    field("iterations", &Entry::iterations), part("fathom", entry_part));

FATHOM_FIELDS(Fingerprint, "fingerprint",
              "The GPU and the software behind a run; an empty text or null is unknown", gpu_name,
              gpu_uuid_hash, compute_capability, vbios, driver, cuda_driver, cuda_runtime, toolkit,
              sms, memory_bytes, l2_bytes, memory_bus_bits, sm_clock_max_hz, memory_clock_max_hz,
              power_limit_w, ecc, mig, persistence, pcie_link, virtualization, compute_mode,
              confidential_computing);
FATHOM_FIELDS(DeviceBound, "device_bound", "A figure that others are held against", name, unit,
              value, source);

inline constexpr auto run_part = field_list(
    "run", "Fathom's part of the context", field("schema_version", &Document::schema_version),
    field("version", &Document::fathom_version), field("commit", &Document::fathom_commit),
    field("source", &Document::source,
          {"A replay shows what was recorded elsewhere; nothing in it was measured"}),
    field("suite", &Document::suite), field("seed", &Document::seed),
    field("elapsed_s", &Document::elapsed_s), field("fingerprint", &Document::fingerprint),
    field("bounds", &Document::bounds), field("warnings", &Document::warnings),
    field("notes", &Document::notes, {"What else the run should be read with", later}));

FATHOM_FIELDS(PlotMarker, "marker", "A vertical line on a plot", x, label);
FATHOM_FIELDS(PlotStretch, "stretch",
              "A level or a ramp over a plot's points, in the units of its axes", first_x, first_y,
              last_x, last_y, label);
FATHOM_FIELDS(PlotLevel, "level", "A line across a plot at one value of y", y, label);
FATHOM_FIELDS(Term, "term", "A figure of an entry, counter:<role> or extra:<name>, times a factor",
              figure, factor);
FATHOM_FIELDS(MemoryLevel, "memory_level",
              "A level of memory on a roofline; bytes are the sum of terms", name, bound, counted,
              otherwise);
using AxisValues = std::pair<std::string, std::vector<AxisValue>>;
template <>
inline constexpr auto fields_of<AxisValues> =
    field_list("", "Entries with one of these values on this axis",
               field("axis", &AxisValues::first), field("values", &AxisValues::second));
FATHOM_FIELDS(View, "view", "What a plot or a table shows of the entries", kind, title, note,
              overview, section, where, x, x_label, y, y_label, x_log2, y_log, y_from_zero, series,
              show_bound, show_expected, show_opponents, levels, markers, stretches, columns,
              y_axis, row_order, work, memory);
FATHOM_FIELDS(ProbeSummary, "probe", "A question put to the GPU, and its answer", name, question,
              answer, method, status, status_reason, elapsed_s, page, page_title, views);
FATHOM_FIELDS(Claim, "claim", "A claim of the literature, held against the entries", id, statement,
              claimed, verdict, figure, evidence, probe, author, gpu);
FATHOM_FIELDS(Published, "published", "What somebody else states, in the fact's unit", value,
              source);
FATHOM_FIELDS(Fact, "fact",
              "A quantity of a part of the GPU; a missing value is null, with its reason", id,
              subject, quantity, value, unit, interval, method, repeats, evidence, reason,
              published, probe, bound, better, counters);

template <>
inline constexpr auto fields_of<Document> = field_list(
    "", "A superset of Google Benchmark's JSON. SI base units; null: not to be had.",
    part("context",
         field_list("", "As in Google Benchmark", field("date", &Document::date, {"ISO 8601"}),
                    field("executable", &Document::executable),
                    field("num_cpus", &Document::num_cpus),
                    field("mhz_per_cpu", &Document::mhz_per_cpu),
                    field("cpu_scaling_enabled", &Document::cpu_scaling_enabled, {"", if_set}),
                    field("library_version", &Document::google_benchmark_version),
                    field("library_build_type", &Document::library_build_type),
                    part("fathom", run_part))),
    field("benchmarks", &Document::entries),
    part("fathom", field_list("", "What the run answers", field("probes", &Document::probes),
                              field("claims", &Document::claims),
                              field("facts", &Document::facts, {"", later}))));

}  // namespace fathom
