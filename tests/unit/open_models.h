#pragma once

#include "models/transformer.h"

namespace fathom::open_models {

// Shapes of published models, from the config.json that their makers publish beside the weights.

inline constexpr models::TransformerShape llama_3_1_8b{.layers = 32,
                                                       .hidden = 4096,
                                                       .heads = 32,
                                                       .kv_heads = 8,
                                                       .vocabulary = 128256,
                                                       .intermediate = 14336};
inline constexpr models::TransformerShape llama_3_1_70b{.layers = 80,
                                                        .hidden = 8192,
                                                        .heads = 64,
                                                        .kv_heads = 8,
                                                        .vocabulary = 128256,
                                                        .intermediate = 28672};
inline constexpr models::TransformerShape llama_3_1_405b{.layers = 126,
                                                         .hidden = 16384,
                                                         .heads = 128,
                                                         .kv_heads = 8,
                                                         .vocabulary = 128256,
                                                         .intermediate = 53248};
inline constexpr models::TransformerShape mistral_7b{.layers = 32,
                                                     .hidden = 4096,
                                                     .heads = 32,
                                                     .kv_heads = 8,
                                                     .vocabulary = 32000,
                                                     .intermediate = 14336};
inline constexpr models::TransformerShape mixtral_8x7b{.layers = 32,
                                                       .hidden = 4096,
                                                       .heads = 32,
                                                       .kv_heads = 8,
                                                       .vocabulary = 32000,
                                                       .intermediate = 14336,
                                                       .experts = 8,
                                                       .active_experts = 2};
inline constexpr models::TransformerShape qwen2_5_7b{.layers = 28,
                                                     .hidden = 3584,
                                                     .heads = 28,
                                                     .kv_heads = 4,
                                                     .vocabulary = 152064,
                                                     .intermediate = 18944,
                                                     .qkv_bias = true};
inline constexpr models::TransformerShape qwen2_5_0_5b{.layers = 24,
                                                       .hidden = 896,
                                                       .heads = 14,
                                                       .kv_heads = 2,
                                                       .vocabulary = 151936,
                                                       .intermediate = 4864,
                                                       .tied_embeddings = true,
                                                       .qkv_bias = true};
inline constexpr models::TransformerShape qwen1_5_moe_a2_7b{.layers = 24,
                                                            .hidden = 2048,
                                                            .heads = 16,
                                                            .kv_heads = 16,
                                                            .vocabulary = 151936,
                                                            .intermediate = 1408,
                                                            .experts = 60,
                                                            .active_experts = 4,
                                                            .shared_intermediate = 5632,
                                                            .shared_expert_gate = true,
                                                            .qkv_bias = true};
inline constexpr models::TransformerShape qwen3_30b_a3b{.layers = 48,
                                                        .hidden = 2048,
                                                        .heads = 32,
                                                        .kv_heads = 4,
                                                        .head_dim = 128,
                                                        .vocabulary = 151936,
                                                        .intermediate = 768,
                                                        .experts = 128,
                                                        .active_experts = 8,
                                                        .qk_norm = true};
inline constexpr models::TransformerShape gpt2{.layers = 12,
                                               .hidden = 768,
                                               .heads = 12,
                                               .vocabulary = 50257,
                                               .gated_mlp = false,
                                               .tied_embeddings = true,
                                               .qkv_bias = true,
                                               .output_bias = true,
                                               .mlp_bias = true,
                                               .norm_bias = true,
                                               .learned_positions = 1024};

}  // namespace fathom::open_models
