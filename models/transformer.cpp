#include "models/transformer.h"

#include <algorithm>
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
  const double hidden = real(s.hidden);
  const double width = real(intermediate);
  const double up = s.gated_mlp ? 2 : 1;
  const double bias = s.mlp_bias ? up * width + hidden : 0;
  return (up + 1) * hidden * width + bias;
}

double attention_parameters(const TransformerShape& s) {
  const double hidden = real(s.hidden);
  const double queries = real(s.heads * s.head_dim);
  const double keys_and_values = real(2 * s.kv_heads * s.head_dim);
  return hidden * (queries + keys_and_values) + queries * hidden +
         (s.qkv_bias ? queries + keys_and_values : 0) + (s.output_bias ? hidden : 0) +
         (s.qk_norm ? 2 * real(s.head_dim) : 0);
}

std::int64_t prompt_of(const TransformerLoad& load) {
  return load.prompt == 0 ? load.context : load.prompt;
}

void validate(const Transformer& model, const TransformerLoad& load) {
  for (const double bytes : {load.weight_bytes, load.kv_bytes, load.activation_bytes}) {
    if (!is_positive(bytes)) refuse("an element must have more than 0 bytes, not %g", bytes);
  }
  for (const std::int64_t count : {load.context, load.batch, load.gpus, load.prefill_chunk}) {
    if (count < 1 || count > (std::int64_t{1} << 32))
      refuse("context, batch, GPUs and chunk of the prefill must be 1 or more, not %ld", count);
  }
  if (load.prompt < 0 || load.prompt > load.context)
    refuse("a prompt of %ld tokens does not fit a context of %ld", load.prompt, load.context);
  if (model.shape && model.shape->heads % load.gpus != 0)
    refuse("%ld heads cannot be split evenly among %ld GPUs; choose a divisor of the heads",
           model.shape->heads, load.gpus);
}

/// The share of the cache that each GPU holds: whole KV heads.
double kv_share(const TransformerShape& shape, std::int64_t gpus) {
  const std::int64_t heads = (shape.kv_heads + gpus - 1) / gpus;
  return real(heads) / real(shape.kv_heads);
}

double activations(const TransformerShape& s, const TransformerLoad& load) {
  const double gpus = real(load.gpus);
  const double tokens =
      std::min(real(load.prefill_chunk), real(load.batch) * real(prompt_of(load)));
  const double qkv = real((s.heads + 2 * s.kv_heads) * s.head_dim);
  const std::int64_t width =
      s.experts == 0 ? s.intermediate : s.active_experts * s.intermediate + s.shared_intermediate;
  const double mlp = (s.gated_mlp ? 2 : 1) * real(width);
  const double elements = tokens * (2 * real(s.hidden) + std::max(qkv, mlp) / gpus);
  constexpr double logit_bytes = 4;
  return elements * load.activation_bytes +
         real(load.batch) * real(s.vocabulary) / gpus * logit_bytes;
}

}  // namespace

Transformer transformer_of_shape(const TransformerShape& shape) {
  const TransformerShape s = completed(shape);
  const double layers = real(s.layers);
  const double hidden = real(s.hidden);
  const double norm = s.norm_bias ? 2 * hidden : hidden;
  const double embedding = real(s.vocabulary) * hidden;
  const double positions = real(s.learned_positions) * hidden;

  TransformerParameters p;
  double per_token = attention_parameters(s) + 2 * norm;  // of one layer
  if (s.experts == 0) {
    per_token += mlp_parameters(s, s.intermediate);
  } else {
    const double expert = mlp_parameters(s, s.intermediate);
    const double experts = real(s.experts);
    p.routed = layers * experts * expert;
    p.routed_active = layers * real(s.active_experts) * expert;
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
  return 2 * real(s.layers) * real(s.kv_heads * s.head_dim);
}

TransformerMemory transformer_memory(const Transformer& model, const TransformerLoad& load) {
  validate(model, load);
  TransformerMemory memory;
  memory.weights = model.parameters.total * load.weight_bytes;
  memory.weights_per_gpu = memory.weights / real(load.gpus);
  memory.per_gpu = memory.weights_per_gpu;
  if (model.shape) {
    memory.kv_cache =
        *kv_elements_per_token(model) * load.kv_bytes * real(load.context) * real(load.batch);
    memory.kv_cache_per_gpu = *memory.kv_cache * kv_share(*model.shape, load.gpus);
    memory.activations_per_gpu = activations(*model.shape, load);
    memory.per_gpu += *memory.kv_cache_per_gpu + *memory.activations_per_gpu;
  }
  return memory;
}

TransformerBounds transformer_bounds(const Transformer& model, const TransformerLoad& load,
                                     const TransformerGpu& gpu) {
  validate(model, load);
  if (!is_positive(gpu.bytes_per_second) || !is_positive(gpu.flops_per_second) ||
      !(gpu.link_bytes_per_second >= 0 && std::isfinite(gpu.link_bytes_per_second)))
    refuse("a GPU needs a positive bandwidth and peak, and no negative link");
  const TransformerParameters& p = model.parameters;
  const double gpus = real(load.gpus);
  const double batch = real(load.batch);
  const double context = real(load.context);
  const double prompt = real(prompt_of(load));
  double pair_flops = 0;       // of attention, per token and token that it sees
  double cache_per_token = 0;  // bytes that a token leaves on each GPU
  if (model.shape) {
    const TransformerShape& s = *model.shape;
    pair_flops = 4 * real(s.layers) * real(s.heads * s.head_dim);
    cache_per_token = *kv_elements_per_token(model) * load.kv_bytes * kv_share(s, load.gpus);
  }
  const double weights_per_gpu = p.multiplied * load.weight_bytes / gpus;

  const auto phase_of = [&](double flops, double bytes_per_gpu, double tokens) {
    PhaseBound phase{.flops = flops, .bytes = bytes_per_gpu * gpus};
    phase.compute_seconds = flops / gpus / gpu.flops_per_second;
    phase.memory_seconds = bytes_per_gpu / gpu.bytes_per_second;
    phase.memory_bound = phase.memory_seconds > phase.compute_seconds;
    phase.seconds = std::max(phase.memory_seconds, phase.compute_seconds);
    if (load.gpus > 1 && model.shape && gpu.link_bytes_per_second != 0) {
      const double bytes = tokens * real(model.shape->hidden) * load.activation_bytes;
      const double all_reduces = 2 * real(model.shape->layers);
      phase.communication_seconds =
          all_reduces * bytes * 2 * (gpus - 1) / gpus / gpu.link_bytes_per_second;
    }
    return phase;
  };

  TransformerBounds bounds;
  bounds.prefill = phase_of(batch * (2 * (p.multiplied - p.output_head) * prompt +
                                     2 * p.output_head + pair_flops * prompt * (prompt + 1) / 2),
                            weights_per_gpu + batch * prompt * cache_per_token, batch * prompt);
  const double cache = batch * context * cache_per_token;
  bounds.decode =
      phase_of(batch * (2 * p.multiplied + pair_flops * context), weights_per_gpu + cache, batch);
  bounds.tokens_per_second = batch / bounds.decode.seconds;
  if (model.shape && model.shape->experts > 0) {
    const double missed = 1 - real(model.shape->active_experts) / real(model.shape->experts);
    const double read = p.routed * (1 - std::pow(missed, batch));
    bounds.decode_seconds_even_routing =
        phase_of(bounds.decode.flops,
                 weights_per_gpu + (read - p.routed_active) * load.weight_bytes / gpus + cache,
                 batch)
            .seconds;
  }
  return bounds;
}

std::optional<std::int64_t> gpus_needed(const Transformer& model, TransformerLoad load,
                                        double memory_bytes, double usable) {
  if (!is_positive(memory_bytes) || !(usable > 0 && usable <= 1))
    refuse("a GPU needs memory of which a share above 0 and up to 1 is usable, not %g of %g",
           usable, memory_bytes);
  const std::int64_t most = model.shape ? model.shape->heads : 1024;
  for (std::int64_t gpus = 1; gpus <= most; gpus = model.shape ? gpus + 1 : 2 * gpus) {
    if (model.shape && model.shape->heads % gpus != 0) continue;
    load.gpus = gpus;
    if (transformer_memory(model, load).per_gpu <= usable * memory_bytes) return gpus;
  }
  return std::nullopt;
}

}  // namespace fathom::models
