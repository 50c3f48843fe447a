#include "gate/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_set>

#include "gate/parse.h"
#include "results/document_io.h"
#include "results/fields.h"
#include "results/files.h"
#include "results/statistics.h"
#include "results/text.h"

// Which kind of document a file is, what all kinds have in common, and Fathom's own two: the result
// document, and a run as a baseline keeps it, one JSON object whose "metrics" are rows of
//   [name, unit, "higher" or "lower", value, SM clock, memory clock, power, throttle reasons,
//    seconds that it took]
// Clocks and power in SI units, or null; the throttle reasons are an array. The last two are left
// out where there are none, and so is the run's "elapsed_s". Metrics without a usable value are not
// kept.

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* baseline_key = "fathom_baseline";
constexpr int baseline_version = 2;  // 1 has no seconds

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

/// The members of an object as texts, in its order.
Identity identity_of(const Fields& fields) {
  Identity identity;
  for (const auto& member : fields.members())
    identity.emplace_back(member.key, fact_text(fields, member.key));
  return identity;
}

GpuState state_of(Telemetry& telemetry) {
  std::erase_if(telemetry.throttle_reasons, std::not_fn(holds_clocks_down));
  std::ranges::sort(telemetry.throttle_reasons);
  return {telemetry.sm_clock_hz.median, telemetry.memory_clock_hz.median, telemetry.power_w.median,
          std::move(telemetry.throttle_reasons)};
}

/// Why the entry's verdict forbids using its value; empty: it does not.
std::string problem_of(VerdictStatus verdict) {
  if (verdict == VerdictStatus::wrong_output) return "its output was wrong";
  if (verdict == VerdictStatus::failed) return "it failed";
  if (verdict == VerdictStatus::above_bound)
    return "it is better than its physical bound, so that one of the two is wrong";
  return {};
}

void add_entry(Entry& entry, RunMetrics& run) {
  const auto& [metric_name, unit, better, number] = entry.metric;
  std::string problem = problem_of(entry.verdict.status);
  if (!number && problem.empty()) problem = "it has no value";
  const GpuState state = state_of(entry.telemetry);
  run.metrics.push_back(
      {entry.name, unit, better, number.value_or(0), entry.timing.elapsed_s, state, problem});
  for (const Opponent& opponent : entry.opponents)
    if (opponent.ratio || !problem.empty())
      run.metrics.push_back({entry.name + " vs " + opponent.name, "x", Better::higher,
                             opponent.ratio.value_or(0), 0, state, problem});
  run.other_processes = std::max(run.other_processes, entry.telemetry.other_processes);
}

void parse_fathom(const ParsedJson& parsed, const Fields& json, Reading& to) {
  RunMetrics& run = to.run;
  Document document = parse_document(parsed, run.origin);
  run.fathom = true;
  run.date = date_of(document.date, json.place().at("context").at("date"));
  run.commit = document.fathom_commit;
  run.suite = document.suite;
  run.elapsed_s = document.elapsed_s;
  run.replay = document.source == Source::replay;
  run.identity = identity_of(json.object("context").object("fathom").object("fingerprint"));
  std::vector<double> repeatabilities;
  for (Entry& entry : document.entries) {
    add_entry(entry, run);
    if (entry.repeatability) repeatabilities.push_back(*entry.repeatability);
  }
  if (repeatabilities.size() >= 5) run.unsteadiness = median(repeatabilities);
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The columns of a row of a baseline.
auto columns_of(auto& metric) {
  auto& state = metric.state;
  return std::tie(metric.name, metric.unit, metric.better, metric.value, state.sm_clock_hz,
                  state.memory_clock_hz, state.power_w, state.throttle_reasons, metric.elapsed_s);
}

MetricValue metric_of(dom::element element, const Place& at) {
  constexpr std::size_t most = 9, fewest = 7;
  const dom::array cells = list_of(element, at);
  if (cells.size() < fewest || cells.size() > most)
    at.refuse(fmt::format("has {} columns; expected: {} to {}", cells.size(), fewest, most));
  MetricValue metric;
  auto cell = cells.begin();  // at(i) would walk from the first
  std::size_t number = 0;
  const auto read = [&](auto& column) {
    if (cell == cells.end()) return;
    read_fields(*cell, at.at(number++), {}, column);
    ++cell;
  };
  std::apply([&](auto&... column) { (read(column), ...); }, columns_of(metric));
  return metric;
}

void parse_baseline(const Fields& document, Reading& to) {
  RunMetrics& run = to.run;
  const double version = document.number(baseline_key);
  if (version > baseline_version)
    fail(ExitCode::document_version,
         "{}: is a baseline of version {}, and this Fathom reads up to {}: use the Fathom that "
         "wrote it.",
         run.origin, version, baseline_version);
  run.fathom = document.text("program") == "fathom";
  // A program may give none, and `add` kept such runs once.
  const std::string date = document.text("date");
  if (run.fathom || !date.empty()) run.date = date_of(date, document.place().at("date"));
  run.commit = document.text("commit");
  run.suite = document.text("suite");
  run.elapsed_s = document.optional_number("elapsed_s").value_or(0);
  run.identity = identity_of(document.object("identity"));
  require_few(document.list("metrics").size(), document.place().at("metrics"));
  each_of(document.list("metrics"), document.place().at("metrics"),
          [&](dom::element row, const Place& at) { run.metrics.push_back(metric_of(row, at)); });
}

void parse(std::string_view text, Reading& to) {
  constexpr const char* expected = "a result that docs/gate.md lists";
  if (const auto content = without_byte_order_mark(text); content.starts_with(csv_header))
    return parse_csv(content, to);
  const ParsedJson json(text, to.run.origin, expected);
  const Place place{&to.run.origin};
  const Fields document(json.root(), place);
  if (document.has(baseline_key)) return parse_baseline(document, to);
  for (const char* key : {"benchmarks", "results"})
    if (dom::array list; document.has(key) && document.member(key).get(list) == simdjson::SUCCESS)
      require_few(list.size(), place.at(key));
  const bool rows = document.has("benchmarks");
  if (document.has("results") && !rows) return parse_hyperfine(document, to);
  if (document.has("machine_info") && rows) return parse_pytest_benchmark(document, to);
  if (document.has("devices") && rows) return parse_nvbench(document, to);
  if (!document.has("context") || !rows) place.refuse(fmt::format("is not {}", expected));
  dom::element own;
  const bool ours = document.member("context")["fathom"].get(own) == simdjson::SUCCESS;
  ours ? parse_fathom(json, document, to) : parse_google_benchmark(document, to);
}

}  // namespace

void require_few(std::size_t rows, const Place& place) {
  constexpr std::size_t most = 200'000;
  if (rows > most) place.refuse(fmt::format("has more than {} rows, more than any run", most));
}

std::string baseline_text(const RunMetrics& run) {
  Json head{{baseline_key, baseline_version},
            {"program", run.fathom ? "fathom" : "google-benchmark"},
            {"date", run.date},
            {"commit", run.commit},
            {"suite", run.suite}};
  if (run.elapsed_s > 0) head["elapsed_s"] = run.elapsed_s;
  head["identity"] = Json::object();
  for (const auto& [key, value] : run.identity) head["identity"][key] = value;
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += fmt::format("\"{}\": {},\n", key, dump(value));
  text += "\"metrics\": [";
  const char* separator = "\n";
  for (const MetricValue& metric : run.metrics) {
    if (!metric.problem.empty()) continue;
    Json row = Json::array();
    std::apply([&](const auto&... column) { (row.push_back(write_fields(column)), ...); },
               columns_of(metric));
    if (!(metric.elapsed_s > 0)) row.erase(8);
    if (row.size() == 8 && metric.state.throttle_reasons.empty()) row.erase(7);
    text += separator + dump(row);
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

std::string fact_text(const Fields& fields, std::string_view key) {
  if (!fields.has(key) || fields.member(key).is_null()) return "";
  const dom::element value = fields.member(key);
  const Place place = fields.place().at(key);
  if (value.is_bool()) return value.get_bool().value_unsafe() ? "true" : "false";
  return value.is_string() ? text_of(value, place) : fmt::format("{}", number_of(value, place));
}

void Reading::add(SampleRow row) {
  const Place place{&run.origin};
  MetricValue& metric = row.metric;
  if (const double seconds = seconds_in(metric.unit); seconds > 0) {
    for (double& sample : row.samples) sample *= seconds;
    metric.elapsed_s *= seconds;
    metric.unit = "s";
  }
  for (const double sample : row.samples) require_plausible(sample, metric.name, place);
  const auto [found, is_new] = by_name.try_emplace(metric.name, rows.size());
  if (is_new) {
    rows.push_back(std::move(row));
    return require_few(rows.size(), place);
  }
  SampleRow& all = rows[found->second];
  if (all.metric.unit != metric.unit || all.metric.better != metric.better)
    place.refuse(
        fmt::format("has \"{}\" again, with another unit or direction", quotable(metric.name)));
  all.samples.insert(all.samples.end(), row.samples.begin(), row.samples.end());
  all.metric.elapsed_s += metric.elapsed_s;
  if (!metric.problem.empty()) all.metric.problem = std::move(metric.problem);
}

RunMetrics Reading::finished() {
  const bool fastest = fact_of(run, "statistic") == fastest_sample;
  for (auto& [metric, samples] : rows) {
    if (samples.empty() && metric.problem.empty()) metric.problem = "it has no value";
    if (!samples.empty()) metric.value = fastest ? std::ranges::min(samples) : median(samples);
    if (samples.size() > 1) metric.interval = median_interval(samples);
    run.metrics.push_back(std::move(metric));
  }
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
  return std::move(run);
}

RunMetrics parse_run_metrics(std::string_view text, const std::string& origin) {
  Reading reading{.run = {.origin = origin}};
  parse(text, reading);
  return reading.finished();
}

RunMetrics read_run_metrics(const fs::path& path, bool by_median) {
  std::error_code failed;
  Reading reading{.run = {.origin = path.string()}, .by_median = by_median};
  RunMetrics& run = reading.run;
  fs::path file = path;
  if (fs::is_directory(path, failed))
    file = read_criterion(path, reading);
  else
    parse(read_file_up_to(path, largest_result), reading);
  if (run.date.empty() && !fact_of(run, "program").empty()) {
    const auto written = fs::last_write_time(file, failed);
    if (!failed)
      run.date = utc_time(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
          std::chrono::file_clock::to_sys(written)));
  }
  return reading.finished();
}

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

}  // namespace fathom::gate
