#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>

#include "gate/parse.h"
#include "results/files.h"
#include "results/text.h"

// Google Benchmark (its docs/user_guide.md and src/json_reporter.cc say what the fields mean),
// hyperfine (--export-json), pytest-benchmark (--benchmark-json), nvbench (--json, --jsonbin),
// Criterion and CSV.

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

/// FATHOM_MACHINE, since a container's host name is another one each time; else the `host` that the
/// file names, or the one that reads it.
std::string machine_or(const std::string& host) {
  const char* machine = std::getenv("FATHOM_MACHINE");
  if (machine && *machine) return machine;
  char here[256] = "";
  if (host.empty()) gethostname(here, sizeof here - 1);
  return host.empty() ? here : host;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// A time with its zone, in UTC; without one it is taken to be in UTC. Refuses what is no time.
std::string utc_of(std::string date, const Place& place) {
  std::tm zone{};
  if (const auto at = date.find_first_of("+-", 19); at != std::string::npos)
    if (strptime(date.c_str() + at, "%z", &zone) == nullptr) date.clear();
  if (date.size() > 10) date[10] = 'T';  // a space in old versions of Google Benchmark
  date =
      date_of(date.replace(std::min(date.size(), std::size_t{19}), std::string::npos, "Z"), place);
  return utc_time(*parse_utc_time(date) - std::chrono::seconds(zone.tm_gmtoff));
}

/// A measurement of Google Benchmark, or the median of several. Returns whether it takes a median.
bool add_row(const Fields& row, Reading& to) {
  const std::string name = row.text_or("run_name", row.text("name")),
                    aggregate = row.text_or("aggregate_name", "");
  // Aggregates come after the measurements, where those are there as well.
  if (!aggregate.empty() && (aggregate != "median" || to.by_name.contains(name))) return false;
  SampleRow found{{name, row.text_or("time_unit", "ns")}};
  if (seconds_in(found.metric.unit) == 0)
    row.refuse("time_unit", "is none of \"ns\", \"us\", \"ms\", \"s\"");
  if (row.truth_or("error_occurred", false)) {
    found.metric.problem = "it failed: " + row.text_or("error_message", "no message");
  } else if (row.truth_or("skipped", false)) {
    found.metric.problem = "it was skipped: " + row.text_or("skip_message", "no message");
  } else {
    found.samples = {row.number("real_time")};
    if (aggregate.empty())
      found.metric.elapsed_s = found.samples[0] * row.optional_number("iterations").value_or(1);
  }
  to.add(std::move(found));
  return !aggregate.empty();
}

/// nvbench writes null for an empty list.
template <typename Use>
void each_if_any(const Fields& fields, std::string_view key, Use use) {
  if (!fields.has(key) || !fields.member(key).is_null()) fields.each(key, use);
}

/// What nvbench says of one state. Its samples are those of its file.
struct State {
  SampleRow row;
  std::optional<double> device{};  ///< none of a benchmark of the CPU alone
  std::optional<double> mean{};
};

/// The float32 samples of nvbench, which calls its sample files "<result>-bin/<number>.bin",
/// wherever it ran. Only what lies in such a folder beside the document is opened; empty: nothing.
std::vector<double> samples_beside(const fs::path& result, const fs::path& named,
                                   const std::string& number) {
  const std::string folder = named.parent_path().filename(), file = named.filename();
  const fs::path path = result.parent_path() / folder / file;
  std::error_code ignored;
  if (!folder.ends_with("-bin") || !file.ends_with(".bin") || !fs::is_regular_file(path, ignored))
    return {};
  const std::string bytes = read_file_up_to(path, largest_result);
  std::vector<float> samples(bytes.size() / sizeof(float));
  if (bytes.size() % sizeof(float) != 0 || std::to_string(samples.size()) != number)
    fail(ExitCode::document_malformed, "{}: holds {} bytes, and {} says {} samples of four bytes.",
         path.string(), bytes.size(), result.string(), quotable(number));
  std::memcpy(samples.data(), bytes.data(), bytes.size());  // little-endian, as every GPU's host
  return {samples.begin(), samples.end()};
}

State state_of(const std::string& benchmark, const Fields& fields, const fs::path& result) {
  State state{.row = {{benchmark, "s"}}, .device = fields.optional_number("device")};
  each_if_any(fields, "axis_values", [&](const Fields& axis) {
    state.row.metric.name += fmt::format("/{}={}", axis.text("name"), fact_text(axis, "value"));
  });
  if (fields.truth_or("is_skipped", false)) {
    state.row.metric.problem = "it was skipped: " + fields.text_or("skip_reason", "no reason");
    return state;
  }
  each_if_any(fields, "summaries", [&](const Fields& summary) {
    const std::string tag = summary.text_or("tag", "");
    const bool mean = tag == "nv/cold/time/gpu/mean" || tag == "nv/cpu_only/time/cpu/mean",
               samples = tag == "nv/json/bin:nv/cold/sample_times" ||
                         tag == "nv/json/bin:nv/cpu_only/sample_times";
    if (!mean && !samples) return;
    std::map<std::string, std::string> data;
    each_if_any(summary, "data",
                [&](const Fields& item) { data[item.text("name")] = fact_text(item, "value"); });
    if (samples) state.row.samples = samples_beside(result, data["filename"], data["size"]);
    if (!mean) return;
    state.mean = parse_number<double>(data["value"]);
    if (!state.mean) summary.refuse("data", "has no \"value\" that is a number");
  });
  if (!state.mean) state.row.metric.problem = "it has no time";
  return state;
}

// Criterion.rs leaves no file of all results but a folder, CRITERION_HOME or target/criterion:
// <benchmark>/new/estimates.json with times in nanoseconds, and benchmark.json with its name.

/// The files of the folders "new" below, in the order of their names. Links are not followed.
std::vector<fs::path> newest_estimates(const fs::path& folder) {
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
    const fs::path& file = at->path();
    // Nor may it be a pipe, on which a reader waits.
    if (file.filename() == "estimates.json" && file.parent_path().filename() == "new" &&
        at->is_regular_file())
      found.push_back(file);
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

/// Takes the next cell of a CSV (RFC 4180). Returns what ended it: ',', '\n' at the text's end too,
/// or '"' where a quote stands in the middle of a cell or is not closed.
char take_cell(std::string_view& text, std::string& cell) {
  cell.clear();
  bool quoted = false, closed = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '"' && (quoted || closed || cell.empty())) {
      if (closed) cell += c;  // two are one of the text's own
      closed = quoted;
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      text.remove_prefix(1);
      return c;
    } else if (quoted || c != '\r') {
      if (closed) return '"';
      cell += c;
    }
  }
  return quoted ? '"' : '\n';
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

void parse_google_benchmark(const Fields& document, Reading& to) {
  const Fields context = document.object("context");
  if (const std::string date = context.text_or("date", ""); context.has("date"))
    to.run.date = utc_of(date, context.place().at("date"));
  bool medians = false;
  document.each("benchmarks", [&](const Fields& row) { medians = add_row(row, to) || medians; });
  // What stays the same from run to run of one machine and build type; the clock that the context
  // also names is a reading of the moment.
  to.run.identity = {{"host_name", machine_or(context.text_or("host_name", ""))}};
  for (const char* fact : {"num_cpus", "cpu_scaling_enabled", "library_build_type"})
    to.run.identity.emplace_back(fact, fact_text(context, fact));
  to.run.identity.emplace_back("statistic", medians ? "median" : to.statistic());
}

void parse_hyperfine(const Fields& document, Reading& to) {
  to.run.identity = {
      {"program", "hyperfine"}, {"host_name", machine_or("")}, {"statistic", to.statistic()}};
  document.each("results", [&](const Fields& row) {
    SampleRow found{{row.text("command"), "s"}, row.get<std::vector<double>>("times")};
    found.metric.elapsed_s = sum_of(found.samples);
    if (row.has("exit_codes"))
      for (const dom::element code : row.list("exit_codes"))
        if (code.is_null()) found.metric.problem = "a signal ended it";
    to.add(std::move(found));
  });
}

void parse_pytest_benchmark(const Fields& document, Reading& to) {
  const Fields machine = document.object("machine_info");
  to.run.identity = {{"program", "pytest-benchmark"},
                     {"host_name", machine_or(machine.text_or("node", ""))},
                     {"statistic", to.statistic()}};
  if (machine.has("cpu")) {
    const Fields cpu = machine.object("cpu");
    to.run.identity.emplace_back("cpu", fact_text(cpu, "brand_raw"));
    to.run.identity.emplace_back("num_cpus", fact_text(cpu, "count"));
  }
  to.run.date = utc_of(document.text("datetime"), document.place().at("datetime"));
  document.each("benchmarks", [&](const Fields& row) {
    const Fields stats = row.object("stats");
    SampleRow found{{row.text("fullname"), "s"}, {stats.number(to.by_median ? "median" : "min")}};
    found.metric.elapsed_s = stats.optional_number("total").value_or(0);
    const auto iqr = stats.optional_number("iqr"), rounds = stats.optional_number("rounds");
    if (iqr && rounds && *rounds > 1) {  // it keeps samples only if asked
      const double median = stats.number("median"), half = 1.57 * *iqr / std::sqrt(*rounds);
      found.metric.interval = {
          median - half, median + half, 0.95,
          "1.57 quartile distances over the root of the rounds (McGill, Tukey and "
          "Larsen)"};
    }
    to.add(std::move(found));
  });
}

void parse_nvbench(const Fields& document, Reading& to) {
  std::map<double, std::string> devices;
  each_if_any(document, "devices",
              [&](const Fields& device) { devices[device.number("id")] = device.text("name"); });
  std::set<double> used;
  std::vector<State> states;
  document.each("benchmarks", [&](const Fields& benchmark) {
    const std::string name = benchmark.text("name");
    if (benchmark.member("states").is_null()) return;
    require_few(states.size() + benchmark.list("states").size(), benchmark.place().at("states"));
    benchmark.each("states", [&](const Fields& state) {
      states.push_back(state_of(name, state, to.run.origin));
      if (states.back().device) used.insert(*states.back().device);
    });
  });
  // The mean and the median are not compared with each other: one of them for the whole run.
  const bool sampled = std::ranges::none_of(
      states, [](const State& state) { return state.mean && state.row.samples.empty(); });
  for (auto& [row, device, mean] : states) {
    if (used.size() > 1 && device) row.metric.name += fmt::format("/Device={}", *device);
    if (sampled) row.metric.elapsed_s = sum_of(row.samples);
    if (!sampled && mean) row.samples = {*mean};
    to.add(std::move(row));
  }
  std::string gpus;
  for (const auto& [id, name] : devices)
    if (used.contains(id)) gpus += (gpus.empty() ? "" : ", ") + name;
  to.run.identity = {{"program", "nvbench"},
                     {"host_name", machine_or("")},
                     {"gpu_name", gpus},
                     {"statistic", sampled ? "median of samples" : "mean"}};
}

fs::path read_criterion(const fs::path& folder, Reading& to) {
  const std::vector<fs::path> results = newest_estimates(folder);
  if (results.empty())
    fail(ExitCode::bad_input,
         "{} is a folder without results: give a result, or the folder that Criterion leaves "
         "(CRITERION_HOME).",
         to.run.origin);
  for (const fs::path& result : results) {
    SampleRow row{{"", "ns"}};
    with_json(result.parent_path() / "benchmark.json",
              [&](const Fields& fields) { row.metric.name = fields.text("full_id"); });
    with_json(result, [&](const Fields& fields) {
      const Fields median = fields.object("median");
      const Fields interval = median.object("confidence_interval");
      row.samples = {median.number("point_estimate")};
      row.metric.interval = {interval.number("lower_bound") * 1e-9,
                             interval.number("upper_bound") * 1e-9,
                             interval.number("confidence_level"), "Criterion's"};
    });
    to.add(std::move(row));
  }
  to.run.identity = {{"program", "criterion"}, {"host_name", machine_or("")}};
  return std::ranges::max(results, {}, [](const fs::path& file) {
    std::error_code ignored;
    return fs::last_write_time(file, ignored);
  });
}

void parse_csv(std::string_view text, Reading& to) {
  to.run.identity = {{"program", "csv"}, {"host_name", machine_or("")}};
  std::size_t line = 1;
  const auto refuse = [&](const std::string& what) {
    fail(ExitCode::document_malformed, "{}: line {} {}.", to.run.origin, line, what);
  };
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (std::string cell; !text.empty();) {
    ++line;
    SampleRow row;
    std::size_t cells = 0;
    for (char end = ','; end == ','; ++cells) {
      end = take_cell(text, cell);
      if (end == '"') refuse("has a quote in a cell, or one that nothing closes");
      const std::string_view word = trimmed(cell);
      if (cells == 0) {
        row.metric.name = clean(cell);
      } else if (cells == 1) {
        row.metric.unit = clean(word);
      } else if (cells == 2) {
        const auto better = from_string<Better>(word);
        if (!better) refuse("says neither \"higher\" nor \"lower\" in its third column");
        row.metric.better = *better;
      } else if (!word.empty()) {
        const auto sample = parse_number<double>(word);
        if (!sample || !std::isfinite(*sample))
          refuse(fmt::format("has the sample \"{}\"; expected: a number", quotable(word)));
        row.samples.push_back(*sample);
      }
    }
    if (cells == 1 && row.metric.name.empty()) continue;
    if (cells < 4) refuse("has no sample");
    if (to.by_name.contains(row.metric.name))
      refuse(fmt::format("has \"{}\" again; expected: one line a metric, with all its samples",
                         quotable(row.metric.name)));
    to.add(std::move(row));
  }
  if (to.rows.empty()) refuse("is a header without a metric; expected: a line a metric below it");
}

}  // namespace fathom::gate
