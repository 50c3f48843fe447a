#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/document_keys.h"
#include "results/error.h"
#include "results/fingerprint_json.h"
#include "results/json_values.h"
#include "results/names.h"
#include "results/schema_check.h"
#include "results/utc_time.h"

// The schema has been checked before anything here runs: members are there and have their types.

namespace fathom {
namespace {

using Json = nlohmann::json;

template <typename Value>
Value get(const Json& json, const char* key) {
  return json.at(key).get<Value>();
}

template <typename Convert>
auto list(const Json& json, const char* key, Convert convert) {
  std::vector<decltype(convert(json))> items;
  for (const Json& item : json.at(key)) items.push_back(convert(item));
  return items;
}

// Of a member that documents from before it lack: nothing.

template <typename Convert>
auto list_or_none(const Json& json, const char* key, Convert convert) {
  return json.contains(key) ? list(json, key, convert) : decltype(list(json, key, convert)){};
}

template <typename Convert>
auto converted(const Json& json, const char* key, Convert convert) {
  using Value = decltype(convert(json));
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional<Value>(convert(value));
}

template <typename Convert>
auto converted_or_none(const Json& json, const char* key, Convert convert) {
  return json.contains(key) ? converted(json, key, convert)
                            : decltype(converted(json, key, convert)){};
}

template <typename Enum>
Enum word(const Json& json, const char* key) {
  return from_string<Enum>(text(json, key)).value();
}

AxisValue axis_value(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = json.is_number_integer() &&
                    !(json.is_number_unsigned() && json.get<std::uint64_t>() > largest);
  if (fits) return json.get<std::int64_t>();
  return json.get<double>();
}

std::pair<std::string, AxisValue> axis(const Json& json) {
  return {text(json, "name"), axis_value(json.at("value"))};
}

Interval interval(const Json& json) {
  return {get<double>(json, "low"), get<double>(json, "high"), get<double>(json, "confidence"),
          text(json, "method")};
}

Metric metric(const Json& json) {
  return {text(json, "name"), text(json, "unit"), word<Better>(json, "better"),
          optional<double>(json, "value")};
}

Bound bound(const Json& json) {
  return {get<double>(json, "value"), text(json, "source"), optional<double>(json, "clock_hz")};
}

using Words = std::map<std::string, std::string>;
Words notes(const Json& json) { return optional<Words>(json, "notes").value_or(Words{}); }

Expectation expectation(const Json& json) {
  return {get<double>(json, "value"), get<double>(json, "tolerance"), text(json, "model")};
}

Opponent opponent(const Json& json) {
  return {text(json, "name"),
          get<std::vector<double>>(json, "samples"),
          optional<double>(json, "value"),
          optional<double>(json, "ratio"),
          converted(json, "ratio_interval", interval),
          notes(json)};
}

Counter counter(const Json& json) {
  return {text(json, "role"),
          text(json, "metric"),
          text(json, "unit"),
          optional<double>(json, "value"),
          text(json, "reason"),
          optional<double>(json, "expected"),
          get<double>(json, "tolerance"),
          text(json, "expected_model")};
}

Range range(const Json& json) {
  return {optional<double>(json, "low"), optional<double>(json, "median"),
          optional<double>(json, "high")};
}

Telemetry telemetry(const Json& json) {
  return {range(json.at("sm_clock_hz")),
          range(json.at("memory_clock_hz")),
          range(json.at("power_w")),
          range(json.at("temperature_c")),
          get<std::vector<std::string>>(json, "throttle_reasons"),
          text(json, "missing_reason"),
          optional<int>(json, "other_processes")};
}

Timing timing(const Json& json) {
  return {text(json, "mode"),
          text(json, "timer"),
          get<int>(json, "launches_per_sample"),
          get<int>(json, "warm_up_launches"),
          optional<double>(json, "rest").value_or(0),
          text(json, "stop"),
          get<double>(json, "elapsed_s"),
          optional<double>(json, "sm_clock_hz")};
}

Profile profile(const Json& json) {
  return {text(json, "axis"), text(json, "unit"), get<std::vector<double>>(json, "values")};
}

Verdict verdict(const Json& json) {
  return {word<VerdictStatus>(json, "status"), get<std::vector<std::string>>(json, "reasons"),
          get<std::vector<std::string>>(json, "unchecked")};
}

Entry entry(const Json& row) {
  const Json& own = row.at(keys::own);
  Entry e;
  e.name = text(row, "name");
  e.iterations = get<std::int64_t>(row, "iterations");
  e.repetitions = get<std::int64_t>(row, "repetitions");
  e.repetition_index = get<std::int64_t>(row, "repetition_index");
  e.probe = text(own, "probe");
  e.axes = list(own, "axes", axis);
  e.real_time_s = get<double>(own, "real_time_s");
  e.cpu_time_s = get<double>(own, "cpu_time_s");
  e.metric = metric(own.at("metric"));
  e.extras = get<std::map<std::string, double>>(own, "extras");
  e.notes = notes(own);
  e.samples = get<std::vector<double>>(own, "samples");
  e.interval = converted(own, "interval", interval);
  e.repeatability = optional<double>(own, "repeatability");
  e.profile = converted_or_none(own, "profile", profile);
  e.bound = converted(own, "bound", bound);
  e.expected = converted(own, "expected", expectation);
  e.opponents = list(own, "opponents", opponent);
  e.counters = list(own, "counters", counter);
  e.telemetry = telemetry(own.at("telemetry"));
  e.timing = timing(own.at("timing"));
  e.verdict = verdict(own.at("verdict"));
  return e;
}

std::pair<std::string, std::vector<AxisValue>> condition(const Json& json) {
  return {text(json, "axis"), list(json, "values", axis_value)};
}

PlotMarker marker(const Json& json) { return {get<double>(json, "x"), text(json, "label")}; }

PlotStretch stretch(const Json& json) {
  return {get<double>(json, "first_x"), get<double>(json, "first_y"), get<double>(json, "last_x"),
          get<double>(json, "last_y"), text(json, "label")};
}

PlotLevel level(const Json& json) { return {get<double>(json, "y"), text(json, "label")}; }

Term term(const Json& json) { return {text(json, "figure"), get<double>(json, "factor")}; }

MemoryLevel memory_level(const Json& json) {
  return {text(json, "name"), text(json, "bound"), list(json, "counted", term),
          list(json, "otherwise", term)};
}

View view(const Json& json) {
  View v;
  v.kind = word<View::Kind>(json, "kind");
  v.title = text(json, "title");
  v.note = text(json, "note");
  v.where = list(json, "where", condition);
  v.x = text(json, "x");
  v.x_label = text(json, "x_label");
  v.y = text(json, "y");
  v.y_label = text(json, "y_label");
  v.x_log2 = get<bool>(json, "x_log2");
  v.y_log = get<bool>(json, "y_log");
  v.y_from_zero = get<bool>(json, "y_from_zero");
  v.series = get<std::vector<std::string>>(json, "series");
  v.show_bound = get<bool>(json, "show_bound");
  v.show_expected = get<bool>(json, "show_expected");
  v.markers = list_or_none(json, "markers", marker);
  v.stretches = list_or_none(json, "stretches", stretch);
  v.columns = get<std::vector<std::string>>(json, "columns");
  v.overview = optional<bool>(json, "overview").value_or(false);
  v.y_axis = optional<std::string>(json, "y_axis").value_or("");
  v.row_order = list_or_none(json, "row_order", axis_value);
  v.section = optional<std::string>(json, "section").value_or("");
  v.show_opponents = optional<bool>(json, "show_opponents").value_or(false);
  v.levels = list_or_none(json, "levels", level);
  v.work = optional<std::string>(json, "work").value_or("");
  v.memory = list_or_none(json, "memory", memory_level);
  return v;
}

ProbeSummary probe(const Json& json) {
  ProbeSummary p;
  p.name = text(json, "name");
  p.question = text(json, "question");
  p.answer = text(json, "answer");
  p.method = text(json, "method");
  p.status = word<ProbeStatus>(json, "status");
  p.status_reason = text(json, "status_reason");
  p.elapsed_s = get<double>(json, "elapsed_s");
  p.views = list(json, "views", view);
  p.page = optional<std::string>(json, "page").value_or("");
  p.page_title = optional<std::string>(json, "page_title").value_or("");
  return p;
}

Claim claim(const Json& json) {
  Claim c;
  c.id = text(json, "id");
  c.statement = text(json, "statement");
  c.claimed = text(json, "claimed");
  c.verdict = word<ClaimVerdict>(json, "verdict");
  c.figure = text(json, "figure");
  c.evidence = get<std::vector<std::string>>(json, "evidence");
  c.probe = text(json, "probe");
  c.author = optional<std::string>(json, "author").value_or("");
  c.gpu = optional<std::string>(json, "gpu").value_or("");
  return c;
}

Published published(const Json& json) { return {get<double>(json, "value"), text(json, "source")}; }

Fact fact(const Json& json) {
  Fact f;
  f.id = text(json, "id");
  f.subject = text(json, "subject");
  f.quantity = text(json, "quantity");
  f.value = optional<double>(json, "value");
  f.unit = text(json, "unit");
  f.interval = converted(json, "interval", interval);
  f.method = text(json, "method");
  f.repeats = get<int>(json, "repeats");
  f.evidence = get<std::vector<std::string>>(json, "evidence");
  f.reason = text(json, "reason");
  f.published = converted(json, "published", published);
  f.probe = text(json, "probe");
  f.bound = converted(json, "bound", bound);
  f.better = word<Better>(json, "better");
  f.counters = list(json, "counters", counter);
  return f;
}

DeviceBound device_bound(const Json& json) {
  return {text(json, "name"), text(json, "unit"), text(json, "source"), get<double>(json, "value")};
}

/// A replay's entries carry its mark and a measurement's do not, so that changing the one word that
/// says where a document comes from changes nothing.
void take_replay_marks(Document& document, const std::string& origin) {
  const bool replay = document.source == Source::replay;
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    std::string& name = document.entries[i].name;
    if (name.starts_with(keys::replay_prefix) != replay) {
      throw Error(
          ExitCode::document_malformed,
          fmt::format("{}: /benchmarks/{}/name is {}, but /context/fathom/source is {}: names "
                      "begin with {} in a replay and only there; take the file as it was "
                      "written.",
                      origin, i, name, to_string(document.source), keys::replay_prefix));
    }
    if (replay) name.erase(0, keys::replay_prefix.size());
  }
}

[[noreturn]] void refuse_fact(const std::string& origin, std::size_t index, const char* member,
                              const std::string& what) {
  throw Error(ExitCode::document_malformed,
              fmt::format("{}: /fathom/facts/{}/{} {}. Take the file as it was written.", origin,
                          index, member, what));
}

/// What the schema cannot say of facts: each has its own id, and a value or a reason for none.
void check_facts(const std::vector<Fact>& facts, const std::string& origin) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!ids.insert(facts[i].id).second) {
      refuse_fact(origin, i, "id", "is that of an earlier fact; expected: one of its own");
    }
    if (facts[i].value.has_value() != facts[i].reason.empty()) {
      refuse_fact(origin, i, "reason",
                  facts[i].value ? "is there beside a value; expected: an empty string"
                                 : "is empty and there is no value; expected: why there is none");
    }
  }
}

/// What a view of its kind cannot do without, and lacks; empty: nothing.
std::string lacking(const View& view) {
  using Kind = View::Kind;
  if (view.kind == Kind::heat_map && (view.y_axis.empty() || view.x.empty())) {
    return "a heat map that lacks x or y_axis; expected: the axes of its columns and its rows";
  }
  if (view.kind == Kind::roofline && (view.x.empty() || view.work.empty() || view.memory.empty())) {
    return "a roofline that lacks x, work or memory; expected: the axis that names its points, the "
           "figure that counts FLOP, and levels of memory";
  }
  if (view.kind == Kind::steps && view.x.empty()) {
    return "of steps and lacks x; expected: the axis that names them";
  }
  return "";
}

/// What the schema cannot say of views.
void check_views(const std::vector<ProbeSummary>& probes, const std::string& origin) {
  for (std::size_t p = 0; p < probes.size(); ++p) {
    for (std::size_t v = 0; v < probes[p].views.size(); ++v) {
      const std::string what = lacking(probes[p].views[v]);
      if (what.empty()) continue;
      throw Error(
          ExitCode::document_malformed,
          fmt::format("{}: /fathom/probes/{}/views/{} is {}. Take the file as it was written.",
                      origin, p, v, what));
    }
  }
}

}  // namespace

Document from_json(const Json& json, const std::string& origin) {
  check_schema(json, origin);
  const Json& context = json.at("context");
  const Json& run = context.at(keys::own);
  const Json& own = json.at(keys::own);
  Document d;
  d.date = text(context, "date");
  if (!d.date.empty() && !is_utc_time(d.date))
    throw Error(ExitCode::document_malformed,
                fmt::format("{}: /context/date is \"{}\"; expected: a time in UTC, as "
                            "\"2026-01-31T12:00:00Z\".",
                            origin, quotable(d.date)));
  d.executable = text(context, "executable");
  d.num_cpus = get<std::int64_t>(context, "num_cpus");
  d.mhz_per_cpu = optional<std::int64_t>(context, "mhz_per_cpu");
  d.cpu_scaling_enabled = optional<bool>(context, "cpu_scaling_enabled");
  d.google_benchmark_version = text(context, "library_version");
  d.library_build_type = text(context, "library_build_type");
  d.fathom_version = text(run, "version");
  d.fathom_commit = text(run, "commit");
  d.source = word<Source>(run, "source");
  d.suite = text(run, "suite");
  d.seed = text(run, "seed");
  d.elapsed_s = get<double>(run, "elapsed_s");
  d.fingerprint = fingerprint_from_json(run.at("fingerprint"));
  d.bounds = list(run, "bounds", device_bound);
  d.warnings = get<std::vector<std::string>>(run, "warnings");
  d.notes = optional<std::vector<std::string>>(run, "notes").value_or(std::vector<std::string>{});
  d.entries = list(json, "benchmarks", entry);
  d.probes = list(own, "probes", probe);
  d.claims = list(own, "claims", claim);
  d.facts = list_or_none(own, "facts", fact);
  check_facts(d.facts, origin);
  check_views(d.probes, origin);
  take_replay_marks(d, origin);
  return d;
}

}  // namespace fathom
