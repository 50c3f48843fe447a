#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "results/document_io.h"
#include "results/document_keys.h"
#include "results/error.h"
#include "results/fingerprint_json.h"
#include "results/json_values.h"
#include "results/names.h"

namespace fathom {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename Item, typename Convert>
OrderedJson array_of(const std::vector<Item>& items, Convert convert) {
  OrderedJson array = OrderedJson::array();
  for (const Item& item : items) array.push_back(convert(item));
  return array;
}

template <typename Value, typename Convert>
OrderedJson converted_or_null(const std::optional<Value>& value, Convert convert) {
  return value ? convert(*value) : OrderedJson(nullptr);
}

OrderedJson axis_value(const AxisValue& value) {
  return std::visit([](const auto& v) { return OrderedJson(v); }, value);
}

OrderedJson interval(const Interval& i) {
  return {{"low", i.low}, {"high", i.high}, {"confidence", i.confidence}, {"method", i.method}};
}

OrderedJson axis(const std::pair<std::string, AxisValue>& a) {
  return {{"name", a.first}, {"value", axis_value(a.second)}};
}

OrderedJson metric(const Metric& m) {
  return {{"name", m.name},
          {"unit", m.unit},
          {"better", to_string(m.better)},
          {"value", or_null(m.value)}};
}

OrderedJson bound(const Bound& b) {
  OrderedJson json{{"value", b.value}, {"source", b.source}};
  if (b.clock_hz) json["clock_hz"] = *b.clock_hz;
  return json;
}

/// An object also where it is empty.
OrderedJson words(const std::map<std::string, std::string>& notes) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, text] : notes) json[name] = text;
  return json;
}

OrderedJson expectation(const Expectation& e) {
  return {{"value", e.value}, {"tolerance", e.tolerance}, {"model", e.model}};
}

OrderedJson opponent(const Opponent& o) {
  return {{"name", o.name},
          {"value", or_null(o.value)},
          {"ratio", or_null(o.ratio)},
          {"ratio_interval", converted_or_null(o.ratio_interval, interval)},
          {"notes", words(o.notes)},
          {"samples", o.samples}};
}

OrderedJson counter(const Counter& c) {
  return {{"role", c.role},           {"metric", c.metric},
          {"unit", c.unit},           {"value", or_null(c.value)},
          {"reason", c.reason},       {"expected", or_null(c.expected)},
          {"tolerance", c.tolerance}, {"expected_model", c.expected_model}};
}

OrderedJson range(const Range& r) {
  return {{"low", or_null(r.low)}, {"median", or_null(r.median)}, {"high", or_null(r.high)}};
}

OrderedJson telemetry(const Telemetry& t) {
  OrderedJson json{{"sm_clock_hz", range(t.sm_clock_hz)},
                   {"memory_clock_hz", range(t.memory_clock_hz)},
                   {"power_w", range(t.power_w)},
                   {"temperature_c", range(t.temperature_c)},
                   {"throttle_reasons", t.throttle_reasons},
                   {"missing_reason", t.missing_reason}};
  if (t.other_processes) json["other_processes"] = *t.other_processes;
  return json;
}

OrderedJson timing(const Timing& t) {
  OrderedJson json{{"mode", t.mode},
                   {"timer", t.timer},
                   {"launches_per_sample", t.launches_per_sample},
                   {"warm_up_launches", t.warm_up_launches},
                   {"stop", t.stop},
                   {"elapsed_s", t.elapsed_s}};
  if (t.rest > 0) json["rest"] = t.rest;
  if (t.sm_clock_hz) json["sm_clock_hz"] = *t.sm_clock_hz;
  return json;
}

OrderedJson profile(const Profile& p) {
  return {{"axis", p.axis}, {"unit", p.unit}, {"values", p.values}};
}

OrderedJson verdict(const Verdict& v) {
  return {{"status", to_string(v.status)}, {"reasons", v.reasons}, {"unchecked", v.unchecked}};
}

OrderedJson own_part(const Entry& e) {
  OrderedJson extras = OrderedJson::object();
  for (const auto& [name, value] : e.extras) extras[name] = value;
  return {{"probe", e.probe},
          {"axes", array_of(e.axes, axis)},
          {"metric", metric(e.metric)},
          {"interval", converted_or_null(e.interval, interval)},
          {"repeatability", or_null(e.repeatability)},
          {"profile", converted_or_null(e.profile, profile)},
          {"bound", converted_or_null(e.bound, bound)},
          {"expected", converted_or_null(e.expected, expectation)},
          {"verdict", verdict(e.verdict)},
          {"opponents", array_of(e.opponents, opponent)},
          {"counters", array_of(e.counters, counter)},
          {"extras", std::move(extras)},
          {"notes", words(e.notes)},
          {"telemetry", telemetry(e.telemetry)},
          {"timing", timing(e.timing)},
          {"real_time_s", e.real_time_s},
          {"cpu_time_s", e.cpu_time_s},
          {"samples", e.samples}};
}

/// As Google Benchmark numbers its entries: one family per probe, one instance per case.
class Numbering {
 public:
  std::pair<std::size_t, std::size_t> of(const Entry& entry) {
    const std::size_t family = index_in(families_, entry.probe);
    return {family, index_in(instances_[family], entry.name)};
  }

 private:
  static std::size_t index_in(std::map<std::string, std::size_t>& known, const std::string& name) {
    return known.emplace(name, known.size()).first->second;
  }
  std::map<std::string, std::size_t> families_;
  std::map<std::size_t, std::map<std::string, std::size_t>> instances_;
};

/// User counters, as Google Benchmark's readers find them: beside the entry's fields.
void flatten_counters(const Entry& entry, OrderedJson& row) {
  const auto add = [&](const std::string& name, double value) {
    const bool ours_or_theirs = name == keys::own || keys::google_benchmark_fields().contains(name);
    if (!ours_or_theirs && !row.contains(name)) row[name] = value;
  };
  if (entry.metric.value) add(entry.metric.name, *entry.metric.value);
  for (const auto& [name, value] : entry.extras) add(name, value);
  for (const Counter& c : entry.counters) {
    if (c.value) add(c.role, *c.value);
  }
}

OrderedJson row(const Entry& e, Source source, Numbering& numbering) {
  const auto [family, instance] = numbering.of(e);
  const std::string name = (source == Source::replay ? keys::replay_prefix : "") + e.name;
  OrderedJson row{{"name", name},
                  {"family_index", family},
                  {"per_family_instance_index", instance},
                  {"run_name", name},
                  {"run_type", "iteration"},
                  {"repetitions", e.repetitions},
                  {"repetition_index", e.repetition_index},
                  {"threads", 1}};
  if (e.verdict.status == VerdictStatus::failed ||
      e.verdict.status == VerdictStatus::wrong_output) {
    row["error_occurred"] = true;
    row["error_message"] = e.verdict.reasons.empty() ? "" : e.verdict.reasons.front();
  }
  row["iterations"] = e.iterations;
  row["real_time"] = e.real_time_s * 1e9;
  row["cpu_time"] = e.cpu_time_s * 1e9;
  row["time_unit"] = "ns";
  flatten_counters(e, row);
  row[keys::own] = own_part(e);
  return row;
}

OrderedJson device_bound(const DeviceBound& b) {
  return {{"name", b.name}, {"unit", b.unit}, {"value", b.value}, {"source", b.source}};
}

OrderedJson context(const Document& d) {
  OrderedJson context{{"date", d.date},
                      {"host_name", "withheld"},  // results get published
                      {"executable", d.executable},
                      {"num_cpus", d.num_cpus},
                      {"mhz_per_cpu", or_null(d.mhz_per_cpu)}};
  if (d.cpu_scaling_enabled) context["cpu_scaling_enabled"] = *d.cpu_scaling_enabled;
  context["caches"] = OrderedJson::array();
  context["load_avg"] = OrderedJson::array();
  context["library_version"] = d.google_benchmark_version;
  context["library_build_type"] = d.library_build_type;
  context["json_schema_version"] = 1;  // Google Benchmark's
  context[keys::own] = {{"schema_version", schema_version},
                        {"version", d.fathom_version},
                        {"commit", d.fathom_commit},
                        {"source", to_string(d.source)},
                        {"suite", d.suite},
                        {"seed", d.seed},
                        {"elapsed_s", d.elapsed_s},
                        {"fingerprint", fingerprint_to_json(d.fingerprint)},
                        {"bounds", array_of(d.bounds, device_bound)},
                        {"warnings", d.warnings},
                        {"notes", d.notes}};
  return context;
}

OrderedJson marker(const PlotMarker& m) { return {{"x", m.x}, {"label", m.label}}; }

OrderedJson stretch(const PlotStretch& s) {
  return {{"first_x", s.first_x},
          {"first_y", s.first_y},
          {"last_x", s.last_x},
          {"last_y", s.last_y},
          {"label", s.label}};
}

OrderedJson level(const PlotLevel& l) { return {{"y", l.y}, {"label", l.label}}; }

OrderedJson term(const Term& t) { return {{"figure", t.figure}, {"factor", t.factor}}; }

OrderedJson memory_level(const MemoryLevel& m) {
  return {{"name", m.name},
          {"bound", m.bound},
          {"counted", array_of(m.counted, term)},
          {"otherwise", array_of(m.otherwise, term)}};
}

OrderedJson view(const View& v) {
  const auto condition = [](const std::pair<std::string, std::vector<AxisValue>>& c) {
    return OrderedJson{{"axis", c.first}, {"values", array_of(c.second, axis_value)}};
  };
  return {{"kind", to_string(v.kind)},
          {"title", v.title},
          {"note", v.note},
          {"overview", v.overview},
          {"section", v.section},
          {"where", array_of(v.where, condition)},
          {"x", v.x},
          {"x_label", v.x_label},
          {"y", v.y},
          {"y_label", v.y_label},
          {"x_log2", v.x_log2},
          {"y_log", v.y_log},
          {"y_from_zero", v.y_from_zero},
          {"series", v.series},
          {"show_bound", v.show_bound},
          {"show_expected", v.show_expected},
          {"show_opponents", v.show_opponents},
          {"levels", array_of(v.levels, level)},
          {"markers", array_of(v.markers, marker)},
          {"stretches", array_of(v.stretches, stretch)},
          {"columns", v.columns},
          {"y_axis", v.y_axis},
          {"row_order", array_of(v.row_order, axis_value)},
          {"work", v.work},
          {"memory", array_of(v.memory, memory_level)}};
}

OrderedJson probe(const ProbeSummary& p) {
  return {{"name", p.name},
          {"question", p.question},
          {"answer", p.answer},
          {"method", p.method},
          {"status", to_string(p.status)},
          {"status_reason", p.status_reason},
          {"elapsed_s", p.elapsed_s},
          {"page", p.page},
          {"page_title", p.page_title},
          {"views", array_of(p.views, view)}};
}

OrderedJson claim(const Claim& c) {
  return {{"id", c.id},           {"statement", c.statement},
          {"claimed", c.claimed}, {"verdict", to_string(c.verdict)},
          {"figure", c.figure},   {"evidence", c.evidence},
          {"probe", c.probe},     {"author", c.author},
          {"gpu", c.gpu}};
}

OrderedJson published(const Published& p) { return {{"value", p.value}, {"source", p.source}}; }

OrderedJson fact(const Fact& f) {
  return {{"id", f.id},
          {"subject", f.subject},
          {"quantity", f.quantity},
          {"value", or_null(f.value)},
          {"unit", f.unit},
          {"interval", converted_or_null(f.interval, interval)},
          {"method", f.method},
          {"repeats", f.repeats},
          {"evidence", f.evidence},
          {"reason", f.reason},
          {"published", converted_or_null(f.published, published)},
          {"probe", f.probe},
          {"bound", converted_or_null(f.bound, bound)},
          {"better", to_string(f.better)},
          {"counters", array_of(f.counters, counter)}};
}

/// The path of the first number that is not finite, below `json`; nothing if all are.
std::optional<std::string> find_not_finite(const OrderedJson& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return "";
  if (!json.is_structured()) return std::nullopt;
  std::size_t index = 0;
  for (auto item = json.begin(); item != json.end(); ++item, ++index) {
    if (const auto rest = find_not_finite(*item)) {
      return fmt::format("/{}{}", json.is_object() ? item.key() : std::to_string(index), *rest);
    }
  }
  return std::nullopt;
}

}  // namespace

OrderedJson to_json(const Document& document) {
  Numbering numbering;
  OrderedJson json{
      {"context", context(document)},
      {"benchmarks", array_of(document.entries,
                              [&](const Entry& e) { return row(e, document.source, numbering); })},
      {keys::own,
       {{"probes", array_of(document.probes, probe)},
        {"claims", array_of(document.claims, claim)},
        {"facts", array_of(document.facts, fact)}}}};
  if (const auto path = find_not_finite(json)) {
    throw Error(ExitCode::document_malformed,
                fmt::format("The result cannot be written: {} is no finite number, and JSON has no "
                            "other; correct what computed it.",
                            *path));
  }
  return json;
}

}  // namespace fathom
