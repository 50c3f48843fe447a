#include "probes/claims.h"

#include <fmt/format.h>

#include "models/transformer.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::model_validation {
namespace {

struct Tally {
  double trials = 0, differing = 0;
  std::size_t not_compared = 0;  ///< entries
};

Tally tally(std::span<const Entry> entries, const char* model) {
  Tally result;
  for (const Entry* entry : select(entries, {{"model", model}})) {
    const auto trials = entry->extras.find("trials");
    if (!entry->metric.value || trials == entry->extras.end()) {
      ++result.not_compared;
      continue;
    }
    result.trials += trials->second;
    result.differing += *entry->metric.value;
  }
  return result;
}

std::string sentence(const Tally& t, const char* trials, const char* what) {
  std::string text;
  if (t.trials > 0) {
    text = fmt::format("{} of {} {} differ from {}", format_count(t.differing),
                       format_count(t.trials), trials, what);
  }
  if (t.not_compared > 0) {
    text += fmt::format("{}{} {} could not be compared with {}", text.empty() ? "" : "; ",
                        t.not_compared, t.not_compared == 1 ? "case" : "cases", what);
  }
  return text;
}

View counters_of(const char* space, const char* operation,
                 std::initializer_list<const char*> what) {
  View view;
  view.title = fmt::format("{} {}s", space, operation);
  view.title.front() = static_cast<char>(std::toupper(view.title.front()));
  view.note = "Sums over all patterns by counter, and patterns that differ from the model.";
  view.where = {{"model", {fmt::format("{} memory", space)}}, {"operation", {operation}}};
  view.columns = {"bits", "extra:trials", "extra:patterns_with_inactive_lanes", "extra:passes"};
  for (const char* figure : what) {
    const std::string role = fmt::format("counter:{}_{}_{}", space, operation, figure);
    view.columns.push_back(role);
    view.columns.push_back(role + "_mismatches");
  }
  return view;
}

std::vector<View> views() {
  View all;
  all.title = "Every campaign";
  all.columns = {"model", "operation", "bits", "extra:trials", "metric", "expected", "verdict"};
  std::vector<View> result{all};
  for (const char* operation : {"load", "store"}) {
    result.push_back(counters_of("shared", operation, {"wavefronts", "conflicts", "instructions"}));
  }
  for (const char* operation : {"load", "store"}) {
    result.push_back(counters_of("global", operation, {"sectors", "requests", "instructions"}));
  }
  View occupancy;
  occupancy.title = "Occupancy";
  occupancy.note = "Sums of resident blocks per SM, and configurations that differ from the model.";
  occupancy.where = {{"model", {"occupancy"}}};
  occupancy.columns = {"extra:trials",
                       "extra:launchable",
                       "extra:register_counts",
                       "counter:toolkit_blocks",
                       "counter:toolkit_blocks_mismatches",
                       "counter:driver_blocks",
                       "counter:driver_blocks_mismatches"};
  result.push_back(std::move(occupancy));
  return result;
}

/// Of the models alone: no run can say more. Parameters as the Hugging Face Hub counts the
/// published weights, Mixtral's active ones as "Mixtral of Experts" says, caches as "Llama 3.1 -
/// 405B, 70B & 8B with multilinguality and long context" does for 128,000 tokens in fp16.
ClaimRow l1() {
  using namespace models;
  constexpr TransformerShape llama_8b{.layers = 32,
                                      .hidden = 4096,
                                      .heads = 32,
                                      .kv_heads = 8,
                                      .vocabulary = 128256,
                                      .intermediate = 14336};
  constexpr TransformerShape llama_70b{.layers = 80,
                                       .hidden = 8192,
                                       .heads = 64,
                                       .kv_heads = 8,
                                       .vocabulary = 128256,
                                       .intermediate = 28672};
  constexpr TransformerShape mixtral{.layers = 32,
                                     .hidden = 4096,
                                     .heads = 32,
                                     .kv_heads = 8,
                                     .vocabulary = 32000,
                                     .intermediate = 14336,
                                     .experts = 8,
                                     .active_experts = 2};
  const auto parameters = [](const char* name, const TransformerShape& shape) {
    return Formula{
        name, [shape](const Figures&) { return transformer_of_shape(shape).parameters.total; }};
  };
  const auto cache = [](const char* name, const TransformerShape& shape) {
    return Formula{name,
                   [shape](const Figures&) {
                     const Transformer model = transformer_of_shape(shape);
                     return *transformer_memory(model, {.context = 128000}).kv_cache;
                   },
                   "B"};
  };
  constexpr double GiB = 1 << 30, digit = 0.005 * GiB;
  return {
      "L1",
      "A transformer's parameter count, precision, context and batch fix the memory, bandwidth "
      "and FLOP/s it needs",
      "announced, not written",
      toyx,
      {{},
       {parameters("8b", llama_8b), parameters("70b", llama_70b), parameters("mixtral", mixtral),
        cache("8b cache", llama_8b), cache("70b cache", llama_70b)}},
      {{"8b", 8030261248, 8030261248},
       {"70b", 70553706496, 70553706496},
       {"mixtral", 46702792704, 46702792704},
       {"8b cache", 15.62 * GiB - digit, 15.62 * GiB + digit},
       {"70b cache", 39.06 * GiB - digit, 39.06 * GiB + digit}},
      "by the model {8b}, {70b} and {mixtral} parameters for Llama 3.1 8B and 70B and Mixtral "
      "8x7B, as published; caches of 128,000 tokens {8b cache} and {70b cache}, published as "
      "15.62 and 39.06 GiB. Speed is no part of this: fathom predict transformer bounds it"};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.views = views();
  findings.claims = {evaluate(l1(), entries)};
  for (const std::string& part :
       {sentence(tally(entries, "shared memory"), "random warp patterns",
                 "the shared-memory model"),
        sentence(tally(entries, "global memory"), "random warp patterns",
                 "the global-memory model"),
        sentence(tally(entries, "occupancy"), "random configurations", "the occupancy model")}) {
    if (!part.empty()) findings.answer += (findings.answer.empty() ? "" : "; ") + part;
  }
  if (!findings.answer.empty()) findings.answer += ".";
  return findings;
}

}  // namespace fathom::model_validation
