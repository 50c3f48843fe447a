#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::models {

/// A decoder-only transformer: attention and a feed-forward network (MLP) per layer, as Vaswani et
/// al., "Attention Is All You Need" (2017), with what came since as options: grouped-query
/// attention (Ainslie et al., "GQA", 2023), gated MLPs (Shazeer, "GLU Variants Improve
/// Transformer", 2020), experts (Shazeer et al., "Outrageously Large Neural Networks", 2017; Jiang
/// et al., "Mixtral of Experts", 2024). Latent attention (DeepSeek's MLA) and state-space layers do
/// not fit it.
struct TransformerShape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads (multi-head attention)
  std::int64_t head_dim = 0;  ///< 0: hidden / heads
  std::int64_t vocabulary = 0;
  std::int64_t intermediate = 0;         ///< of the dense MLP, or of one expert; 0: 4 * hidden
  bool gated_mlp = true;                 ///< three matrices instead of two
  bool tied_embeddings = false;          ///< the output projection is the embedding table
  std::int64_t experts = 0;              ///< per layer that tokens are routed to; 0: a dense MLP
  std::int64_t active_experts = 0;       ///< of them, per token
  std::int64_t shared_intermediate = 0;  ///< of the expert that every token takes; 0: none
  bool shared_expert_gate = false;       ///< one more row of `hidden` weights, as in Qwen2-MoE
  // Small change, for exact counts.
  bool qkv_bias = false;
  bool output_bias = false;  ///< of attention's output projection
  bool mlp_bias = false;
  bool norm_bias = false;              ///< LayerNorm; RMSNorm has weights alone
  bool qk_norm = false;                ///< a norm of head_dim weights for queries and keys each
  std::int64_t learned_positions = 0;  ///< rows of a position table, as in GPT-2
};

/// What the shape, or a bare count, comes to. Counts are of parameters.
struct TransformerParameters {
  double total = 0;
  double active = 0;  ///< that a token passes, all of them without experts; "12.9B active"
  /// Weights that a token is multiplied with: `active` without the tables that are looked up.
  double multiplied = 0;
  double output_head = 0;    ///< of `multiplied`, the output projection: for sampled tokens only
  double routed = 0;         ///< of `total`, all experts that tokens are routed to
  double routed_active = 0;  ///< of `active`, those of one token
};

/// A model by its shape, or by its number of parameters alone.
struct Transformer {
  TransformerParameters parameters;
  std::optional<TransformerShape> shape;  ///< without defaults: kv_heads, head_dim, ... are filled
};

/// Throws std::invalid_argument where a figure that the shape needs is missing or negative, heads
/// are no multiple of KV heads, hidden none of heads (without head_dim), or active experts are none
/// or more than there are.
Transformer transformer_of_shape(const TransformerShape& shape);

/// `active` 0 means `total`; every active parameter is taken to be multiplied. Throws
/// std::invalid_argument where total is not positive or active above it.
Transformer transformer_of_size(double total, double active = 0);

/// Elements of keys and values that a token leaves in the cache: 2 * layers * kv_heads * head_dim.
/// Empty where the shape is unknown.
std::optional<double> kv_elements_per_token(const Transformer& model);

/// What is asked of the model. Bytes per element may be fractions: 0.5 for 4 bits. Scales of
/// quantised formats are not counted.
struct TransformerLoad {
  double weight_bytes = 2;
  double kv_bytes = 2;
  double activation_bytes = 2;
  std::int64_t context = 4096;  ///< tokens of a sequence, prompt and answer: the cache's size
  std::int64_t prompt = 0;      ///< of them prefilled; 0: all
  std::int64_t batch = 1;       ///< sequences at once
  std::int64_t gpus = 1;        ///< tensor-parallel
  /// Tokens that one pass of the prefill takes at once, of all sequences together: what its
  /// activations are sized for. An engine's choice.
  std::int64_t prefill_chunk = 8192;
};

struct TransformerMemory {
  double weights = 0;              ///< of the model
  std::optional<double> kv_cache;  ///< of all sequences; empty: the shape is unknown
  double weights_per_gpu = 0;
  std::optional<double> kv_cache_per_gpu;
  std::optional<double> activations_per_gpu;  ///< an estimate: see transformer_memory
  double per_gpu = 0;                         ///< of what is known
};

/// Bytes to hold. Tensor parallelism (Shoeybi et al., "Megatron-LM", 2019) splits every matrix and
/// the heads: each GPU holds 1 / gpus of the weights, and the cache of at least one KV head.
/// Activations are what attention without a stored score matrix (Dao et al., "FlashAttention",
/// 2022) keeps alive in one layer for a chunk: two hidden states, and the wider of queries, keys
/// and values and of the MLP's intermediates; plus the logits of one token per sequence in fp32. An
/// engine's workspace and fragmentation come on top. Throws std::invalid_argument where the load
/// has a figure that is not positive, a prompt longer than the context, or GPUs that do not divide
/// the heads.
TransformerMemory transformer_memory(const Transformer& model, const TransformerLoad& load);

/// What one GPU can do at most.
struct TransformerGpu {
  double bytes_per_second = 0;
  double flops_per_second = 0;
  double link_bytes_per_second = 0;  ///< to the other GPUs, one direction; 0: unknown
};

/// A phase and the least time that it can take.
struct PhaseBound {
  double flops = 0;            ///< of all GPUs
  double bytes = 0;            ///< of all GPUs
  double compute_seconds = 0;  ///< of each GPU's share at its peak
  double memory_seconds = 0;   ///< of each GPU's share at its bandwidth
  double seconds = 0;          ///< the longer
  bool memory_bound = false;
  /// The least time of the all-reduces over the link, if nothing else were done; not in `seconds`,
  /// since they can overlap. Empty with one GPU, or where link or shape is unknown.
  std::optional<double> communication_seconds{};
};

struct TransformerBounds {
  PhaseBound prefill;            ///< of all prompts of the batch, up to their first token
  PhaseBound decode;             ///< of one token for each sequence, at the full context
  double tokens_per_second = 0;  ///< batch / decode.seconds
  /// With experts the bound takes all tokens of a batch to choose the same ones. Spread evenly they
  /// choose experts x (1 - (1 - active / experts)^batch) of a layer: the step's time then.
  std::optional<double> decode_seconds_even_routing;
};

/// Lower bounds: the longer of bytes / bandwidth and FLOPs / peak, which overlap in full.
///
/// FLOPs: 2 per token and weight that it is multiplied with (Kaplan et al., "Scaling Laws for
/// Neural Language Models", 2020, section 2.1: 2N), and for attention 4 * layers * heads * head_dim
/// per token and token that it sees, half of them for the scores and half for the sum of values; in
/// a prefill of S tokens these are S (S + 1) / 2 pairs, on average Kaplan's 2 n_layer n_ctx d_attn
/// a token. The output projection counts for one token per sequence. Bytes: the weights that one
/// token is multiplied with, once, however many tokens there are; of the cache what is read or
/// written, once; activations are taken to stay on chip. Per layer two all-reduces of the hidden
/// states
/// ("Megatron-LM"), of which a ring moves 2 (n - 1) / n through each GPU's link. Without a shape
/// attention's FLOPs and the cache's bytes are left out, and the bound is looser.
///
/// Throws std::invalid_argument as transformer_memory does, and for a GPU without bandwidth or
/// peak.
TransformerBounds transformer_bounds(const Transformer& model, const TransformerLoad& load,
                                     const TransformerGpu& gpu);

/// The least number of GPUs, with `memory_bytes` each of which the share `usable` may be used, that
/// hold the model: among the divisors of its heads, or 1, 2, 4, ... 1024 without a shape. Empty
/// where none is enough. `load.gpus` is ignored.
std::optional<std::int64_t> gpus_needed(const Transformer& model, TransformerLoad load,
                                        double memory_bytes, double usable);

}  // namespace fathom::models
