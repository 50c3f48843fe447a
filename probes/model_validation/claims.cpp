#include "probes/claims.h"

#include <fmt/format.h>

#include <functional>

#include "models/transformer.h"
#include "results/format.h"
#include "results/rows.h"

namespace fathom::model_validation {
namespace {

std::string sentence(std::span<const Entry> entries, const char* model, const char* trials,
                     const char* what) {
  const auto compared = [](const Entry& e) {
    return e.metric.value && e.extras.contains("trials");
  };
  const auto sum = [&](const char* name, Figure figure) {
    return Quantity{name, {{"model", model}}, Pick::sum, std::move(figure), "", compared};
  };
  const Figures f({{sum("trials", extra_of("trials")),
                    sum("differing", metric_of),
                    {"left", {{"model", model}}, Pick::sum, passes(std::not_fn(compared))}}},
                  entries);
  std::string text;
  if (f["trials"] > 0) {
    text = fmt::format("{} of {} {} differ from {}", format_count(f["differing"]),
                       format_count(f["trials"]), trials, what);
  }
  if (f["left"] > 0) {
    text += fmt::format("{}{} {} could not be compared with {}", text.empty() ? "" : "; ",
                        f["left"], f["left"] == 1 ? "case" : "cases", what);
  }
  return text;
}

/// L1 is measured on no GPU: what `fathom predict transformer` counts is held against what makers
/// and the Hugging Face Hub publish of three models. The claim speaks of the number of parameters
/// alone; models of about as many have caches of very different size.
Claim l1() {
  using namespace models;
  struct Model {
    TransformerShape shape;
    double parameters;   ///< of the tensors on the Hub
    double cache_bytes;  ///< of a token, in 16 bits
  };
  constexpr double KiB = 1024;
  // The caches: "Llama 3.1 - 405B, 70B & 8B with multilinguality and long context" on Hugging Face
  // (0.125 and 0.313 GiB for 1024 tokens), and Qwen2.5's config.json: 4 KV heads in 28 layers.
  TransformerShape qwen{28, 3584, 28, 4, 0, 152064, 18944};
  qwen.qkv_bias = true;
  const std::pair<const char*, Model> published[] = {
      {"8B", {{32, 4096, 32, 8, 0, 128256, 14336}, 8030261248, 128 * KiB}},
      {"70B", {{80, 8192, 64, 8, 0, 128256, 28672}, 70553706496, 320 * KiB}},
      {"7B", {qwen, 7615616512, 56 * KiB}}};
  ClaimRow row{"L1",
               "A transformer's parameter count, precision, context and batch fix the memory, "
               "bandwidth and FLOP/s it needs",
               "announced, not written", toyx};
  const auto add = [&](const std::string& name, double counted, double wanted) {
    row.reading.formulas.push_back({name, [=](const Figures&) { return counted; }});
    row.checks.push_back({name, wanted, wanted});
  };
  for (const auto& [name, of] : published) {
    const Transformer model = transformer_of_shape(of.shape);
    add(name, model.parameters.total, of.parameters);
    add(std::string(name) + " cache", 2 * *kv_elements_per_token(model), of.cache_bytes);
  }
  for (const Formula& formula : {ratio("size", "7B", "8B"), ratio("cache", "7B cache", "8B cache"),
                                 ratio("alike", "cache", "size")})
    row.reading.formulas.push_back(formula);
  row.checks.push_back({"alike", same_speed, 1 / same_speed});
  row.sentence =
      "a shape gives the published figures and a number of parameters alone leaves the cache open: "
      "Qwen2.5 7B has {size:%} of the parameters of Llama 3.1 8B and {cache:%} of its cache; from "
      "their shapes `fathom predict transformer` counts {8B}, {70B} and {7B} parameters of Llama "
      "3.1 8B and 70B and Qwen2.5 7B, and {8B cache}, {70B cache} and {7B cache} bytes of cache a "
      "token in 16 bits, as published";
  row.rule = Rule::cases;
  return evaluate(row, {});
}

std::vector<View> views() {
  return {
      {.title = "Every campaign",
       .columns = {"model", "operation", "bits", "extra:trials", "metric", "expected", "verdict"}},
      {.title = "Occupancy",
       .note = "Sums of resident blocks per SM, and configurations that differ from the model.",
       .where = {{"model", {"occupancy"}}},
       .columns = {"extra:trials", "extra:launchable", "counter:driver_blocks",
                   "counter:driver_blocks_mismatches"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.claims = {l1()};
  findings.views = views();
  for (const std::string& part :
       {sentence(entries, "shared memory", "random warp patterns", "the shared-memory model"),
        sentence(entries, "global memory", "random warp patterns", "the global-memory model"),
        sentence(entries, "occupancy", "random configurations", "the occupancy model")})
    if (!part.empty()) findings.answer += (findings.answer.empty() ? "" : "; ") + part;
  if (!findings.answer.empty()) findings.answer += ".";
  return findings;
}

}  // namespace fathom::model_validation
