#include "models/transformer.h"

#include <cmath>

#include "models/formatted.h"

namespace fathom::models {
namespace {

/// Far above any model's, and small enough that no product of two of them leaves 64 bits.
constexpr std::int64_t largest_size = std::int64_t{1} << 30, largest_count = 1 << 16;

TransformerShape completed(TransformerShape s) {
  const struct {
    const char* name;
    std::int64_t value, lowest, highest;
  } figures[] = {{"number of layers", s.layers, 1, largest_count},
                 {"hidden size", s.hidden, 1, largest_size},
                 {"number of heads", s.heads, 1, largest_count},
                 {"vocabulary", s.vocabulary, 1, largest_size},
                 {"number of KV heads", s.kv_heads, 0, largest_count},
                 {"head size", s.head_dim, 0, largest_count},
                 {"number of experts", s.experts, 0, largest_count},
                 {"number of active experts", s.active_experts, 0, largest_count},
                 {"intermediate size", s.intermediate, 0, largest_size},
                 {"shared expert's size", s.shared_intermediate, 0, largest_size},
                 {"number of positions", s.learned_positions, 0, largest_size}};
  for (const auto& [name, value, lowest, highest] : figures)
    if (value < lowest || value > highest)
      refuse("a transformer's %s must be from %ld to %ld, not %ld", name, lowest, highest, value);
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.heads % s.kv_heads != 0)
    refuse("%ld heads cannot share %ld KV heads evenly", s.heads, s.kv_heads);
  if (s.head_dim == 0) {
    if (s.hidden % s.heads != 0)
      refuse("a hidden size of %ld is no multiple of %ld heads; give the head size", s.hidden,
             s.heads);
    s.head_dim = s.hidden / s.heads;
  }
  if (s.intermediate == 0) s.intermediate = 4 * s.hidden;
  if (s.experts > 0 && (s.active_experts == 0 || s.active_experts > s.experts))
    refuse("of %ld experts 1 to %ld can be active, not %ld", s.experts, s.experts,
           s.active_experts);
  if (s.experts == 0 && (s.active_experts != 0 || s.shared_intermediate != 0))
    refuse("a model without experts has no active and no shared ones");
  return s;
}

/// Parameters of one MLP with this intermediate size.
double mlp_parameters(const TransformerShape& s, std::int64_t intermediate) {
  const auto hidden = static_cast<double>(s.hidden);
  const auto width = static_cast<double>(intermediate);
  const double up = s.gated_mlp ? 2 : 1;
  const double bias = s.mlp_bias ? up * width + hidden : 0;
  return (up + 1) * hidden * width + bias;
}

double attention_parameters(const TransformerShape& s) {
  const auto hidden = static_cast<double>(s.hidden);
  const auto queries = static_cast<double>(s.heads * s.head_dim);
  const auto keys_and_values = static_cast<double>(2 * s.kv_heads * s.head_dim);
  return hidden * (queries + keys_and_values) + queries * hidden +
         (s.qkv_bias ? queries + keys_and_values : 0) + (s.output_bias ? hidden : 0) +
         (s.qk_norm ? 2 * static_cast<double>(s.head_dim) : 0);
}

}  // namespace

Transformer transformer_of_shape(const TransformerShape& shape) {
  const TransformerShape s = completed(shape);
  const auto layers = static_cast<double>(s.layers);
  const auto hidden = static_cast<double>(s.hidden);
  const double norm = s.norm_bias ? 2 * hidden : hidden;
  const double embedding = static_cast<double>(s.vocabulary) * hidden;
  const double positions = static_cast<double>(s.learned_positions) * hidden;

  TransformerParameters p;
  double per_token = attention_parameters(s) + 2 * norm;  // of one layer
  if (s.experts == 0) {
    per_token += mlp_parameters(s, s.intermediate);
  } else {
    const double expert = mlp_parameters(s, s.intermediate);
    const auto experts = static_cast<double>(s.experts);
    p.routed = layers * experts * expert;
    p.routed_active = layers * static_cast<double>(s.active_experts) * expert;
    per_token += experts * hidden;  // the router
    if (s.shared_intermediate > 0) per_token += mlp_parameters(s, s.shared_intermediate);
    if (s.shared_expert_gate) per_token += hidden;
  }
  p.output_head = embedding;
  p.multiplied = layers * per_token + p.routed_active + norm + p.output_head;
  p.active = p.multiplied + positions + (s.tied_embeddings ? 0 : embedding);
  p.total = p.active - p.routed_active + p.routed;
  return {.parameters = p, .shape = s};
}

Transformer transformer_of_size(double total, double active) {
  if (active == 0) active = total;
  if (!(total >= 1 && std::isfinite(total)) || !(active >= 1 && active <= total))
    refuse(
        "a transformer needs a positive number of parameters, of which no more than all are "
        "active, not %g and %g",
        total, active);
  return {.parameters = {.total = total, .active = active, .multiplied = active},
          .shape = std::nullopt};
}

std::optional<double> kv_elements_per_token(const Transformer& model) {
  if (!model.shape) return std::nullopt;
  const TransformerShape& s = *model.shape;
  return 2.0 * static_cast<double>(s.layers) * static_cast<double>(s.kv_heads * s.head_dim);
}

}  // namespace fathom::models
