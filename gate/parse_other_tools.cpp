#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <numeric>
#include <set>

#include "gate/pooled.h"
#include "results/clean_text.h"
#include "results/statistics.h"

// hyperfine (--export-json), pytest-benchmark (--benchmark-json) and nvbench (--json, --jsonbin).

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The elements of a list as objects, each with its place.
template <typename Use>
void each_object(dom::array list, const Place& place, Use use) {
  std::size_t index = 0;
  for (const dom::element element : list) {
    const Place at = place.at(index++);
    use(Fields(element, at));
  }
}

template <typename Use>
void each_object(const Fields& fields, std::string_view key, Use use) {
  // nvbench writes null for an empty list.
  if (fields.has(key) && fields.member(key).is_null()) return;
  each_object(fields.list(key), fields.place().at(key), use);
}

/// A number that nvbench writes as a text, or wrote as a number in old versions.
std::optional<double> number_or_text(const Fields& fields, std::string_view key) {
  const dom::element value = fields.member(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) return number_of(value, fields.place().at(key));
  const std::string text = text_of(value, fields.place().at(key));
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size())
    fields.place().at(key).refuse(fmt::format("is \"{}\"; expected: a number", quotable(text)));
  return number;
}

/// What nvbench says of one state's time.
struct StateTime {
  std::string name;
  std::string problem;
  std::optional<double> mean;
  std::string sample_file;
  std::optional<double> samples;
};

StateTime state_time(const std::string& benchmark, const Fields& state, bool with_device) {
  StateTime time;
  time.name = benchmark;
  each_object(state, "axis_values", [&](const Fields& axis) {
    const dom::element value = axis.member("value");
    time.name +=
        "/" + axis.text("name") + "=" +
        (value.is_string() ? text_of(value, axis.place().at("value"))
                           : fmt::format("{}", number_of(value, axis.place().at("value"))));
  });
  const auto device = state.optional_number("device");  // none of a benchmark of the CPU alone
  if (with_device && device) time.name += fmt::format("/Device={}", *device);
  if (state.truth_or("is_skipped", false)) {
    time.problem = "it was skipped: " + state.text_or("skip_reason", "no reason");
    return time;
  }
  each_object(state, "summaries", [&](const Fields& summary) {
    const std::string tag = summary.text_or("tag", "");
    const bool samples =
        tag == "nv/json/bin:nv/cold/sample_times" || tag == "nv/json/bin:nv/cpu_only/sample_times";
    const bool gpu = tag == "nv/cold/time/gpu/mean", cpu = tag == "nv/cpu_only/time/cpu/mean";
    if (!samples && !gpu && !cpu) return;
    each_object(summary, "data", [&](const Fields& data) {
      const std::string name = data.text("name");
      if (samples && name == "filename") time.sample_file = data.text("value");
      if (samples && name == "size") time.samples = number_or_text(data, "value");
      if (name == "value" && (gpu || !time.mean)) time.mean = number_or_text(data, "value");
    });
  });
  if (!time.mean) time.problem = "it has no time";
  return time;
}

}  // namespace

Identity identity_of_program(const std::string& program, const std::string& host) {
  const char* machine = std::getenv("FATHOM_MACHINE");
  char here[256] = "";
  if (host.empty()) gethostname(here, sizeof here - 1);
  return {{"program", program},
          {"host_name", machine && *machine ? machine
                        : host.empty()      ? here
                                            : host}};
}

void parse_hyperfine(const Fields& document, RunMetrics& run) {
  run.identity = identity_of_program("hyperfine", "");
  PooledMetrics metrics;
  each_object(rows_of(document, "results"), document.place().at("results"), [&](const Fields& row) {
    const std::string name = row.text("command");
    std::vector<double> times;
    if (row.has("times") && !row.member("times").is_null()) {
      std::size_t index = 0;
      for (const dom::element time : row.list("times"))
        times.push_back(number_of(time, row.place().at("times").at(index++)));
    } else {
      times.push_back(row.number("median"));
    }
    // A code other than 0 stands here only where the user had asked hyperfine to ignore it.
    if (row.has("exit_codes"))
      for (const dom::element code : row.list("exit_codes"))
        if (code.is_null()) return metrics.add_problem(name, "a signal ended it");
    const double elapsed_s = sum_of(times);
    metrics.add(name, "s", Better::lower, std::move(times), elapsed_s, row.place());
  });
  metrics.move_into(run);
}

void parse_pytest_benchmark(const Fields& document, RunMetrics& run) {
  const Fields machine(document.member("machine_info"), document.place().at("machine_info"));
  run.identity = identity_of_program("pytest-benchmark", machine.text_or("node", ""));
  if (machine.has("cpu")) {
    const Fields cpu(machine.member("cpu"), machine.place().at("cpu"));
    run.identity.emplace_back("cpu", cpu.text_or("brand_raw", cpu.text_or("brand", "")));
    const auto count = cpu.optional_number("count");
    run.identity.emplace_back("num_cpus", count ? fmt::format("{}", *count) : "");
  }
  // "2026-11-24T16:48:10.257322+00:00": UTC, in old versions without its zone.
  const std::string date = document.text("datetime");
  run.date = date_of(date.substr(0, 19) + "Z", document.place().at("datetime"));
  PooledMetrics metrics;
  each_object(rows_of(document, "benchmarks"), document.place().at("benchmarks"),
              [&](const Fields& row) {
                const Fields stats(row.member("stats"), row.place().at("stats"));
                metrics.add(row.text_or("fullname", row.text_or("name", "")), "s", Better::lower,
                            {stats.number("median")}, stats.optional_number("total").value_or(0),
                            row.place());
              });
  metrics.move_into(run);
}

void parse_nvbench(const Fields& document, RunMetrics& run, const SampleFiles& files) {
  std::map<double, std::string> devices;
  each_object(document, "devices",
              [&](const Fields& device) { devices[device.number("id")] = device.text("name"); });
  std::set<double> used;
  std::vector<StateTime> states;
  const auto each_state = [&](auto use) {
    each_object(rows_of(document, "benchmarks"), document.place().at("benchmarks"),
                [&](const Fields& benchmark) {
                  const std::string name = benchmark.text("name");
                  if (!benchmark.member("states").is_null()) rows_of(benchmark, "states");
                  each_object(benchmark, "states", [&](const Fields& state) { use(name, state); });
                });
  };
  each_state([&](const std::string&, const Fields& state) {
    if (const auto device = state.optional_number("device")) used.insert(*device);
  });
  each_state([&](const std::string& name, const Fields& state) {
    states.push_back(state_time(name, state, used.size() > 1));
  });

  // The mean and the median are not compared with each other: one of them for the whole run.
  PooledMetrics means, medians;
  bool sampled = true;
  const Place& place = document.place();
  for (const StateTime& state : states) {
    if (!state.problem.empty()) {
      means.add_problem(state.name, state.problem);
      medians.add_problem(state.name, state.problem);
      continue;
    }
    means.add(state.name, "s", Better::lower, {*state.mean}, 0, place);
    sampled = sampled && !state.sample_file.empty() && state.samples.has_value();
    if (!sampled) continue;
    const auto samples = files(state.sample_file, *state.samples);
    sampled = samples.has_value() && !samples->empty();
    if (sampled) medians.add(state.name, "s", Better::lower, *samples, sum_of(*samples), place);
  }
  (sampled ? medians : means).move_into(run);
  std::string gpus;
  for (const auto& [id, name] : devices)
    if (used.contains(id)) gpus += (gpus.empty() ? "" : ", ") + name;
  run.identity = identity_of_program("nvbench", "");
  run.identity.emplace_back("gpu_name", gpus);
  run.identity.emplace_back("statistic", sampled ? "median of samples" : "mean");
}

}  // namespace fathom::gate
