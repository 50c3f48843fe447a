#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gate/parse.h"
#include "results/fail.h"
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

MetricValue metric_of(dom::element element, const Place& at) {
  constexpr std::size_t columns = 9, fewest = 7;
  std::vector<dom::element> cells;
  for (const dom::element cell : list_of(element, at)) {
    if (cells.size() == columns) at.refuse("has more columns than a metric has");
    cells.push_back(cell);
  }
  if (cells.size() < fewest)
    at.refuse(fmt::format("has {} columns; expected: {}", cells.size(), columns));
  const auto text = [&](std::size_t column) { return text_of(cells[column], at.at(column)); };
  const auto number = [&](std::size_t column) { return number_of(cells[column], at.at(column)); };
  const auto optional = [&](std::size_t column) {
    return cells[column].is_null() ? std::nullopt : std::optional(number(column));
  };
  const auto better = from_string<Better>(text(2));
  if (!better) at.at(2).refuse("is none of \"higher\", \"lower\"");
  MetricValue metric{text(0), text(1), *better, number(3), 0, {}, {}};
  metric.state = {optional(4), optional(5), optional(6), {}};
  if (cells.size() > 7)
    each_of(list_of(cells[7], at.at(7)), at.at(7), [&](dom::element reason, const Place& place) {
      metric.state.throttle_reasons.push_back(text_of(reason, place));
    });
  if (cells.size() > 8) metric.elapsed_s = number(8);
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
    Json row = Json::array({metric.name, metric.unit, to_string(metric.better), metric.value,
                            or_null(state.sm_clock_hz), or_null(state.memory_clock_hz),
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
    fail(ExitCode::document_version,
         "{}: is a baseline of version {}, and this Fathom reads versions 1 and {}: use the Fathom "
         "that wrote it.",
         run.origin, version, baseline_version);
  }
  const std::string program = document.text("program");
  if (program != "fathom" && program != "google-benchmark")
    document.refuse("program", "is none of \"fathom\", \"google-benchmark\"");
  run.fathom = program == "fathom";
  // A program may give none, and `add` kept such runs once.
  const std::string date = document.text("date");
  run.date = date.empty() && !run.fathom ? "" : date_of(date, document.place().at("date"));
  run.commit = document.text("commit");
  run.suite = document.text("suite");
  run.elapsed_s = document.optional_number("elapsed_s").value_or(0);
  run.identity = identity_of(document.object("identity"));
  require_few_rows(document, "metrics");
  each_of(document.list("metrics"), document.place().at("metrics"),
          [&](dom::element row, const Place& at) { run.metrics.push_back(metric_of(row, at)); });
}

}  // namespace fathom::gate
