#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "fleet/gpu_summary.h"
#include "fleet/summary_json.h"
#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/json_values.h"
#include "results/names.h"
#include "results/utc_time.h"

namespace fathom::fleet {
namespace {

namespace dom = simdjson::dom;
using Json = nlohmann::ordered_json;

/// More GPUs than a host has, and more of anything than a result has.
constexpr std::size_t most_metrics = 100'000;
constexpr double largest_count = 1e9;

/// The shortest number that gives the figure back: as a double it would have seventeen digits.
Json number(const Reading& figure) {
  if (!figure) return nullptr;
  std::array<char, 32> text{};
  const auto written =
      fmt::format_to_n(text.data(), text.size(), "{}", static_cast<float>(*figure));
  double value = 0;
  std::from_chars(text.data(), written.out, value);
  return value;
}

template <class Value>
Json column(const std::vector<Value>& values, auto member) {
  Json all = Json::array();
  for (const Value& value : values) all.push_back(std::invoke(member, value));
  return all;
}

Json figures_json(const GpuSummary& s, Reading MetricFigures::*which) {
  return column(s.figures,
                [which](const MetricFigures& figures) { return number(figures.*which); });
}

GpuStatus status_of(const Fields& fields) {
  const std::string word = fields.text("status");
  for (const GpuStatus status : {GpuStatus::complete, GpuStatus::partial, GpuStatus::failed})
    if (word == to_string(status)) return status;
  fields.place().at("status").refuse("is none of \"complete\", \"partial\", \"failed\"");
}

int count_of(const Fields& fields, std::string_view key) {
  const double value = fields.number(key);
  if (!(value >= 0 && value <= largest_count) || value != std::floor(value))
    fields.place().at(key).refuse("is no count");
  return static_cast<int>(value);
}

Health health_of(const Fields& own) {
  const Fields f = own.object("health");
  Health h;
  h.sm_clock_hz = f.optional_number("sm_clock_hz");
  h.memory_clock_hz = f.optional_number("memory_clock_hz");
  h.temperature_c = f.optional_number("temperature_c");
  h.power_w = f.optional_number("power_w");
  h.throttle_reasons = f.texts("throttle_reasons");
  h.power_limit_w = f.optional_number("power_limit_w");
  h.pcie_generation = f.optional_number("pcie_generation");
  h.pcie_width = f.optional_number("pcie_width");
  h.uncorrected_ecc_errors = f.optional_number("uncorrected_ecc_errors");
  h.remapped_rows = f.optional_number("remapped_rows");
  h.remapping_failed = f.truth_or("remapping_failed", false);
  h.remapping_pending = f.truth_or("remapping_pending", false);
  h.other_processes = f.optional_number("other_processes");
  return h;
}

/// Of before there was such a list: none.
std::vector<std::string> counters_of(const Fields& own) {
  return own.has("counters_of") ? own.texts("counters_of") : std::vector<std::string>{};
}

Settings settings_of(const Fields& own) {
  Settings settings;
  const Fields object = own.object("settings");
  for (const auto& [key, value] : object.members())
    settings.emplace_back(std::string(key), text_of(value, object.place().at(key)));
  std::sort(settings.begin(), settings.end());
  return settings;
}

void read_metrics(const Fields& own, GpuSummary& summary) {
  const Fields f = own.object("metrics");
  const Place names = f.place().at("name");
  for (std::string& name : f.texts("name"))
    summary.names.push_back({std::move(name), "", Better::higher});
  const std::size_t size = summary.names.size();
  if (size > most_metrics) names.refuse("has more metrics than any result");
  std::unordered_set<std::string_view> known;
  for (const MetricName& metric : summary.names)
    if (!known.insert(metric.name).second)
      names.refuse(
          fmt::format("has \"{}\" twice; each metric may be there once", quotable(metric.name)));
  const auto each = [&](std::string_view key, auto read) {
    const Place place = f.place().at(key);
    std::size_t i = 0;
    for (const dom::element value : f.list(key)) {
      if (i == size) break;
      read(i++, value, place);
    }
    if (i != size || f.list(key).size() != size)
      place.refuse(fmt::format("has not as many as \"name\", which has {}", size));
  };
  each("unit", [&](std::size_t i, dom::element value, const Place& place) {
    summary.names[i].unit = text_of(value, place);
  });
  each("better", [&](std::size_t i, dom::element value, const Place& place) {
    const auto better = from_string<Better>(text_of(value, place));
    if (!better) place.refuse("has one that is none of \"higher\", \"lower\"");
    summary.names[i].better = *better;
  });
  summary.figures.resize(size);
  const auto figures = [&](std::string_view key, Reading MetricFigures::*which) {
    each(key, [&, which](std::size_t i, dom::element value, const Place& place) {
      if (!value.is_null()) summary.figures[i].*which = number_of(value, place);
    });
  };
  figures("alone", &MetricFigures::alone);
  figures("together", &MetricFigures::together);
  figures("noise", &MetricFigures::noise);
  figures("sm_clock_hz", &MetricFigures::sm_clock_hz);
}

Json to_json(const Health& h) {
  return {{"sm_clock_hz", or_null(h.sm_clock_hz)},
          {"memory_clock_hz", or_null(h.memory_clock_hz)},
          {"temperature_c", or_null(h.temperature_c)},
          {"power_w", or_null(h.power_w)},
          {"throttle_reasons", h.throttle_reasons},
          {"power_limit_w", or_null(h.power_limit_w)},
          {"pcie_generation", or_null(h.pcie_generation)},
          {"pcie_width", or_null(h.pcie_width)},
          {"uncorrected_ecc_errors", or_null(h.uncorrected_ecc_errors)},
          {"remapped_rows", or_null(h.remapped_rows)},
          {"remapping_failed", h.remapping_failed},
          {"remapping_pending", h.remapping_pending},
          {"other_processes", or_null(h.other_processes)}};
}

}  // namespace

Json to_json(const GpuSummary& s) {
  Json settings = Json::object();
  for (const auto& [name, value] : s.settings) settings[name] = value;
  return {{"host", s.host},
          {"gpu", s.gpu},
          {"rank", or_null(s.rank)},
          {"machine", s.machine},
          {"gpu_name", s.gpu_name},
          {"uuid_hash", s.uuid_hash},
          {"model", s.model},
          {"run", s.run},
          {"date", s.date},
          {"suite", s.suite},
          {"source", to_string(s.source)},
          {"status", to_string(s.status)},
          {"reason", s.reason},
          {"exit_code", s.exit_code},
          {"no_counters", s.no_counters},
          {"counters_of", s.counters_of},
          {"settings", std::move(settings)},
          {"health", to_json(s.health)},
          {"elapsed_s",
           {{"alone", or_null(s.elapsed_s.alone)},
            {"together", or_null(s.elapsed_s.together)},
            {"suite", or_null(s.elapsed_s.suite)}}}};
}

std::string to_text(const GpuSummary& s) {
  Json json{{std::string(summary_key), summary_version}};
  json.update(to_json(s));
  json["metrics"] = {
      {"name", column(s.names, &MetricName::name)},
      {"unit", column(s.names, &MetricName::unit)},
      {"better", column(s.names, [](const MetricName& m) { return to_string(m.better); })},
      {"alone", figures_json(s, &MetricFigures::alone)},
      {"together", figures_json(s, &MetricFigures::together)},
      {"noise", figures_json(s, &MetricFigures::noise)},
      {"sm_clock_hz", figures_json(s, &MetricFigures::sm_clock_hz)}};
  return fathom::to_text(json);
}

void require_version(const Fields& own, std::string_view key, int expected, const char* what) {
  const double version = own.number(key);
  if (version != expected)
    throw Error(ExitCode::document_version,
                fmt::format("{}: is of version {} of {}, and this Fathom reads version {}: use "
                            "the Fathom that wrote it, or measure again.",
                            *own.place().origin, version, what, expected));
}

void require_date(const GpuSummary& summary, const std::string& origin) {
  // A GPU that failed before anything was measured has none.
  if (summary.names.empty() && summary.date.empty()) return;
  if (!is_utc_time(summary.date))
    throw Error(ExitCode::document_malformed,
                fmt::format("{}: its date, \"{}\", is none; expected: one such as "
                            "2026-01-31T12:00:00Z.",
                            origin, quotable(summary.date)));
}

GpuSummary parse_summary(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  const Place place{&origin};
  const Fields own(json.root(), place);
  require_version(own, summary_key, summary_version, "a GPU's summary");
  GpuSummary s;
  s.host = own.text("host");
  s.gpu = count_of(own, "gpu");
  if (own.optional_number("rank")) s.rank = count_of(own, "rank");
  s.machine = own.text_or("machine", "");
  s.gpu_name = own.text("gpu_name");
  s.uuid_hash = own.text("uuid_hash");
  s.model = own.text("model");
  s.run = own.text_or("run", "");
  s.date = own.text("date");
  s.suite = own.text("suite");
  s.source = word_of<Source>(own, "source", "\"measured\", \"replay\"");
  s.status = status_of(own);
  s.reason = own.text("reason");
  s.exit_code = count_of(own, "exit_code");
  s.no_counters = own.text_or("no_counters", "");
  s.counters_of = counters_of(own);
  s.settings = settings_of(own);
  s.health = health_of(own);
  const Fields elapsed = own.object("elapsed_s");
  s.elapsed_s = {elapsed.optional_number("alone"), elapsed.optional_number("together"),
                 elapsed.optional_number("suite")};
  read_metrics(own, s);
  require_date(s, origin);
  return s;
}

}  // namespace fathom::fleet
