#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "gate/parse.h"
#include "results/error.h"
#include "results/json_values.h"

// A run as it is kept: one JSON object whose "metrics" are rows of
//   [name, unit, "higher" or "lower", value, SM clock, memory clock, power, throttle reasons,
//    seconds that it took]
// Clocks and power in SI units, or null; the throttle reasons are an array. The last two are left
// out where there are none, and so is the run's "elapsed_s". Metrics without a usable value are not
// kept.

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;
using Json = nlohmann::ordered_json;

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<double> optional_number(dom::element value, const Place& place) {
  if (value.is_null()) return std::nullopt;
  return number_of(value, place);
}

MetricValue metric_of(dom::element element, const Place& at) {
  enum Column {
    name,
    unit,
    better,
    value,
    sm_clock,
    memory_clock,
    power,
    throttle,
    elapsed,
    columns
  };
  MetricValue metric;
  std::size_t column = 0;
  for (const dom::element cell : list_of(element, at)) {
    const Place place = at.at(column);
    switch (column++) {
      case name:
        metric.name = text_of(cell, place);
        break;
      case unit:
        metric.unit = text_of(cell, place);
        break;
      case better: {
        const std::string word = text_of(cell, place);
        if (word != "higher" && word != "lower") place.refuse("is none of \"higher\", \"lower\"");
        metric.better = word == "higher" ? Better::higher : Better::lower;
        break;
      }
      case value:
        metric.value = number_of(cell, place);
        break;
      case sm_clock:
        metric.state.sm_clock_hz = optional_number(cell, place);
        break;
      case memory_clock:
        metric.state.memory_clock_hz = optional_number(cell, place);
        break;
      case power:
        metric.state.power_w = optional_number(cell, place);
        break;
      case throttle:
        for (const dom::element reason : list_of(cell, place))
          metric.state.throttle_reasons.push_back(text_of(reason, place));
        break;
      case elapsed:
        metric.elapsed_s = number_of(cell, place);
        break;
      default:
        at.refuse("has more columns than a metric has");
    }
  }
  if (column < throttle) at.refuse(fmt::format("has {} columns; expected: {}", column, +columns));
  return metric;
}

}  // namespace

std::string baseline_text(const RunMetrics& run) {
  Json identity = Json::object();
  for (const auto& [key, value] : run.identity) identity[key] = value;
  const std::string elapsed =
      run.elapsed_s > 0 ? fmt::format("\"elapsed_s\": {},\n", run.elapsed_s) : "";
  std::string text = fmt::format(
      "{{\n\"{}\": {},\n\"program\": {},\n\"date\": {},\n\"commit\": {},\n\"suite\": {},\n"
      "{}\"identity\": {},\n\"metrics\": [",
      baseline_key, baseline_version, run.fathom ? "\"fathom\"" : "\"google-benchmark\"",
      dump(run.date), dump(run.commit), dump(run.suite), elapsed, dump(identity));
  const char* separator = "\n";
  for (const MetricValue& metric : run.metrics) {
    if (!metric.problem.empty()) continue;
    const GpuState& state = metric.state;
    Json row =
        Json::array({metric.name, metric.unit, metric.better == Better::higher ? "higher" : "lower",
                     metric.value, or_null(state.sm_clock_hz), or_null(state.memory_clock_hz),
                     or_null(state.power_w)});
    if (!state.throttle_reasons.empty() || metric.elapsed_s > 0)
      row.push_back(state.throttle_reasons);
    if (metric.elapsed_s > 0) row.push_back(metric.elapsed_s);
    text += separator + dump(row);
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

void parse_baseline(const Fields& document, RunMetrics& run) {
  const double version = document.number(baseline_key);
  if (version != 1 && version != baseline_version) {
    throw Error(ExitCode::document_version,
                fmt::format("{}: is a baseline of version {}, and this Fathom reads versions 1 and "
                            "{}: use the Fathom that wrote it.",
                            run.origin, version, baseline_version));
  }
  const std::string program = document.text("program");
  if (program != "fathom" && program != "google-benchmark")
    document.place().at("program").refuse("is none of \"fathom\", \"google-benchmark\"");
  run.fathom = program == "fathom";
  // A program may give none, and `add` kept such runs once.
  const std::string date = document.text("date");
  run.date = date.empty() && !run.fathom ? "" : date_of(date, document.place().at("date"));
  run.commit = document.text("commit");
  run.suite = document.text("suite");
  run.elapsed_s = document.optional_number("elapsed_s").value_or(0);
  run.identity = identity_of(document.member("identity"), document.place().at("identity"));
  const Place rows = document.place().at("metrics");
  std::size_t index = 0;
  for (const dom::element row : rows_of(document, "metrics"))
    run.metrics.push_back(metric_of(row, rows.at(index++)));
}

}  // namespace fathom::gate
