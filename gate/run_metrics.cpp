#include "gate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_set>

#include "gate/parse.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/format.h"
#include "results/names.h"
#include "results/statistics.h"
#include "results/strict_json.h"
#include "results/text.h"

namespace fathom::gate {
namespace {

/// What no clock counts and no quantity of a GPU reaches would overflow in what is computed from
/// it, or be the largest of improvements. Others of the same name might hide a sample in their
/// median, so each is looked at.
void require_plausible(double value, const std::string& name, const Place& place) {
  constexpr double largest = 1e200, smallest = 1e-18;
  const double size = std::abs(value);
  if (!(size <= largest) || (size > 0 && size < smallest))
    place.refuse(fmt::format("has a value of \"{}\" that is {} than any measurement's",
                             quotable(name), size < smallest ? "smaller" : "larger"));
}

/// With names that any output can carry, each there once, and figures that a measurement has.
RunMetrics checked(RunMetrics run, PooledMetrics& pooled) {
  pooled.move_into(run);
  constexpr std::size_t longest = 1000;
  constexpr double largest_reading = 1e15, longest_s = 1e9;
  const Place place{&run.origin};
  std::unordered_set<std::string_view> names;
  for (MetricValue& metric : run.metrics) {
    if (metric.name.empty() || metric.name.size() > longest)
      place.refuse(fmt::format("has a name of {} characters; a benchmark's has 1 to {}",
                               metric.name.size(), longest));
    if (!names.insert(metric.name).second)
      place.refuse(fmt::format("has two metrics named \"{}\"; each may be there once",
                               quotable(metric.name)));
    require_plausible(metric.value, metric.name, place);
    // A clock or power that no GPU has is not known.
    for (auto* reading :
         {&metric.state.sm_clock_hz, &metric.state.memory_clock_hz, &metric.state.power_w})
      if (*reading && !(**reading > 0 && **reading <= largest_reading)) reading->reset();
    const bool time_or_rate = metric.unit == "s" || metric.unit.ends_with("/s");
    if (metric.problem.empty() && time_or_rate && !(metric.value > 0))
      metric.problem =
          fmt::format("its value is {}, and a measured time or rate is above 0",
                      metric.value == 0 ? "0" : format_quantity(metric.value, metric.unit));
    metric.elapsed_s = std::clamp(metric.elapsed_s, 0.0, longest_s);
  }
  run.elapsed_s = std::clamp(run.elapsed_s, 0.0, longest_s);
  if (run.unsteadiness) run.unsteadiness = std::clamp(*run.unsteadiness, 0.0, 1e6);
  return run;
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
  if (document.has(baseline_key)) return parse_baseline(document, run);
  if (document.has("results") && !document.has("benchmarks"))
    return parse_hyperfine(document, run, metrics);
  if (document.has("benchmarks") && document.has("machine_info"))
    return parse_pytest_benchmark(document, run, metrics);
  if (document.has("benchmarks") && document.has("devices"))
    return parse_nvbench(document, run, metrics);
  for (const char* key : {"context", "benchmarks"})
    if (!document.has(key))
      place.refuse(
          fmt::format("has no \"{}\", so is no result; give the result.json of a run, or "
                      "a file of a tool that docs/gate.md lists",
                      key));
  simdjson::dom::element own;
  if (document.member("context")[keys::own].get(own) == simdjson::SUCCESS)
    parse_fathom(document, run);
  else
    parse_google_benchmark(document, run, metrics);
}

}  // namespace

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::string hash_of(const std::vector<std::string>& texts) {
  std::uint64_t value = 0xcbf29ce484222325u;
  const auto step = [&](unsigned char byte) { value = (value ^ byte) * 0x100000001b3u; };
  for (const std::string& text : texts) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    step(0xff);  // no byte of UTF-8: "ab" + "c" differs from "a" + "bc"
  }
  return fmt::format("{:016x}", value);
}

std::string fact_of(const RunMetrics& run, const std::string& name) {
  for (const auto& [key, value] : run.identity)
    if (key == name) return value;
  return {};
}

std::vector<Difference> differences_of(const RunMetrics& base, const RunMetrics& head) {
  const auto tool = [](const RunMetrics& run) { return run.fathom ? "Fathom" : "another tool"; };
  if (base.fathom != head.fathom) return {{"program", tool(base), tool(head)}};
  std::set<std::string> names;
  for (const auto* run : {&base, &head})
    for (const auto& [name, value] : run->identity) names.insert(name);
  std::vector<Difference> differences;
  const auto compare = [&](const std::string& fact, const std::string& a, const std::string& b) {
    const auto shown = [](const std::string& value) { return value.empty() ? "not known" : value; };
    if (a != b) differences.push_back({fact, shown(a), shown(b)});
  };
  compare("suite", base.suite, head.suite);
  for (const std::string& name : names) compare(name, fact_of(base, name), fact_of(head, name));
  return differences;
}

std::vector<std::string> refusals_of(std::span<const RunMetrics> base,
                                     std::span<const RunMetrics> head) {
  std::vector<std::string> refusals;
  const auto refuse = [&](const std::string& why) {
    if (std::ranges::find(refusals, why) == refusals.end()) refusals.push_back(why);
  };
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      if (run.replay)
        refuse(run.origin + " is a replay of a recording: nothing in it was measured there");
  if (!refusals.empty() || base.empty()) return refusals;
  const std::string what =
      head.empty() ? "not all of the results are of one thing: different " : "different ";
  for (const auto& side : {base, head})
    for (const RunMetrics& run : side)
      for (const Difference& difference : differences_of(base.front(), run))
        refuse(what + difference.words());
  return refusals;
}

bool is_ratio(const std::string& unit, const std::string& name) {
  return unit == "x" && name.find(" vs ") != std::string::npos;
}

RunMetrics ratios_of(RunMetrics run) {
  static const std::set<std::string> facts{"gpu_name", "compute_capability", "sms", "toolkit",
                                           "cuda_runtime"};
  std::erase_if(run.identity, [](const auto& fact) { return !facts.contains(fact.first); });
  std::erase_if(run.metrics,
                [](const MetricValue& metric) { return !is_ratio(metric.unit, metric.name); });
  return run;
}

std::string identity_key(const RunMetrics& run) {
  std::vector<std::string> texts{run.fathom ? "fathom" : "google-benchmark", run.suite};
  Identity sorted = run.identity;
  std::ranges::sort(sorted);
  for (const auto& [name, value] : sorted)
    // A fact that a later version adds changes nothing where unknown.
    if (!value.empty()) texts.insert(texts.end(), {name, value});
  return hash_of(texts);
}

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

void PooledMetrics::add(SampleRow row, const Place& place) {
  MetricValue& metric = row.metric;
  if (const double seconds = seconds_in(metric.unit); seconds > 0) {
    for (double& sample : row.samples) sample *= seconds;
    if (row.median) *row.median *= seconds;
    metric.unit = "s";
  }
  for (const double sample : row.samples) require_plausible(sample, metric.name, place);
  if (row.median) require_plausible(*row.median, metric.name, place);
  const auto [found, is_new] = by_name_.try_emplace(metric.name, rows_.size());
  if (is_new) return rows_.push_back(std::move(row));
  SampleRow& all = rows_[found->second];
  if (all.metric.unit != metric.unit || all.metric.better != metric.better)
    place.refuse(
        fmt::format("has \"{}\" again, with another unit or direction", quotable(metric.name)));
  all.samples.insert(all.samples.end(), row.samples.begin(), row.samples.end());
  all.metric.elapsed_s += metric.elapsed_s;
  if (!metric.problem.empty()) all.metric.problem = std::move(metric.problem);
  if (row.median) all.median = row.median;
}

bool PooledMetrics::have_samples() const {
  return std::ranges::none_of(
      rows_, [](const SampleRow& row) { return row.median && row.samples.empty(); });
}

void PooledMetrics::move_into(RunMetrics& run) {
  const bool fastest = fact_of(run, "statistic") == fastest_sample;
  for (auto& [metric, samples, median_alone, interval] : rows_) {
    const auto value = samples.empty() ? median_alone
                       : fastest       ? std::ranges::min(samples)
                                       : median(samples);
    if (!value && metric.problem.empty()) metric.problem = "it has no value";
    metric.value = value.value_or(0);
    run.intervals.push_back(samples.size() > 1 ? median_interval(samples) : interval);
    run.metrics.push_back(std::move(metric));
  }
}

void require_few_rows(const Fields& document, std::string_view key) {
  constexpr std::size_t most_rows = 200'000;
  if (document.list(key).size() > most_rows)
    document.refuse(key, fmt::format("has more than {} rows, more than any run", most_rows));
}

std::string date_of_file(std::filesystem::file_time_type time) {
  return utc_time(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      std::chrono::file_clock::to_sys(time)));
}

RunMetrics parse_run_metrics(std::string_view text, const std::string& origin) {
  RunMetrics run{.origin = origin};
  PooledMetrics metrics;
  parse(text, run, metrics);
  return checked(std::move(run), metrics);
}

RunMetrics read_run_metrics(const std::filesystem::path& path, bool by_median) {
  std::error_code failed;
  RunMetrics run{.origin = path.string(), .by_median = by_median};
  PooledMetrics metrics;
  if (std::filesystem::is_directory(path, failed))
    read_criterion(path, run, metrics);
  else
    parse(read_file_up_to(path, largest_result), run, metrics);
  if (run.date.empty() && !fact_of(run, "program").empty()) {
    const auto written = std::filesystem::last_write_time(path, failed);
    if (!failed) run.date = date_of_file(written);
  }
  return checked(std::move(run), metrics);
}

}  // namespace fathom::gate
