#include <fmt/chrono.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <set>

#include "gate/parse.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/text.h"

// Google Benchmark (its docs/user_guide.md and src/json_reporter.cc say what the fields mean),
// hyperfine (--export-json), pytest-benchmark (--benchmark-json), nvbench (--json, --jsonbin) and
// Criterion.

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

/// FATHOM_MACHINE, since a container's host name is another one each time; else `host`.
std::string machine_or(const std::string& host) {
  const char* machine = std::getenv("FATHOM_MACHINE");
  return machine && *machine ? machine : host;
}

std::string number_as_text(const Fields& fields, std::string_view key) {
  const auto number = fields.optional_number(key);
  return number ? fmt::format("{}", *number) : "";
}

/// The local time that Google Benchmark writes, in UTC: with its zone, and in old versions without
/// one. Empty where there is none.
std::string date_of_context(const Fields& context) {
  const std::string date = context.text_or("date", "");
  if (date.empty() && !context.has("date")) return {};
  for (const char* format :
       {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d-%H:%M:%S"}) {
    std::tm parts{};
    const char* end = strptime(date.c_str(), format, &parts);
    if (end == nullptr || *end != '\0') continue;
    // As text: what is not in the calendar would become another day.
    if (const auto local = parse_utc_time(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts)))
      return utc_time(*local - std::chrono::seconds(parts.tm_gmtoff));
  }
  return date_of(date, context.place().at("date"));
}

/// A measurement of Google Benchmark, or the median of several.
void add_row(const Fields& row, Reading& to) {
  const std::string name = row.text("name"), type = row.text_or("run_type", "");
  std::string aggregate = type == "iteration" ? "" : row.text_or("aggregate_name", "");
  if (type == "aggregate" && aggregate.empty()) return;
  if (type.empty() && aggregate.empty()) {
    // Versions before 1.5 say only by the name that a row is about others: "BM_Sort_mean". The fit
    // of a complexity has coefficients and no time.
    if (row.has("big_o") || row.has("rms")) return;
    for (const char* word : {"mean", "median", "stddev", "cv"})
      if (name.ends_with(std::string("_") + word)) aggregate = word;
  }
  if (!aggregate.empty() && aggregate != "median") return;
  MetricValue metric{row.text_or("run_name", ""), "s"};
  if (metric.name.empty())
    metric.name =
        aggregate.empty() || !name.ends_with("_median") ? name : name.substr(0, name.size() - 7);
  if (row.truth_or("error_occurred", false))
    metric.problem = "it failed: " + row.text_or("error_message", "no message");
  else if (row.truth_or("skipped", false))
    metric.problem = "it was skipped: " + row.text_or("skip_message", "no message");
  if (!metric.problem.empty()) return to.add({std::move(metric)}, row.place());
  metric.unit = row.text_or("time_unit", "ns");
  if (seconds_in(metric.unit) == 0)
    row.refuse("time_unit", "is none of \"ns\", \"us\", \"ms\", \"s\"");
  const double time = row.number("real_time");
  const Place place = row.place().at("real_time");
  if (!aggregate.empty()) return to.add({.metric = metric, .median = time}, place);
  metric.elapsed_s = time * seconds_in(metric.unit) * row.optional_number("iterations").value_or(1);
  to.add({metric, {time}}, place);
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// nvbench writes null for an empty list.
template <typename Use>
void each_if_any(const Fields& fields, std::string_view key, Use use) {
  if (!fields.has(key) || !fields.member(key).is_null()) fields.each(key, use);
}

/// A number that nvbench writes as a text, or wrote as a number in old versions.
std::optional<double> number_or_text(const Fields& fields, std::string_view key) {
  if (!fields.member(key).is_string()) return fields.optional_number(key);
  const std::string text = fields.text(key);
  const auto number = parse_number<double>(text);
  if (!number) fields.refuse(key, fmt::format("is \"{}\"; expected: a number", quotable(text)));
  return number;
}

/// What nvbench says of one state.
struct State {
  SampleRow row;
  std::string sample_file{};
  std::optional<double> device{};  ///< none of a benchmark of the CPU alone
  std::optional<double> mean{}, samples{};
};

/// The float32 samples of nvbench, which calls its sample files "<result>-bin/<number>.bin",
/// wherever it ran. Only what lies in such a folder beside the document is opened; empty: nothing.
std::vector<double> samples_beside(const fs::path& result, const State& state) {
  const fs::path named(state.sample_file);
  const std::string folder = named.parent_path().filename(), file = named.filename();
  if (!state.samples || !folder.ends_with("-bin") || !file.ends_with(".bin")) return {};
  const fs::path path = result.parent_path() / folder / file;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  const std::string bytes = read_file_up_to(path, largest_result);
  if (static_cast<double>(bytes.size()) != *state.samples * sizeof(float))
    fail(ExitCode::document_malformed, "{}: holds {} bytes, and {} says {} samples of four bytes.",
         path.string(), bytes.size(), result.string(), *state.samples);
  std::vector<float> samples(bytes.size() / sizeof(float));
  std::memcpy(samples.data(), bytes.data(), bytes.size());  // little-endian, as every GPU's host
  return {samples.begin(), samples.end()};
}

State state_of(const std::string& benchmark, const Fields& fields) {
  State state{.row = {{benchmark, "s"}}, .device = fields.optional_number("device")};
  each_if_any(fields, "axis_values", [&](const Fields& axis) {
    const bool word = axis.member("value").is_string();
    state.row.metric.name +=
        fmt::format("/{}={}", axis.text("name"),
                    word ? axis.text("value") : fmt::format("{}", axis.number("value")));
  });
  if (fields.truth_or("is_skipped", false)) {
    state.row.metric.problem = "it was skipped: " + fields.text_or("skip_reason", "no reason");
    return state;
  }
  each_if_any(fields, "summaries", [&](const Fields& summary) {
    const std::string tag = summary.text_or("tag", "");
    const bool samples =
        tag == "nv/json/bin:nv/cold/sample_times" || tag == "nv/json/bin:nv/cpu_only/sample_times";
    const bool gpu = tag == "nv/cold/time/gpu/mean", cpu = tag == "nv/cpu_only/time/cpu/mean";
    if (!samples && !gpu && !cpu) return;
    each_if_any(summary, "data", [&](const Fields& data) {
      const std::string name = data.text("name");
      if (samples && name == "filename") state.sample_file = data.text("value");
      if (samples && name == "size") state.samples = number_or_text(data, "value");
      if (name == "value" && (gpu || !state.mean)) state.mean = number_or_text(data, "value");
    });
  });
  if (!state.mean) state.row.metric.problem = "it has no time";
  return state;
}

// Criterion.rs leaves no file of all results but a folder, CRITERION_HOME or target/criterion:
// <benchmark>/new/estimates.json with times in nanoseconds, and benchmark.json with its name.

/// The folders "new" below, in the order of their names. Links are not followed.
std::vector<fs::path> newest_results(const fs::path& folder) {
  constexpr std::size_t most_entries = 1'000'000;  // else it is a disk, given by mistake
  std::vector<fs::path> found;
  std::size_t seen = 0;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (++seen > most_entries)
      fail(ExitCode::document_malformed,
           "{}: holds more than {} files, so is no folder of results.", folder.string(),
           most_entries);
    const fs::path place = at->path().parent_path();
    // Nor may it be a pipe, on which a reader waits.
    if (at->path().filename() == "estimates.json" && place.filename() == "new" &&
        at->is_regular_file())
      found.push_back(place);
  }
  if (failed)
    fail(ExitCode::bad_input, "{} cannot be read ({}): give a folder that can.", folder.string(),
         failed.message());
  std::ranges::sort(found);
  return found;
}

/// Reads a small JSON file.
void with_json(const fs::path& file, const auto& use) {
  constexpr std::size_t largest = std::size_t{1} << 20;
  const std::string text = read_file_up_to(file, largest), origin = file.string();
  const ParsedJson json(text, origin);
  use(Fields(json.root(), Place{&origin}));
}

}  // namespace

double seconds_in(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : found->second;
}

std::string date_of_file(fs::file_time_type time) {
  return utc_time(std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      std::chrono::file_clock::to_sys(time)));
}

Identity identity_of_program(const std::string& program, const std::string& host) {
  char here[256] = "";
  if (host.empty()) gethostname(here, sizeof here - 1);
  return {{"program", program}, {"host_name", machine_or(host.empty() ? here : host)}};
}

void parse_google_benchmark(const Fields& document, Reading& to) {
  const Fields context = document.object("context");
  to.run.date = date_of_context(context);
  // What stays the same from run to run of one machine and build type; the clock that the context
  // also names is a reading of the moment.
  to.run.identity = {{"host_name", machine_or(context.text_or("host_name", ""))},
                     {"num_cpus", number_as_text(context, "num_cpus")}};
  if (context.has("cpu_scaling_enabled"))
    to.run.identity.emplace_back("cpu_scaling_enabled",
                                 context.truth_or("cpu_scaling_enabled", false) ? "true" : "false");
  to.run.identity.emplace_back("library_build_type", context.text_or("library_build_type", ""));
  each_row(document, "benchmarks", [&](const Fields& row) { add_row(row, to); });
  to.run.identity.emplace_back("statistic", to.have_samples() ? to.statistic() : "median");
}

void parse_hyperfine(const Fields& document, Reading& to) {
  to.run.identity = identity_of_program("hyperfine");
  to.run.identity.emplace_back("statistic", to.statistic());
  each_row(document, "results", [&](const Fields& row) {
    SampleRow found{{row.text("command"), "s"}};
    if (row.has("times") && !row.member("times").is_null())
      each_of(row.list("times"), row.place().at("times"),
              [&](auto time, const Place& at) { found.samples.push_back(number_of(time, at)); });
    else
      found.samples.push_back(row.number(to.by_median ? "median" : "min"));
    found.metric.elapsed_s = sum_of(found.samples);
    // A code other than 0 stands here only where the user had asked hyperfine to ignore it.
    if (row.has("exit_codes"))
      for (const dom::element code : row.list("exit_codes"))
        if (code.is_null()) found.metric.problem = "a signal ended it";
    to.add(std::move(found), row.place());
  });
}

void parse_pytest_benchmark(const Fields& document, Reading& to) {
  const Fields machine = document.object("machine_info");
  to.run.identity = identity_of_program("pytest-benchmark", machine.text_or("node", ""));
  to.run.identity.emplace_back("statistic", to.statistic());
  if (machine.has("cpu")) {
    const Fields cpu = machine.object("cpu");
    to.run.identity.emplace_back("cpu", cpu.text_or("brand_raw", cpu.text_or("brand", "")));
    to.run.identity.emplace_back("num_cpus", number_as_text(cpu, "count"));
  }
  // "2026-11-24T16:48:10.257322+00:00": UTC, in old versions without its zone.
  const std::string date = document.text("datetime");
  to.run.date = date_of(date.substr(0, 19) + "Z", document.place().at("datetime"));
  each_row(document, "benchmarks", [&](const Fields& row) {
    const Fields stats = row.object("stats");
    const double value = stats.number(to.by_median ? "median" : "min");
    SampleRow found{{row.text_or("fullname", row.text_or("name", "")), "s"}, {value}};
    found.metric.elapsed_s = stats.optional_number("total").value_or(0);
    const auto iqr = stats.optional_number("iqr"), rounds = stats.optional_number("rounds");
    if (iqr && rounds && *rounds > 1) {  // it keeps samples only if asked
      const double median = stats.number("median"), half = 1.57 * *iqr / std::sqrt(*rounds);
      found.interval = {median - half, median + half, 0.95,
                        "1.57 quartile distances over the root of the rounds (McGill, Tukey and "
                        "Larsen)"};
    }
    to.add(std::move(found), row.place());
  });
}

void parse_nvbench(const Fields& document, Reading& to) {
  std::map<double, std::string> devices;
  each_if_any(document, "devices",
              [&](const Fields& device) { devices[device.number("id")] = device.text("name"); });
  std::set<double> used;
  std::vector<State> states;
  each_row(document, "benchmarks", [&](const Fields& benchmark) {
    const std::string name = benchmark.text("name");
    if (benchmark.member("states").is_null()) return;
    each_row(benchmark, "states", [&](const Fields& state) {
      states.push_back(state_of(name, state));
      if (states.back().device) used.insert(*states.back().device);
    });
  });

  // The mean and the median are not compared with each other: one of them for the whole run.
  bool sampled = true;
  for (State& state : states) {
    if (!sampled || !state.row.metric.problem.empty()) continue;
    state.row.samples = samples_beside(to.run.origin, state);
    sampled = !state.row.samples.empty();
  }
  for (State& state : states) {
    auto& [metric, samples, median, interval] = state.row;
    if (used.size() > 1 && state.device) metric.name += fmt::format("/Device={}", *state.device);
    if (sampled)
      metric.elapsed_s = sum_of(samples);
    else if (metric.problem.empty())
      samples = {*state.mean};
    to.add(std::move(state.row), document.place());
  }
  std::string gpus;
  for (const auto& [id, name] : devices)
    if (used.contains(id)) gpus += (gpus.empty() ? "" : ", ") + name;
  to.run.identity = identity_of_program("nvbench");
  to.run.identity.emplace_back("gpu_name", gpus);
  to.run.identity.emplace_back("statistic", sampled ? "median of samples" : "mean");
}

void read_criterion(const fs::path& folder, Reading& to) {
  const std::vector<fs::path> results = newest_results(folder);
  if (results.empty())
    fail(ExitCode::bad_input,
         "{} is a folder without results: give a result, or the folder that Criterion leaves "
         "(CRITERION_HOME).",
         to.run.origin);
  for (const fs::path& result : results) {
    std::string name = result.parent_path().lexically_relative(folder).string();
    std::error_code failed;
    if (fs::is_regular_file(result / "benchmark.json", failed))
      with_json(result / "benchmark.json",
                [&](const Fields& fields) { name = fields.text_or("full_id", name); });
    with_json(result / "estimates.json", [&](const Fields& fields) {
      const Fields median = fields.object("median");
      const double value = median.number("point_estimate");
      SampleRow row{{name, "ns"}, {value}};
      if (median.has("confidence_interval")) {
        const Fields interval = median.object("confidence_interval");
        row.interval = {interval.number("lower_bound") * 1e-9,
                        interval.number("upper_bound") * 1e-9, interval.number("confidence_level"),
                        "Criterion's"};
      }
      to.add(std::move(row), fields.place());
    });
    const auto written = fs::last_write_time(result / "estimates.json", failed);
    if (!failed) to.run.date = std::max(to.run.date, date_of_file(written));
  }
  to.run.identity = identity_of_program("criterion");
}

}  // namespace fathom::gate
