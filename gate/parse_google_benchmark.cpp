#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "gate/parse.h"
#include "results/utc_time.h"

// What the fields of Google Benchmark's JSON mean: its docs/user_guide.md and src/json_reporter.cc.

namespace fathom::gate {
namespace {

/// The context's facts that stay the same from run to run of one machine and build type; the clock
/// that it also names is a reading of the moment.
Identity identity_of_context(const Fields& context) {
  Identity identity{{"host_name", machine_or(context.text_or("host_name", ""))}};
  const auto cpus = context.optional_number("num_cpus");
  identity.emplace_back("num_cpus", cpus ? fmt::format("{}", *cpus) : "");
  if (context.has("cpu_scaling_enabled"))
    identity.emplace_back("cpu_scaling_enabled",
                          context.truth_or("cpu_scaling_enabled", false) ? "true" : "false");
  identity.emplace_back("library_build_type", context.text_or("library_build_type", ""));
  return identity;
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
    // As text first: what is not in the calendar would become another day.
    const std::string local = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
    const long offset = parts.tm_gmtoff;
    if (parse_utc_time(local))
      return utc_time(std::chrono::system_clock::from_time_t(timegm(&parts) - offset));
  }
  return date_of(date, context.place().at("date"));
}

std::string failure_of(const Fields& row) {
  if (row.truth_or("error_occurred", false))
    return "it failed: " + row.text_or("error_message", "no message");
  if (row.truth_or("skipped", false))
    return "it was skipped: " + row.text_or("skip_message", "no message");
  return {};
}

/// What a row is: one measurement, or a figure about several of them.
struct Kind {
  std::string name;       ///< of the benchmark
  std::string aggregate;  ///< "median", ...; empty for a measurement
};

Kind kind_of(const Fields& row) {
  const std::string name = row.text("name"), type = row.text_or("run_type", "");
  std::string aggregate = row.text_or("aggregate_name", "");
  if (type == "iteration") aggregate.clear();
  if (type == "aggregate" && aggregate.empty()) aggregate = "unnamed";
  if (type.empty() && aggregate.empty()) {
    // Versions before 1.5 say only by the name that a row is about others: "BM_Sort_mean". The fit
    // of a complexity has coefficients and no time.
    if (row.has("big_o") || row.has("rms")) return {name, "complexity"};
    for (const char* word : {"mean", "median", "stddev", "cv"})
      if (name.ends_with(std::string("_") + word)) aggregate = word;
  }
  const std::string suffix = "_" + aggregate;
  const bool suffixed = !aggregate.empty() && name.ends_with(suffix);
  const std::string own = suffixed ? name.substr(0, name.size() - suffix.size()) : name;
  const std::string run_name = row.text_or("run_name", "");
  return {run_name.empty() ? own : run_name, aggregate};
}

void add_row(const Fields& row, PooledMetrics& metrics) {
  const auto [name, aggregate] = kind_of(row);
  if (!aggregate.empty() && aggregate != "median") return;
  SampleRow found{.name = name, .problem = failure_of(row)};
  if (!found.problem.empty()) return metrics.add(std::move(found), row.place());
  found.unit = row.text_or("time_unit", "ns");
  if (seconds_in(found.unit) == 0)
    row.refuse("time_unit", "is none of \"ns\", \"us\", \"ms\", \"s\"");
  const double time = row.number("real_time");
  if (aggregate.empty()) {
    found.samples = {time};
    found.elapsed_s = time * seconds_in(found.unit) * row.optional_number("iterations").value_or(1);
  } else {
    found.median = time;
  }
  metrics.add(std::move(found), row.place().at("real_time"));
}

}  // namespace

void parse_google_benchmark(const Fields& document, RunMetrics& run, PooledMetrics& metrics) {
  const Fields context = document.object("context");
  run.date = date_of_context(context);
  run.identity = identity_of_context(context);
  each_row(document, "benchmarks", [&](const Fields& row) { add_row(row, metrics); });
}

}  // namespace fathom::gate
