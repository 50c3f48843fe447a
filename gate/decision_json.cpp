#include <nlohmann/json.hpp>

#include "gate/outputs.h"
#include "results/json_values.h"
#include "results/names.h"

namespace fathom::gate {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Evidence& evidence) {
  return {{"scale", evidence.relative ? "log" : "linear"},
          {"worse_by", evidence.worse},
          {"interval",
           {{"low", evidence.interval.low},
            {"high", evidence.interval.high},
            {"confidence", evidence.interval.confidence},
            {"method", evidence.interval.method}}},
          {"noise_floor", evidence.noise_floor},
          {"threshold", evidence.threshold},
          {"p", evidence.p}};
}

Json to_json(const MetricDecision& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", fathom::to_string(metric.better)},
          {"outcome", to_string(metric.outcome)},
          {"base", or_null(metric.base)},
          {"head", or_null(metric.head)},
          {"change", or_null(change_of(metric))},
          {"base_runs", metric.base_runs},
          {"head_runs", metric.head_runs},
          {"repeated", metric.repeated},
          {"adjusted_p", or_null(metric.adjusted_p)},
          {"evidence", metric.evidence ? to_json(*metric.evidence) : Json(nullptr)},
          {"reason", metric.reason},
          {"rule", metric.rule}};
}

}  // namespace

std::string decision_json(const CheckResult& result) {
  Json metrics = Json::array();
  for (const MetricDecision& metric : result.metrics) metrics.push_back(to_json(metric));
  const Json json{{"fathom_check", 1},
                  {"date", result.date},
                  {"mode", result.mode},
                  {"base", result.base},
                  {"head", result.head},
                  {"exit_code", to_int(exit_code(result))},
                  {"headline", headline(result)},
                  {"rounds", result.rounds},
                  {"confirmation_rounds", result.confirmation_rounds},
                  {"elapsed_s", result.elapsed_s},
                  {"effect", result.options.effect},
                  {"noise_factor", result.options.noise_factor},
                  {"alpha", result.options.alpha},
                  {"refusals", why_undecided(result)},
                  {"notes", result.notes},
                  {"metrics", std::move(metrics)}};
  // In ASCII: control characters of a document's names are escaped, those above U+007F as well.
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace fathom::gate
