#include <algorithm>

#include "models/formatted.h"
#include "models/transformer.h"

namespace fathom::models {
namespace {

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
  return static_cast<double>(heads) / static_cast<double>(shape.kv_heads);
}

double activations(const TransformerShape& s, const TransformerLoad& load) {
  const auto gpus = static_cast<double>(load.gpus);
  const double tokens =
      std::min(static_cast<double>(load.prefill_chunk),
               static_cast<double>(load.batch) * static_cast<double>(prompt_of(load)));
  const auto qkv = static_cast<double>((s.heads + 2 * s.kv_heads) * s.head_dim);
  const std::int64_t width =
      s.experts == 0 ? s.intermediate : s.active_experts * s.intermediate + s.shared_intermediate;
  const double mlp = (s.gated_mlp ? 2 : 1) * static_cast<double>(width);
  const double elements = tokens * (2 * static_cast<double>(s.hidden) + std::max(qkv, mlp) / gpus);
  constexpr double logit_bytes = 4;
  return elements * load.activation_bytes +
         static_cast<double>(load.batch) * static_cast<double>(s.vocabulary) / gpus * logit_bytes;
}

/// Fills in the times of a phase whose totals and bytes per GPU are known.
void finish(PhaseBound& phase, double bytes_per_gpu, const TransformerLoad& load,
            const TransformerGpu& gpu) {
  const auto gpus = static_cast<double>(load.gpus);
  phase.bytes = bytes_per_gpu * gpus;
  phase.compute_seconds = phase.flops / gpus / gpu.flops_per_second;
  phase.memory_seconds = bytes_per_gpu / gpu.bytes_per_second;
  phase.memory_bound = phase.memory_seconds > phase.compute_seconds;
  phase.seconds = std::max(phase.memory_seconds, phase.compute_seconds);
}

}  // namespace

TransformerMemory transformer_memory(const Transformer& model, const TransformerLoad& load) {
  validate(model, load);
  TransformerMemory memory;
  memory.weights = model.parameters.total * load.weight_bytes;
  memory.weights_per_gpu = memory.weights / static_cast<double>(load.gpus);
  memory.per_gpu = memory.weights_per_gpu;
  if (model.shape) {
    memory.kv_cache = *kv_elements_per_token(model) * load.kv_bytes *
                      static_cast<double>(load.context) * static_cast<double>(load.batch);
    memory.kv_cache_per_gpu = *memory.kv_cache * kv_share(*model.shape, load.gpus);
    memory.activations_per_gpu = activations(*model.shape, load);
    memory.per_gpu += *memory.kv_cache_per_gpu + *memory.activations_per_gpu;
  }
  return memory;
}

TransformerBounds transformer_bounds(const Transformer& model, const TransformerLoad& load,
                                     const TransformerGpu& gpu) {
  validate(model, load);
  if (!is_positive(gpu.bytes_per_second) || !is_positive(gpu.flops_per_second))
    refuse("a GPU needs a positive bandwidth and peak");
  const TransformerParameters& p = model.parameters;
  const auto gpus = static_cast<double>(load.gpus);
  const auto batch = static_cast<double>(load.batch);
  const auto context = static_cast<double>(load.context);
  const auto prompt = static_cast<double>(prompt_of(load));
  double pair_flops = 0;       // of attention, per token and token that it sees
  double cache_per_token = 0;  // bytes that a token leaves on each GPU
  if (model.shape) {
    const TransformerShape& s = *model.shape;
    pair_flops = 4.0 * static_cast<double>(s.layers) * static_cast<double>(s.heads * s.head_dim);
    cache_per_token = *kv_elements_per_token(model) * load.kv_bytes * kv_share(s, load.gpus);
  }
  const double weights_per_gpu = p.multiplied * load.weight_bytes / gpus;

  TransformerBounds bounds;
  PhaseBound& prefill = bounds.prefill;
  prefill.flops = batch * (2 * (p.multiplied - p.output_head) * prompt + 2 * p.output_head +
                           pair_flops * prompt * (prompt + 1) / 2);
  finish(prefill, weights_per_gpu + batch * prompt * cache_per_token, load, gpu);

  PhaseBound& decode = bounds.decode;
  decode.flops = batch * (2 * p.multiplied + pair_flops * context);
  finish(decode, weights_per_gpu + batch * context * cache_per_token, load, gpu);
  bounds.tokens_per_second = batch / decode.seconds;
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
