#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/fleet/gpu_summary.h"
#include "reports/gate/json_fields.h"
#include "results/error.h"
#include "results/names.h"

namespace fathom::fleet {
namespace {

namespace dom = simdjson::dom;
using gate::Fields;
using gate::Place;

/// More GPUs than a host has, and more of anything than a result has.
constexpr std::size_t most_metrics = 100'000;
constexpr double largest_count = 1e9;

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.9g}", *value) : "null";
}

template <class Range, class Text>
std::string list(const Range& range, Text text) {
  std::string all = "[";
  for (const auto& item : range) {
    if (all.size() > 1) all += ',';
    all += text(item);
  }
  return all + "]";
}

std::string column(const GpuSummary& summary, Figure MetricFigures::*which) {
  std::string all = "[";
  auto out = std::back_inserter(all);
  for (const MetricFigures& figures : summary.figures) {
    if (all.size() > 1) all += ',';
    if (const Figure& figure = figures.*which)
      fmt::format_to(out, "{:.7g}", *figure);
    else
      all += "null";
  }
  return all + "]";
}

std::string health_text(const Health& h) {
  return fmt::format(
      "{{\"sm_clock_hz\": {}, \"memory_clock_hz\": {}, \"temperature_c\": {}, \"power_w\": {}, "
      "\"throttle_reasons\": {}, \"power_limit_w\": {}, \"pcie_generation\": {}, \"pcie_width\": "
      "{}, "
      "\"uncorrected_ecc_errors\": {}, \"remapped_rows\": {}, \"remapping_failed\": {}, "
      "\"remapping_pending\": {}, \"other_processes\": {}}}",
      number(h.sm_clock_hz), number(h.memory_clock_hz), number(h.temperature_c), number(h.power_w),
      list(h.throttle_reasons, json_text), number(h.power_limit_w), number(h.pcie_generation),
      number(h.pcie_width), number(h.uncorrected_ecc_errors), number(h.remapped_rows),
      h.remapping_failed, h.remapping_pending, number(h.other_processes));
}

template <typename Enum>
Enum word_of(const Fields& fields, std::string_view key, const char* expected) {
  const auto value = from_string<Enum>(fields.text(key));
  if (!value) fields.place().at(key).refuse(fmt::format("is none of {}", expected));
  return *value;
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
  const Fields f(own.member("health"), own.place().at("health"));
  Health h;
  h.sm_clock_hz = f.optional_number("sm_clock_hz");
  h.memory_clock_hz = f.optional_number("memory_clock_hz");
  h.temperature_c = f.optional_number("temperature_c");
  h.power_w = f.optional_number("power_w");
  const Place reasons = f.place().at("throttle_reasons");
  for (const dom::element reason : f.list("throttle_reasons"))
    h.throttle_reasons.push_back(gate::text_of(reason, reasons));
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
  std::vector<std::string> probes;
  if (!own.has("counters_of")) return probes;
  for (const dom::element probe : own.list("counters_of"))
    probes.push_back(gate::text_of(probe, own.place().at("counters_of")));
  return probes;
}

Settings settings_of(const Fields& own) {
  Settings settings;
  const Place place = own.place().at("settings");
  dom::object object;
  if (own.member("settings").get(object) != simdjson::SUCCESS) place.refuse("is no object");
  const Fields checked(own.member("settings"), place);  // no key twice
  for (const auto& [key, value] : object)
    settings.emplace_back(std::string(key), gate::text_of(value, place.at(key)));
  std::sort(settings.begin(), settings.end());
  return settings;
}

void read_metrics(const Fields& own, GpuSummary& summary) {
  const Fields f(own.member("metrics"), own.place().at("metrics"));
  const Place names = f.place().at("name");
  for (const dom::element name : f.list("name"))
    summary.names.push_back({gate::text_of(name, names), "", Better::higher});
  const std::size_t size = summary.names.size();
  if (size > most_metrics) names.refuse("has more metrics than any result");
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
    summary.names[i].unit = gate::text_of(value, place);
  });
  each("better", [&](std::size_t i, dom::element value, const Place& place) {
    const auto better = from_string<Better>(gate::text_of(value, place));
    if (!better) place.refuse("has one that is none of \"higher\", \"lower\"");
    summary.names[i].better = *better;
  });
  summary.figures.resize(size);
  const auto figures = [&](std::string_view key, Figure MetricFigures::*which) {
    each(key, [&, which](std::size_t i, dom::element value, const Place& place) {
      if (!value.is_null()) summary.figures[i].*which = gate::number_of(value, place);
    });
  };
  figures("alone", &MetricFigures::alone);
  figures("together", &MetricFigures::together);
  figures("noise", &MetricFigures::noise);
  figures("sm_clock_hz", &MetricFigures::sm_clock_hz);
}

}  // namespace

std::string to_text(const GpuSummary& s) {
  const auto names = [&](auto member) {
    return list(s.names, [&](const MetricName& name) { return json_text(member(name)); });
  };
  std::string settings;
  for (const auto& [name, value] : s.settings)
    settings +=
        fmt::format("{}{}: {}", settings.empty() ? "" : ", ", json_text(name), json_text(value));
  return fmt::format(
      "{{\"{}\": {},\n\"host\": {}, \"gpu\": {}, \"rank\": {}, \"machine\": {},\n\"gpu_name\": {}, "
      "\"uuid_hash\": "
      "{}, "
      "\"model\": {},\n\"run\": {}, \"date\": {}, \"suite\": {}, \"source\": {},\n\"status\": {}, "
      "\"reason\": "
      "{}, "
      "\"exit_code\": {}, \"no_counters\": {}, \"counters_of\": "
      "{},\n\"settings\": {{{}}},\n\"health\": "
      "{},\n\"elapsed_s\": {{\"alone\": {}, "
      "\"together\": {}, \"suite\": {}}},\n\"metrics\": {{\n\"name\": {},\n\"unit\": "
      "{},\n\"better\": "
      "{},\n\"alone\": {},\n\"together\": {},\n\"noise\": {},\n\"sm_clock_hz\": {}}}}}\n",
      summary_key, summary_version, json_text(s.host), s.gpu,
      s.rank ? std::to_string(*s.rank) : "null", json_text(s.machine), json_text(s.gpu_name),
      json_text(s.uuid_hash), json_text(s.model), json_text(s.run), json_text(s.date),
      json_text(s.suite), json_text(to_string(s.source)), json_text(to_string(s.status)),
      json_text(s.reason), s.exit_code, json_text(s.no_counters), list(s.counters_of, json_text),
      settings, health_text(s.health), number(s.elapsed_s.alone), number(s.elapsed_s.together),
      number(s.elapsed_s.suite), names([](const MetricName& m) { return m.name; }),
      names([](const MetricName& m) { return m.unit; }),
      names([](const MetricName& m) { return std::string(to_string(m.better)); }),
      column(s, &MetricFigures::alone), column(s, &MetricFigures::together),
      column(s, &MetricFigures::noise), column(s, &MetricFigures::sm_clock_hz));
}

GpuSummary parse_summary(std::string_view text, const std::string& origin) {
  const gate::ParsedJson json(text, origin);
  const Place place{&origin, nullptr, {}, std::nullopt};
  const Fields own(json.root(), place);
  const double version = own.number(summary_key);
  if (version != summary_version)
    throw Error(
        ExitCode::document_version,
        fmt::format("{}: is of version {} of a GPU's summary, and this Fathom reads version "
                    "{}: use the Fathom that wrote it, or measure again.",
                    origin, version, summary_version));
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
  const Fields elapsed(own.member("elapsed_s"), own.place().at("elapsed_s"));
  s.elapsed_s = {elapsed.optional_number("alone"), elapsed.optional_number("together"),
                 elapsed.optional_number("suite")};
  read_metrics(own, s);
  return s;
}

}  // namespace fathom::fleet
