#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "gate/parse.h"
#include "results/names.h"
#include "results/statistics.h"
#include "results/verdict.h"

namespace fathom::gate {
namespace {

GpuState state_of(const Fields& telemetry) {
  const auto median_of = [&](std::string_view channel) {
    return telemetry.object(channel).optional_number("median");
  };
  GpuState state{median_of("sm_clock_hz"), median_of("memory_clock_hz"), median_of("power_w"),
                 telemetry.texts("throttle_reasons")};
  std::erase_if(state.throttle_reasons, std::not_fn(holds_clocks_down));
  std::ranges::sort(state.throttle_reasons);
  return state;
}

/// What of the entry's verdict forbids to use its value.
std::string problem_of(VerdictStatus verdict) {
  if (verdict == VerdictStatus::wrong_output) return "its output was wrong";
  if (verdict == VerdictStatus::failed) return "it failed";
  if (verdict == VerdictStatus::above_bound)
    return "it is better than its physical bound, so that one of the two is wrong";
  return {};
}

void add_entry(const Fields& row, RunMetrics& run, std::vector<double>& repeatabilities) {
  const Fields own = row.object(keys::own);
  const Fields metric = own.object("metric"), telemetry = own.object("telemetry"),
               verdict = own.object("verdict");
  MetricValue value{.name = row.text("name"), .unit = metric.text("unit")};
  if (value.name.starts_with(keys::replay_prefix)) {
    value.name.erase(0, keys::replay_prefix.size());
    run.replay = true;
  }
  value.better = metric.word<Better>("better");
  value.problem = problem_of(verdict.word<VerdictStatus>("status"));
  const auto number = metric.optional_number("value");
  if (!number && value.problem.empty()) value.problem = "it has no value";
  value.value = number.value_or(0);
  value.elapsed_s = own.object("timing").number("elapsed_s");
  value.state = state_of(telemetry);
  run.other_processes = std::max(run.other_processes, telemetry.optional_number("other_processes"));
  if (const auto repeatability = own.optional_number("repeatability"))
    repeatabilities.push_back(*repeatability);
  run.metrics.push_back(value);
  own.each("opponents", [&](const Fields& opponent) {
    const auto ratio = opponent.optional_number("ratio");
    if (!ratio && value.problem.empty()) return;
    run.metrics.push_back({value.name + " vs " + opponent.text("name"), "x", Better::higher,
                           ratio.value_or(0), 0, value.state, value.problem});
  });
}

}  // namespace

Identity identity_of(const Fields& fields) {
  Identity identity;
  for (const auto& [key, value] : fields.members()) {
    const Place place = fields.place().at(key);
    identity.emplace_back(key, value.is_null()     ? ""
                               : value.is_string() ? text_of(value, place)
                                                   : fmt::format("{}", number_of(value, place)));
  }
  return identity;
}

void parse_fathom(const Fields& document, RunMetrics& run) {
  const Fields context = document.object("context");
  const Fields own = context.object(keys::own);
  require_version(own, "schema_version", schema_version, "the schema of results");
  run.fathom = true;
  run.date = date_of(context.text("date"), context.place().at("date"));
  run.commit = own.text("commit");
  run.suite = own.text("suite");
  run.elapsed_s = own.optional_number("elapsed_s").value_or(0);
  run.replay = own.word<Source>("source") == Source::replay;
  run.identity = identity_of(own.object("fingerprint"));
  std::vector<double> repeatabilities;
  each_row(document, "benchmarks",
           [&](const Fields& row) { add_entry(row, run, repeatabilities); });
  if (repeatabilities.size() >= 5) run.unsteadiness = median(repeatabilities);
}

}  // namespace fathom::gate
