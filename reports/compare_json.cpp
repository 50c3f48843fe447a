#include <nlohmann/json.hpp>

#include "reports/compare.h"
#include "results/document.h"
#include "results/fields.h"
#include "results/verdict.h"

namespace fathom::reports {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Json to_json(const std::optional<ComparedValue>& side) {
  if (!side) return nullptr;
  return {{"value", side->value},
          {"interval", to_json(side->interval)},
          {"noisy", side->noisy},
          {"rounds", side->rounds}};
}

Json to_json(const ComparedFigure& figure) {
  constexpr const char* kinds[] = {"fact", "entry", "opponent_ratio"};
  const bool differs = figure.outcome == Outcome::differs;
  return {{"kind", kinds[static_cast<int>(figure.kind)]},
          {"name", figure.name},
          {"title", figure.title},
          {"probe", figure.probe},
          {"unit", figure.unit},
          {"better", fathom::to_string(figure.better)},
          {"headline", figure.headline},
          {"a", to_json(figure.a)},
          {"b", to_json(figure.b)},
          {"ratio", or_null(figure.ratio)},
          {"ratio_interval", to_json(figure.ratio_interval)},
          {"outcome", to_string(figure.outcome)},
          {"better_in", differs ? Json(figure.better_in_b() ? "b" : "a") : Json(nullptr)},
          {"reason", figure.reason}};
}

Json to_json(const ComparedDocument& document) {
  return {{"file", document.file}, {"gpu", document.gpu},       {"suite", document.suite},
          {"date", document.date}, {"commit", document.commit}, {"replay", document.replay}};
}

Json to_json(const ChangedText& change) {
  return {{"name", change.name}, {"a", change.a}, {"b", change.b}};
}

Json to_json(const OnlyHere& only) {
  return {{"probe", only.probe}, {"kind", only.kind}, {"names", only.names}};
}

template <typename Item>
Json list(const std::vector<Item>& items) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(to_json(item));
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  const Json rest{
      {"fathom_compare", 1},
      {"a", to_json(comparison.a)},
      {"b", to_json(comparison.b)},
      {"rule", {{"differs_beyond", equal_runs}, {"and_beyond_rounds", true}}},
      {"machine", {{"same", comparison.same_properties}, {"differs", list(comparison.machine)}}},
      {"claims", {{"same", comparison.same_claims}, {"differs", list(comparison.claims)}}},
      {"only_a", list(comparison.only_a)},
      {"only_b", list(comparison.only_b)}};
  // Bytes that are not UTF-8 become U+FFFD, as in a result document.
  const auto replace = Json::error_handler_t::replace;
  std::string text = rest.dump(1, ' ', false, replace);
  text.erase(text.rfind('\n'));  // before the last brace
  text += ",\n \"figures\": [";
  // One a line, and not all of 100,000 in memory as JSON.
  const char* before = "\n  ";
  for (const ComparedFigure& figure : comparison.figures) {
    text += before + to_json(figure).dump(-1, ' ', false, replace);
    before = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

}  // namespace fathom::reports
