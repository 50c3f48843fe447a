#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gate/json_fields.h"
#include "gate/parse.h"
#include "results/document_keys.h"
#include "results/error.h"
#include "results/names.h"
#include "results/statistics.h"

namespace fathom::gate {
namespace {

namespace dom = simdjson::dom;

/// Set on a GPU that does nothing, or that follows the clock that it was told: nothing that holds
/// clocks down.
const std::set<std::string>& harmless_reasons() {
  static const std::set<std::string> reasons{"gpu_idle", "applications_clocks_setting"};
  return reasons;
}

std::optional<double> median_of(const Fields& telemetry, std::string_view channel) {
  const Fields range(telemetry.member(channel), telemetry.place().at(channel));
  return range.optional_number("median");
}

GpuState state_of(const Fields& own) {
  const Fields telemetry(own.member("telemetry"), own.place().at("telemetry"));
  GpuState state{median_of(telemetry, "sm_clock_hz"),
                 median_of(telemetry, "memory_clock_hz"),
                 median_of(telemetry, "power_w"),
                 {}};
  const Place reasons = telemetry.place().at("throttle_reasons");
  std::size_t index = 0;
  for (const dom::element reason : telemetry.list("throttle_reasons")) {
    std::string word = text_of(reason, reasons.at(index++));
    if (!harmless_reasons().contains(word)) state.throttle_reasons.push_back(std::move(word));
  }
  std::sort(state.throttle_reasons.begin(), state.throttle_reasons.end());
  return state;
}

/// What of the entry's verdict forbids to use its value.
std::string problem_of(const Fields& own) {
  const Fields verdict(own.member("verdict"), own.place().at("verdict"));
  const std::string word = verdict.text("status");
  const auto status = from_string<VerdictStatus>(word);
  if (!status) verdict.place().at("status").refuse("is none of the verdicts that a result has");
  switch (*status) {
    case VerdictStatus::wrong_output:
      return "its output was wrong";
    case VerdictStatus::failed:
      return "it failed";
    case VerdictStatus::above_bound:
      return "it is better than its physical bound, so that one of the two is wrong";
    default:
      return {};
  }
}

void add_opponents(const Fields& own, const MetricValue& entry, std::vector<MetricValue>& metrics) {
  const Place place = own.place().at("opponents");
  std::size_t index = 0;
  for (const dom::element element : own.list("opponents")) {
    const Place at = place.at(index++);
    const Fields opponent(element, at);
    const auto ratio = opponent.optional_number("ratio");
    if (!ratio && entry.problem.empty()) continue;
    MetricValue metric{entry.name + " vs " + opponent.text("name"),
                       "x",
                       Better::higher,
                       ratio.value_or(0),
                       0,
                       entry.state,
                       entry.problem};
    metrics.push_back(std::move(metric));
  }
}

void add_entry(dom::element element, const Place& at, RunMetrics& run,
               std::vector<double>& repeatabilities) {
  const Fields row(element, at);
  const Fields own(row.member(keys::own), at.at(keys::own));
  const Fields metric(own.member("metric"), own.place().at("metric"));
  MetricValue value;
  value.name = row.text("name");
  if (value.name.starts_with(keys::replay_prefix)) {
    value.name.erase(0, keys::replay_prefix.size());
    run.replay = true;
  }
  value.unit = metric.text("unit");
  const auto better = from_string<Better>(metric.text("better"));
  if (!better) metric.place().at("better").refuse("is none of \"higher\", \"lower\"");
  value.better = *better;
  value.problem = problem_of(own);
  if (const auto number = metric.optional_number("value")) {
    value.value = *number;
  } else if (value.problem.empty()) {
    value.problem = "it has no value";
  }
  const Fields timing(own.member("timing"), own.place().at("timing"));
  value.elapsed_s = timing.number("elapsed_s");
  value.state = state_of(own);
  const Fields telemetry(own.member("telemetry"), own.place().at("telemetry"));
  run.other_processes = std::max(run.other_processes, telemetry.optional_number("other_processes"));
  if (const auto repeatability = own.optional_number("repeatability"))
    repeatabilities.push_back(*repeatability);
  run.metrics.push_back(value);
  add_opponents(own, value, run.metrics);
}

std::string value_text(dom::element value, const Place& place) {
  if (value.is_null()) return {};
  if (value.is_string()) return text_of(value, place);
  return fmt::format("{}", number_of(value, place));
}

}  // namespace

Identity identity_of(dom::element element, const Place& place) {
  const Fields fields(element, place);  // checks the keys
  Identity identity;
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) place.refuse("is no object");
  for (const auto& [key, value] : object) {
    identity.emplace_back(std::string(key), value_text(value, place.at(key)));
  }
  return identity;
}

void parse_fathom(const Fields& document, RunMetrics& run) {
  const Fields context(document.member("context"), document.place().at("context"));
  const Fields own(context.member(keys::own), context.place().at(keys::own));
  const double version = own.number("schema_version");
  if (version != schema_version) {
    throw Error(ExitCode::document_version,
                fmt::format("{}: is a result document of schema version {}, and this Fathom reads "
                            "version {}: use the Fathom that wrote it, or measure again.",
                            run.origin, version, schema_version));
  }
  run.fathom = true;
  run.date = date_of(context.text("date"), context.place().at("date"));
  run.commit = own.text("commit");
  run.suite = own.text("suite");
  run.elapsed_s = own.optional_number("elapsed_s").value_or(0);
  const auto source = from_string<Source>(own.text("source"));
  if (!source) own.place().at("source").refuse("is none of \"measured\", \"replay\"");
  run.replay = *source == Source::replay;
  run.identity = identity_of(own.member("fingerprint"), own.place().at("fingerprint"));
  const Place rows = document.place().at("benchmarks");
  std::size_t index = 0;
  std::vector<double> repeatabilities;
  for (const dom::element row : rows_of(document, "benchmarks"))
    add_entry(row, rows.at(index++), run, repeatabilities);
  constexpr std::size_t enough = 5;
  if (repeatabilities.size() >= enough) run.unsteadiness = median(repeatabilities);
}

}  // namespace fathom::gate
