#pragma once

#include "models/transformer.h"

namespace fathom::open_models {

// Shapes of published models, from the config.json that their makers publish beside the weights.

using Shape = models::TransformerShape;

/// `more` sets what few models have.
constexpr Shape shape(int layers, int hidden, int heads, int kv_heads, int vocabulary,
                      int intermediate, auto more) {
  Shape s{.layers = layers, .hidden = hidden, .heads = heads, .kv_heads = kv_heads};
  s.vocabulary = vocabulary;
  s.intermediate = intermediate;
  more(s);
  return s;
}
constexpr Shape shape(int layers, int hidden, int heads, int kv_heads, int vocabulary,
                      int intermediate) {
  return shape(layers, hidden, heads, kv_heads, vocabulary, intermediate, [](Shape&) {});
}

inline constexpr Shape llama_3_1_8b = shape(32, 4096, 32, 8, 128256, 14336);
inline constexpr Shape llama_3_1_70b = shape(80, 8192, 64, 8, 128256, 28672);
inline constexpr Shape llama_3_1_405b = shape(126, 16384, 128, 8, 128256, 53248);
inline constexpr Shape mistral_7b = shape(32, 4096, 32, 8, 32000, 14336);
inline constexpr Shape mixtral_8x7b = shape(32, 4096, 32, 8, 32000, 14336, [](Shape& s) {
  s.experts = 8, s.active_experts = 2;
});
inline constexpr Shape qwen2_5_7b =
    shape(28, 3584, 28, 4, 152064, 18944, [](Shape& s) { s.qkv_bias = true; });
inline constexpr Shape qwen2_5_0_5b = shape(24, 896, 14, 2, 151936, 4864, [](Shape& s) {
  s.tied_embeddings = s.qkv_bias = true;
});
inline constexpr Shape qwen1_5_moe_a2_7b = shape(24, 2048, 16, 16, 151936, 1408, [](Shape& s) {
  s.experts = 60, s.active_experts = 4, s.shared_intermediate = 5632;
  s.shared_expert_gate = s.qkv_bias = true;
});
inline constexpr Shape qwen3_30b_a3b = shape(48, 2048, 32, 4, 151936, 768, [](Shape& s) {
  s.head_dim = 128, s.experts = 128, s.active_experts = 8, s.qk_norm = true;
});
inline constexpr Shape gpt2 = shape(12, 768, 12, 0, 50257, 0, [](Shape& s) {
  s.gated_mlp = false, s.tied_embeddings = true, s.learned_positions = 1024;
  s.qkv_bias = s.output_bias = s.mlp_bias = s.norm_bias = true;
});

}  // namespace fathom::open_models
