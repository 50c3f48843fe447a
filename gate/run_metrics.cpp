#include "gate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "gate/identity.h"
#include "gate/parse.h"
#include "results/atomic_file.h"
#include "results/clean_text.h"
#include "results/document_keys.h"
#include "results/error.h"
#include "results/format.h"
#include "results/utc_time.h"

namespace fathom::gate {
namespace {

/// Longer names are no benchmark's, and every output would have to carry them.
constexpr std::size_t longest_name = 1000;

void check_names(const RunMetrics& run) {
  std::unordered_set<std::string_view> names;
  for (const MetricValue& metric : run.metrics) {
    if (metric.name.empty() || metric.name.size() > longest_name) {
      throw Error(ExitCode::document_malformed,
                  fmt::format("{}: has a name of {} characters; a benchmark's has 1 to {}.",
                              run.origin, metric.name.size(), longest_name));
    }
    if (!names.insert(metric.name).second) {
      throw Error(ExitCode::document_malformed,
                  fmt::format("{}: has two metrics named \"{}\"; each may be there once.",
                              run.origin, quotable(metric.name)));
    }
  }
}

/// Figures that no measurement has would overflow in what is computed from them.
void check_figures(RunMetrics& run) {
  constexpr double largest_clock_hz = 1e15, largest_power_w = 1e9, longest_s = 1e9;
  run.elapsed_s = std::clamp(run.elapsed_s, 0.0, longest_s);
  if (run.unsteadiness) run.unsteadiness = std::clamp(*run.unsteadiness, 0.0, 1e6);
  for (MetricValue& metric : run.metrics) {
    if (metric.value != 0 && std::abs(metric.value) < smallest_value)
      throw Error(ExitCode::document_malformed,
                  fmt::format("{}: the value of \"{}\" is {:g}, and no measurement's is below "
                              "{:g}.",
                              run.origin, quotable(metric.name), metric.value, smallest_value));
    const auto refuse_above = [&](double value, double largest, const char* what) {
      if (std::abs(value) <= largest) return;
      throw Error(ExitCode::document_malformed,
                  fmt::format("{}: the {} of \"{}\" is {:g}, and no measurement's is above {:g}.",
                              run.origin, what, quotable(metric.name), value, largest));
    };
    const auto check = [&](std::optional<double>& value, double largest, const char* what) {
      if (value) refuse_above(*value, largest, what);
      if (value && !(*value > 0)) value.reset();
    };
    refuse_above(metric.value, largest_value, "value");
    check(metric.state.sm_clock_hz, largest_clock_hz, "SM clock");
    check(metric.state.memory_clock_hz, largest_clock_hz, "memory clock");
    check(metric.state.power_w, largest_power_w, "power");
    metric.elapsed_s = std::clamp(metric.elapsed_s, 0.0, longest_s);
  }
}

/// A time or a rate of zero or below would be the largest of improvements.
void leave_out_impossible(RunMetrics& run) {
  for (MetricValue& metric : run.metrics) {
    const bool time_or_rate = metric.unit == "s" || metric.unit.ends_with("/s");
    if (metric.problem.empty() && time_or_rate && !(metric.value > 0))
      metric.problem = fmt::format("its value is {}, and no time or rate that was measured is",
                                   format_quantity(metric.value, metric.unit));
  }
}

/// Of nvbench, which calls its sample files "<result>-bin/<number>.bin", wherever it ran. Only what
/// lies in such a folder beside the document is opened.
std::optional<std::vector<double>> samples_beside(const std::filesystem::path& result,
                                                  const std::string& name, double count) {
  const std::filesystem::path named(name);
  const std::string folder = named.parent_path().filename(), file = named.filename();
  if (!folder.ends_with("-bin") || !file.ends_with(".bin")) return std::nullopt;
  const std::filesystem::path path = result.parent_path() / folder / file;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const std::string bytes = read_file_up_to(path, largest_result);
  if (static_cast<double>(bytes.size()) != count * sizeof(float))
    throw Error(ExitCode::document_malformed,
                fmt::format("{}: holds {} bytes, and {} says {} samples of four bytes.",
                            path.string(), bytes.size(), result.string(), count));
  std::vector<double> samples;
  samples.reserve(bytes.size() / sizeof(float));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float sample = 0;  // little-endian, as every host that has a GPU
    std::memcpy(&sample, bytes.data() + at, sizeof sample);
    samples.push_back(sample);
  }
  return samples;
}

bool is_fathom(const Fields& document) {
  simdjson::dom::element own;
  return document.member("context")[keys::own].get(own) == simdjson::SUCCESS;
}

}  // namespace

simdjson::dom::array rows_of(const Fields& document, std::string_view key) {
  constexpr std::size_t most_rows = 200'000;
  const simdjson::dom::array rows = document.list(key);
  if (rows.size() > most_rows)
    document.place().at(key).refuse(
        fmt::format("has more than {} rows, more than any run", most_rows));
  return rows;
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

namespace {

void parse_json(std::string_view text, RunMetrics& run, const SampleFiles& files) {
  const ParsedJson json(text, run.origin);
  const Place place{&run.origin, nullptr, {}, std::nullopt};
  const Fields document(json.root(), place);
  const bool benchmarks = document.has("benchmarks");
  if (document.has(baseline_key)) return parse_baseline(document, run);
  if (benchmarks && document.has("machine_info")) return parse_pytest_benchmark(document, run);
  if (benchmarks && document.has("devices")) return parse_nvbench(document, run, files);
  if (!benchmarks && document.has("results")) return parse_hyperfine(document, run);
  for (const char* key : {"context", "benchmarks"})
    if (!document.has(key))
      place.refuse(
          fmt::format("has no \"{}\", so is no result; give the result.json of a run, "
                      "or a file of a tool that docs/gate.md lists",
                      key));
  if (is_fathom(document))
    parse_fathom(document, run);
  else
    parse_google_benchmark(document, run);
}

RunMetrics parse_any(std::string_view text, const std::string& origin, const SampleFiles& files) {
  RunMetrics run;
  run.origin = origin;
  if (is_csv(text))
    parse_csv(text, run);
  else
    parse_json(text, run, files);
  check_names(run);
  check_figures(run);
  leave_out_impossible(run);
  return run;
}

}  // namespace

RunMetrics parse_run_metrics(std::string_view text, const std::string& origin) {
  return parse_any(text, origin, [](const std::string&, double) { return std::nullopt; });
}

RunMetrics read_run_metrics(const std::filesystem::path& path) {
  std::error_code failed;
  RunMetrics run;
  if (std::filesystem::is_directory(path, failed)) {
    run = read_criterion(path);
    check_names(run);
    check_figures(run);
    leave_out_impossible(run);
    return run;
  }
  run = parse_any(
      read_file_up_to(path, largest_result), path.string(),
      [&](const std::string& name, double count) { return samples_beside(path, name, count); });
  if (!run.date.empty() || fact_of(run, "program").empty()) return run;
  const auto written = std::filesystem::last_write_time(path, failed);
  if (!failed) run.date = date_of_file(written);
  return run;
}

}  // namespace fathom::gate
