#include "gate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "gate/identity.h"
#include "gate/parse.h"
#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/fail.h"
#include "results/format.h"
#include "results/names.h"
#include "results/statistics.h"
#include "results/strict_json.h"
#include "results/utc_time.h"

namespace fathom::gate {
namespace {

/// A metric's value is at most this, either way: powers and sums of such do not overflow.
constexpr double largest_value = 1e200;
/// And but for 0 at least this, which no clock counts and no quantity of a GPU reaches: anything
/// below would be the largest of improvements.
constexpr double smallest_value = 1e-18;

void check_names(const RunMetrics& run) {
  constexpr std::size_t longest = 1000;  // every output has to carry them
  std::unordered_set<std::string_view> names;
  for (const MetricValue& metric : run.metrics) {
    if (metric.name.empty() || metric.name.size() > longest)
      fail(ExitCode::document_malformed,
           "{}: has a name of {} characters; a benchmark's has 1 to {}.", run.origin,
           metric.name.size(), longest);
    if (!names.insert(metric.name).second)
      fail(ExitCode::document_malformed,
           "{}: has two metrics named \"{}\"; each may be there once.", run.origin,
           quotable(metric.name));
  }
}

/// Figures that no measurement has would overflow in what is computed from them, and a time or a
/// rate of zero or below would be the largest of improvements.
void check_figures(MetricValue& metric, const std::string& origin) {
  constexpr double largest_clock_hz = 1e15, largest_power_w = 1e9;
  const auto refuse_value = [&](const char* what, double value, const char* side, double limit) {
    fail(ExitCode::document_malformed,
         "{}: the {} of \"{}\" is {:g}, and no measurement's is {} {:g}.", origin, what,
         quotable(metric.name), value, side, limit);
  };
  const auto check = [&](std::optional<double>& value, double largest, const char* what) {
    if (value && !(std::abs(*value) <= largest)) refuse_value(what, *value, "above", largest);
    if (value && !(*value > 0)) value.reset();
  };
  const double value = metric.value;
  if (value != 0 && std::abs(value) < smallest_value)
    refuse_value("value", value, "below", smallest_value);
  if (!(std::abs(value) <= largest_value)) refuse_value("value", value, "above", largest_value);
  check(metric.state.sm_clock_hz, largest_clock_hz, "SM clock");
  check(metric.state.memory_clock_hz, largest_clock_hz, "memory clock");
  check(metric.state.power_w, largest_power_w, "power");
  const bool time_or_rate = metric.unit == "s" || metric.unit.ends_with("/s");
  if (metric.problem.empty() && time_or_rate && !(value > 0))
    metric.problem = fmt::format("its value is {}, and a measured time or rate is above 0",
                                 value == 0 ? "0" : format_quantity(value, metric.unit));
}

/// Others of the same name might hide it in their median.
void require_plausible(double sample, const std::string& name, const Place& place) {
  const bool too_small = sample != 0 && std::abs(sample) < smallest_value;
  if (too_small || !(std::abs(sample) <= largest_value))
    place.refuse(fmt::format("has a sample of \"{}\" that is {} than any measurement's",
                             quotable(name), too_small ? "smaller" : "larger"));
}

void finish(RunMetrics& run, PooledMetrics& metrics) {
  constexpr double longest_s = 1e9;
  metrics.move_into(run);
  check_names(run);
  run.elapsed_s = std::clamp(run.elapsed_s, 0.0, longest_s);
  if (run.unsteadiness) run.unsteadiness = std::clamp(*run.unsteadiness, 0.0, 1e6);
  for (MetricValue& metric : run.metrics) {
    check_figures(metric, run.origin);
    metric.elapsed_s = std::clamp(metric.elapsed_s, 0.0, longest_s);
  }
}

bool is_fathom(const Fields& document) {
  simdjson::dom::element own;
  return document.member("context")[keys::own].get(own) == simdjson::SUCCESS;
}

void parse(std::string_view text, RunMetrics& run, PooledMetrics& metrics) {
  if (is_csv(text)) return parse_csv(text, run, metrics);
  const Place place{&run.origin};
  if (without_byte_order_mark(text).find_first_not_of(" \t\r\n") == std::string_view::npos)
    place.refuse(
        "is empty; expected: the result.json of a run, a file of a tool that docs/gate.md lists, "
        "or a CSV that begins \"name,unit,better,sample\"");
  const ParsedJson json(text, run.origin);
  const Fields document(json.root(), place);
  const bool benchmarks = document.has("benchmarks");
  if (document.has(baseline_key)) return parse_baseline(document, run);
  if (benchmarks && document.has("machine_info"))
    return parse_pytest_benchmark(document, run, metrics);
  if (benchmarks && document.has("devices")) return parse_nvbench(document, run, metrics);
  if (!benchmarks && document.has("results")) return parse_hyperfine(document, run, metrics);
  for (const char* key : {"context", "benchmarks"})
    if (!document.has(key))
      place.refuse(
          fmt::format("has no \"{}\", so is no result; give the result.json of a run, "
                      "or a file of a tool that docs/gate.md lists",
                      key));
  if (is_fathom(document))
    parse_fathom(document, run);
  else
    parse_google_benchmark(document, run, metrics);
}

}  // namespace

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

void PooledMetrics::add(SampleRow row, const Place& place) {
  if (const double seconds = seconds_in(row.unit); seconds > 0) {
    for (double& sample : row.samples) sample *= seconds;
    row.unit = "s";
  }
  for (const double sample : row.samples) require_plausible(sample, row.name, place);
  if (row.median) require_plausible(*row.median, row.name, place);
  const auto [found, is_new] = by_name_.try_emplace(row.name, rows_.size());
  if (is_new) return rows_.push_back(std::move(row));
  SampleRow& all = rows_[found->second];
  if (all.unit != row.unit || all.better != row.better)
    place.refuse(
        fmt::format("has \"{}\" again, with another unit or direction", quotable(row.name)));
  all.samples.insert(all.samples.end(), row.samples.begin(), row.samples.end());
  all.elapsed_s += row.elapsed_s;
  if (!row.problem.empty()) all.problem = std::move(row.problem);
  if (row.median) all.median = row.median;
}

void PooledMetrics::move_into(RunMetrics& run) {
  for (auto& [name, unit, better, samples, elapsed_s, problem, median_of_all, interval] : rows_) {
    const auto value = samples.empty() ? median_of_all : median(samples);
    if (!value && problem.empty()) problem = "it has no value";
    if (run.intervals)
      run.intervals->push_back(samples.size() > 1 ? median_interval(samples) : interval);
    run.metrics.push_back({std::move(name),
                           std::move(unit),
                           better,
                           value.value_or(0),
                           elapsed_s,
                           {},
                           std::move(problem)});
  }
}

void require_few_rows(const Fields& document, std::string_view key) {
  constexpr std::size_t most_rows = 200'000;
  if (document.list(key).size() > most_rows)
    document.refuse(key, fmt::format("has more than {} rows, more than any run", most_rows));
}

std::string date_of(std::string text, const Place& place) {
  if (!is_utc_time(text))
    place.refuse(fmt::format("is \"{}\"; expected: a time in UTC, as \"2026-01-31T12:00:00Z\"",
                             quotable(text)));
  return text;
}

std::string date_of_file(std::filesystem::file_time_type time) {
  return utc_time(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      std::chrono::file_clock::to_sys(time)));
}

RunMetrics parse_run_metrics(std::string_view text, const std::string& origin) {
  RunMetrics run{.origin = origin};
  PooledMetrics metrics;
  parse(text, run, metrics);
  finish(run, metrics);
  return run;
}

RunMetrics read_run_metrics(const std::filesystem::path& path, bool with_intervals) {
  std::error_code failed;
  RunMetrics run{.origin = path.string()};
  PooledMetrics metrics;
  if (with_intervals) run.intervals.emplace();
  if (std::filesystem::is_directory(path, failed))
    read_criterion(path, run, metrics);
  else
    parse(read_file_up_to(path, largest_result), run, metrics);
  finish(run, metrics);
  if (!run.date.empty() || fact_of(run, "program").empty()) return run;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (!failed) run.date = date_of_file(written);
  return run;
}

}  // namespace fathom::gate
