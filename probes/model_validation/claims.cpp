#include "probes/claims.h"

#include "models/transformer.h"
#include "results/findings.h"

namespace fathom::model_validation {
namespace {

/// What differs from each model, and what could not be compared with it.
void add_answer(Conclusions& rows, const std::string& model, const std::string& trials,
                const std::string& what) {
  const auto compared = [](const Entry& e) {
    return is_measured(e) && e.extras.contains("trials");
  };
  const AxisFilter where{{"model", model}};
  rows.reading.push_back({model + " trials", where, Pick::sum, extra_of("trials"), "", compared});
  rows.reading.push_back({model + " differing", where, Pick::sum, metric_of, "", compared});
  const auto one = [](const Entry&) { return 1; };
  rows.reading.push_back({model + " left", where, Pick::sum, one, "", std::not_fn(compared)});
  rows.answer += "[; {" + model + " differing:,} of {" + model + " trials:,} random " + trials +
                 " differ from " + what + "][; {" + model +
                 " left} of the cases could not be compared with " + what + "]";
}

/// Measured on no GPU: what `fathom predict transformer` counts is held against what makers and the
/// Hugging Face Hub publish of three models.
ClaimRow l1() {
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
  Quantities reading;
  std::vector<FigureRange> checks;
  const auto add = [&](const std::string& name, double counted, double wanted) {
    reading.push_back(formula(name, [=](const Figures&) { return counted; }));
    checks.push_back({name, wanted, wanted});
  };
  for (const auto& [name, of] : published) {
    const Transformer model = transformer_of_shape(of.shape);
    add(name, model.parameters.total, of.parameters);
    add(std::string(name) + " cache", 2 * *kv_elements_per_token(model), of.cache_bytes);
  }
  reading.push_back(
      formula("alike", [](const Figures& f) { return f["7B cache/8B cache"] / f["7B/8B"]; }));
  checks.push_back({"alike", same_speed, 1 / same_speed});
  return {
      "L1",
      toyx,
      "A transformer's parameter count, precision, context and batch fix the memory, bandwidth and "
      "FLOP/s it needs",
      "announced, not written",
      reading,
      checks,
      "a shape gives the published figures and a number of parameters alone leaves the cache open: "
      "Qwen2.5 7B has {7B/8B:%} of the parameters of Llama 3.1 8B and {7B cache/8B cache:%} of its "
      "cache; from their shapes `fathom predict transformer` counts {8B}, {70B} and {7B} "
      "parameters of Llama 3.1 8B and 70B and Qwen2.5 7B, and {8B cache}, {70B cache} and {7B "
      "cache} bytes of cache a token in 16 bits, as published",
      Rule::cases};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Conclusions rows{
      .claims = {l1()},
      .views = {
          table("Every campaign", {},
                {"model", "operation", "bits", "extra:trials", "metric", "expected", "verdict"}),
          table("Occupancy", {{"model", {"occupancy"}}},
                {"extra:trials", "extra:launchable", "counter:driver_blocks",
                 "counter:driver_blocks_mismatches"},
                "Sums of resident blocks per SM, and configurations that differ from the "
                "model.")}};
  add_answer(rows, "shared memory", "warp patterns", "the shared-memory model");
  add_answer(rows, "global memory", "warp patterns", "the global-memory model");
  add_answer(rows, "occupancy", "configurations", "the occupancy model");
  rows.answer += ".";
  return evaluate(rows, entries);
}

}  // namespace fathom::model_validation
