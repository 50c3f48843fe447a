#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <map>

#include "reports/gate/parse.h"
#include "results/statistics.h"
#include "results/utc_time.h"

// What the fields of Google Benchmark's JSON mean: its docs/user_guide.md and src/json_reporter.cc.

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;

double seconds_in(const std::string& unit, const Place& place) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  place.refuse("is none of \"ns\", \"us\", \"ms\", \"s\"");
}

/// All rows of one name.
struct Rows {
  std::vector<double> times;
  std::optional<double> aggregate_median;
  double elapsed_s = 0;
  std::string problem;
};

/// The context's facts that stay the same from run to run of one machine and build type; the clock
/// that it also names is a reading of the moment.
Identity identity_of_context(const Fields& context) {
  Identity identity{{"host_name", context.text_or("host_name", "")}};
  const auto cpus = context.optional_number("num_cpus");
  identity.emplace_back("num_cpus", cpus ? fmt::format("{}", *cpus) : "");
  if (context.has("cpu_scaling_enabled")) {
    identity.emplace_back("cpu_scaling_enabled",
                          context.truth_or("cpu_scaling_enabled", false) ? "true" : "false");
  }
  identity.emplace_back("library_build_type", context.text_or("library_build_type", ""));
  return identity;
}

/// The local time with its zone that Google Benchmark writes, in UTC; other texts as they are.
std::string in_utc(const std::string& date) {
  std::tm parts{};
  const char* end = strptime(date.c_str(), "%Y-%m-%dT%H:%M:%S%z", &parts);
  // The clock counts nanoseconds, which do not reach much further.
  constexpr int first_year = 1970, last_year = 2200, years_from = 1900;
  const int year = parts.tm_year + years_from;
  if (!end || *end != '\0' || year <= first_year || year > last_year) return date;
  const long offset = parts.tm_gmtoff;
  return utc_time(std::chrono::system_clock::from_time_t(timegm(&parts) - offset));
}

std::string failure_of(const Fields& row) {
  if (row.truth_or("error_occurred", false))
    return "it failed: " + row.text_or("error_message", "no message");
  if (row.truth_or("skipped", false))
    return "it was skipped: " + row.text_or("skip_message", "no message");
  return {};
}

void add_row(dom::element element, const Place& at, std::vector<std::string>& order,
             std::map<std::string, Rows>& rows) {
  const Fields row(element, at);
  const std::string type = row.text_or("run_type", "iteration");
  const std::string name = row.has("run_name") && !row.text("run_name").empty()
                               ? row.text("run_name")
                               : row.text("name");
  if (type == "aggregate" && row.text_or("aggregate_name", "") != "median") return;
  const auto [found, is_new] = rows.try_emplace(name);
  if (is_new) order.push_back(name);
  Rows& of_name = found->second;
  if (const std::string failure = failure_of(row); !failure.empty()) {
    of_name.problem = failure;
    return;
  }
  const double time =
      row.number("real_time") * seconds_in(row.text_or("time_unit", "ns"), at.at("time_unit"));
  if (type == "aggregate") {
    of_name.aggregate_median = time;
    return;
  }
  of_name.times.push_back(time);
  of_name.elapsed_s += time * row.optional_number("iterations").value_or(1);
}

}  // namespace

void parse_google_benchmark(const Fields& document, RunMetrics& run) {
  const Fields context(document.member("context"), document.place().at("context"));
  run.date = in_utc(context.text_or("date", ""));
  run.identity = identity_of_context(context);
  std::vector<std::string> order;
  std::map<std::string, Rows> rows;
  const Place place = document.place().at("benchmarks");
  std::size_t index = 0;
  for (const dom::element row : document.list("benchmarks"))
    add_row(row, place.at(index++), order, rows);
  for (const std::string& name : order) {
    const Rows& of_name = rows.at(name);
    MetricValue metric{name, "s", Better::lower, 0, of_name.elapsed_s, {}, of_name.problem};
    if (!of_name.times.empty())
      metric.value = median(of_name.times);
    else if (of_name.aggregate_median)
      metric.value = *of_name.aggregate_median;
    run.metrics.push_back(std::move(metric));
  }
}

}  // namespace fathom::gate
