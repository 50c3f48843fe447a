#include "models/transformer.h"

#include <nlohmann/json.hpp>

#include "models/gpu_table.h"
#include "tests/testing.h"
#include "tests/unit/test_folder.h"
#include "tools/predict/predict.h"

using namespace fathom;
using namespace fathom::models;
using Json = nlohmann::json;

namespace {

// Shapes of published models, from the config.json that their makers publish beside the weights.

using Shape = TransformerShape;

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

constexpr Shape llama_3_1_8b = shape(32, 4096, 32, 8, 128256, 14336);
constexpr Shape llama_3_1_70b = shape(80, 8192, 64, 8, 128256, 28672);
constexpr Shape llama_3_1_405b = shape(126, 16384, 128, 8, 128256, 53248);
constexpr Shape mistral_7b = shape(32, 4096, 32, 8, 32000, 14336);
constexpr Shape mixtral_8x7b =
    shape(32, 4096, 32, 8, 32000, 14336, [](Shape& s) { s.experts = 8, s.active_experts = 2; });
constexpr Shape qwen2_5_7b =
    shape(28, 3584, 28, 4, 152064, 18944, [](Shape& s) { s.qkv_bias = true; });
constexpr Shape qwen2_5_0_5b =
    shape(24, 896, 14, 2, 151936, 4864, [](Shape& s) { s.tied_embeddings = s.qkv_bias = true; });
constexpr Shape qwen1_5_moe_a2_7b = shape(24, 2048, 16, 16, 151936, 1408, [](Shape& s) {
  s.experts = 60, s.active_experts = 4, s.shared_intermediate = 5632;
  s.shared_expert_gate = s.qkv_bias = true;
});
constexpr Shape qwen3_30b_a3b = shape(48, 2048, 32, 4, 151936, 768, [](Shape& s) {
  s.head_dim = 128, s.experts = 128, s.active_experts = 8, s.qk_norm = true;
});
constexpr Shape gpt2 = shape(12, 768, 12, 0, 50257, 0, [](Shape& s) {
  s.gated_mlp = false, s.tied_embeddings = true, s.learned_positions = 1024;
  s.qkv_bias = s.output_bias = s.mlp_bias = s.norm_bias = true;
});

constexpr double KiB = 1024, GiB = 1024 * 1024 * 1024;

TEST_CASE("L1: parameter counts are those of the published weights, exactly", "[models]") {
  // As the Hugging Face Hub counts the tensors of each model's safetensors files.
  for (const auto& [shape, total] : {std::pair{llama_3_1_8b, 8030261248},
                                     {llama_3_1_70b, 70553706496},
                                     {llama_3_1_405b, 405853388800},
                                     {mistral_7b, 7241732096},
                                     {mixtral_8x7b, 46702792704},
                                     {qwen2_5_7b, 7615616512},
                                     {qwen2_5_0_5b, 494032768},
                                     {qwen1_5_moe_a2_7b, 14315784192},
                                     {qwen3_30b_a3b, 30532122624},
                                     {gpt2, 124439808}}) {
    const TransformerParameters counted = transformer_of_shape(shape).parameters;
    CHECK(counted.total == static_cast<double>(total));
    if (shape.experts == 0) CHECK(counted.active == counted.total);
  }
  // What the makers state. "Mixtral of Experts": 47B parameters, 13B active; the announcement:
  // 46.7B and 12.9B. Model cards of Qwen: 2.7B and 3.3B activated.
  for (const auto& [shape, active] :
       {std::pair{mixtral_8x7b, 12.9e9}, {qwen1_5_moe_a2_7b, 2.7e9}, {qwen3_30b_a3b, 3.3e9}})
    CHECK(transformer_of_shape(shape).parameters.active == Approx(active).epsilon(0.02));
}

TEST_CASE("L1: the KV cache is as large as published", "[models]") {
  const auto cache = [](const TransformerShape& shape, std::int64_t tokens) {
    return *transformer_memory(transformer_of_shape(shape), {.context = tokens}).kv_cache;
  };
  // Hugging Face, "Llama 3.1 - 405B, 70B & 8B with multilinguality and long context": in fp16, 1k
  // being 1024 tokens and 16k and 128k multiples of 1000. Its column for 405B is of the first
  // release, whose 16 KV heads were 8 stored twice.
  CHECK(cache(llama_3_1_8b, 1024) / GiB == Approx(0.125));
  CHECK(cache(llama_3_1_8b, 128000) / GiB == Approx(15.62).epsilon(0.001));
  CHECK(cache(llama_3_1_70b, 128000) / GiB == Approx(39.06).epsilon(0.001));
  TransformerShape first_405b = llama_3_1_405b;
  first_405b.kv_heads = 16;
  CHECK(cache(first_405b, 128000) / GiB == Approx(123.05).epsilon(0.001));
}

TEST_CASE("Weights and bounds of a small dense model by hand", "[models]") {
  const Transformer model = transformer_of_shape(llama_3_1_8b);
  const TransformerLoad load{.context = 8192, .prompt = 1024, .batch = 2};
  const TransformerMemory memory = transformer_memory(model, load);
  CHECK(memory.weights == 16060522496);
  CHECK(*memory.kv_cache == 2 * GiB);
  // 2048 tokens x (2 x 4096 + 2 x 14336) x 2 B + logits of 2 tokens.
  CHECK(*memory.activations_per_gpu == 2048.0 * (8192 + 28672) * 2 + 2 * 128256.0 * 4);
  CHECK(memory.per_gpu == memory.weights + *memory.kv_cache + *memory.activations_per_gpu);

  const TransformerBounds b =
      transformer_bounds(model, load, {.bytes_per_second = 1e12, .flops_per_second = 100e12});
  const double table = 128256.0 * 4096;
  const double multiplied = 8030261248 - table;
  CHECK(b.decode.bytes == 2 * multiplied + 2 * GiB);
  CHECK(b.decode.flops == 2 * (2 * multiplied + 4.0 * 32 * 4096 * 8192));
  CHECK(b.decode.memory_bound);
  CHECK(b.decode.seconds == Approx((2 * multiplied + 2 * GiB) / 1e12));
  CHECK(b.tokens_per_second == Approx(2 / b.decode.seconds));
  CHECK(b.prefill.flops ==
        2 * (2 * (multiplied - table) * 1024 + 2 * table + 4.0 * 32 * 4096 * 1024 * 1025 / 2));
  CHECK(b.prefill.bytes == 2 * multiplied + 2 * 1024 * 128 * KiB);
  CHECK(!b.prefill.memory_bound);
  CHECK(b.prefill.seconds == Approx(b.prefill.flops / 100e12));
  CHECK(!b.prefill.communication_seconds);
  CHECK(!b.decode_seconds_even_routing);
}

TEST_CASE("A size alone gives weights, 2N FLOPs and no cache", "[models]") {
  const Transformer model = transformer_of_size(7e9);
  const TransformerMemory memory = transformer_memory(model, {.weight_bytes = 0.5, .gpus = 2});
  CHECK(memory.weights == 3.5e9);
  CHECK(memory.per_gpu == 1.75e9);
  CHECK(!memory.kv_cache);
  CHECK(!memory.activations_per_gpu);
  const TransformerBounds b = transformer_bounds(
      model, {.context = 100}, {.bytes_per_second = 1e12, .flops_per_second = 100e12});
  CHECK(b.decode.flops == 14e9);
  CHECK(b.decode.bytes == 14e9);
  CHECK(b.prefill.flops == 1400e9);
  CHECK(transformer_of_size(47e9, 13e9).parameters.multiplied == 13e9);
}

TEST_CASE("Experts: all are held, the active are read, batches read more", "[models]") {
  const Transformer model = transformer_of_shape(mixtral_8x7b);
  const TransformerGpu gpu{.bytes_per_second = 4e12, .flops_per_second = 1000e12};
  const auto at = [&](std::int64_t batch) {
    return transformer_bounds(model, {.context = 1, .batch = batch}, gpu);
  };
  CHECK(transformer_memory(model, {}).weights == 2 * 46702792704.0);
  CHECK(*at(1).decode_seconds_even_routing == Approx(at(1).decode.seconds));
  CHECK(*at(4).decode_seconds_even_routing > at(4).decode.seconds);
  // Nearly all experts, hence all weights but the table that is looked up.
  const double all = 2 * (46702792704.0 - 32000 * 4096) / 4e12;
  CHECK(*at(64).decode_seconds_even_routing == Approx(all).epsilon(0.001));
}

TEST_CASE("Tensor parallelism splits weights and heads, and keeps a KV head whole", "[models]") {
  const Transformer model = transformer_of_shape(llama_3_1_70b);
  const TransformerGpu gpu{
      .bytes_per_second = 4e12, .flops_per_second = 1000e12, .link_bytes_per_second = 450e9};
  const TransformerLoad one{.context = 8192};
  TransformerLoad load = one;
  load.gpus = 8;
  const TransformerMemory eight = transformer_memory(model, load);
  CHECK(eight.weights_per_gpu == eight.weights / 8);
  CHECK(*eight.kv_cache_per_gpu == *eight.kv_cache / 8);
  const TransformerBounds b = transformer_bounds(model, load, gpu);
  CHECK(b.decode.seconds == Approx(transformer_bounds(model, one, gpu).decode.seconds / 8));
  // 80 layers x 2 all-reduces x 8192 x 2 B x 2 x 7/8 over 450 GB/s.
  CHECK(*b.decode.communication_seconds == Approx(80 * 2 * 8192.0 * 2 * 2 * 7 / 8 / 450e9));
  load.gpus = 16;
  CHECK(*transformer_memory(model, load).kv_cache_per_gpu == *eight.kv_cache / 8);
  CHECK(!transformer_bounds(model, one, gpu).decode.communication_seconds);
}

TEST_CASE("The GPUs that hold a model", "[models]") {
  const auto needed = [](const TransformerShape& shape, double weight_bytes, const char* gpu) {
    return gpus_needed(transformer_of_shape(shape), {.weight_bytes = weight_bytes, .context = 8192},
                       find_gpu(gpu)->memory_bytes.value, 0.9);
  };
  CHECK(needed(llama_3_1_8b, 2, "RTX 4090") == 1);
  CHECK(needed(llama_3_1_70b, 2, "A100 80GB SXM") == 4);  // 2 x 72 GB are less than 141 GB
  CHECK(needed(llama_3_1_70b, 1, "H200") == 1);
  // Meta serves 405B in fp8 on one node of eight H100, and in bf16 on two.
  CHECK(needed(llama_3_1_405b, 1, "H100 SXM") == 8);
  CHECK(needed(llama_3_1_405b, 2, "H100 SXM") == 16);
  CHECK(!needed(llama_3_1_405b, 400, "T4"));
  CHECK(gpus_needed(transformer_of_size(70e9), {}, 80e9, 0.9) == 2);
  CHECK_THROWS_AS(gpus_needed(transformer_of_size(70e9), {}, 0, 0.9), std::invalid_argument);
  CHECK_THROWS_AS(gpus_needed(transformer_of_size(70e9), {}, 80e9, 1.1), std::invalid_argument);
}

TEST_CASE("Impossible transformers are refused", "[models]") {
  const auto refused = [](TransformerShape shape, const char* said, auto change) {
    change(shape);
    CHECK_THROWS_MATCHES(transformer_of_shape(shape), std::invalid_argument,
                         MessageMatches(contains(said)));
  };
  refused(llama_3_1_8b, "layers", [](Shape& s) { s.layers = 0; });
  refused(llama_3_1_8b, "KV heads", [](Shape& s) { s.kv_heads = 5; });
  refused(llama_3_1_8b, "head size", [](Shape& s) { s.heads = 24; });  // of 8 KV heads
  refused(mixtral_8x7b, "experts", [](Shape& s) { s.active_experts = 9; });
  refused(mixtral_8x7b, "experts", [](Shape& s) { s.active_experts = 0; });
  refused(llama_3_1_8b, "without experts", [](Shape& s) { s.active_experts = 2; });
  refused(llama_3_1_8b, "intermediate", [](Shape& s) { s.intermediate = -1; });

  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_AS(transformer_of_size(bad), std::invalid_argument);
    CHECK_THROWS_AS(transformer_memory(transformer_of_size(1e9), {.weight_bytes = bad}),
                    std::invalid_argument);
    CHECK_THROWS_AS(transformer_bounds(transformer_of_size(1e9), {},
                                       {.bytes_per_second = bad, .flops_per_second = 1}),
                    std::invalid_argument);
  }
  CHECK_THROWS_AS(transformer_of_size(1e9, 2e9), std::invalid_argument);
  CHECK_THROWS_AS(transformer_of_size(1e9, nan), std::invalid_argument);
  const Transformer model = transformer_of_shape(llama_3_1_8b);
  CHECK_THROWS_MATCHES(transformer_memory(model, {.gpus = 3}), std::invalid_argument,
                       MessageMatches(contains("divisor")));
  CHECK_THROWS_AS(transformer_memory(model, {.context = 0}), std::invalid_argument);
  CHECK_THROWS_AS(transformer_memory(model, {.context = 10, .prompt = 11}), std::invalid_argument);
}

/// The shape that a config of this text gives.
Shape shape_of(const std::string& text) {
  const TestFolder folder;
  return shape_from_config(folder.write("config.json", text), 4096);
}

double parameters(const Shape& shape) { return transformer_of_shape(shape).parameters.total; }

// The figures of the published config.json files, without those that a shape does not need.

Json llama() {
  return {
      {"model_type", "llama"},      {"attention_bias", false},           {"hidden_size", 4096},
      {"intermediate_size", 14336}, {"max_position_embeddings", 131072}, {"mlp_bias", false},
      {"num_attention_heads", 32},  {"num_hidden_layers", 32},           {"num_key_value_heads", 8},
      {"rope_theta", 500000.0},     {"tie_word_embeddings", false},      {"vocab_size", 128256}};
}

TEST_CASE("Published configs give the published numbers of parameters", "[predict]") {
  CHECK(parameters(shape_of(llama().dump())) == 8030261248);
  Json biased = llama();
  biased["attention_bias"] = true;  // of queries, keys and values, and of the output projection
  CHECK(parameters(shape_of(biased.dump())) == 8030261248 + 32 * (4096 + 2 * 1024 + 4096));

  Json mixtral = llama();
  mixtral.update({{"model_type", "mixtral"},
                  {"num_experts_per_tok", 2},
                  {"num_local_experts", 8},
                  {"sliding_window", nullptr},
                  {"vocab_size", 32000}});
  CHECK(parameters(shape_of(mixtral.dump())) == parameters(mixtral_8x7b));

  for (const auto& [text, published] :
       {std::pair{R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864,
               "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
               "tie_word_embeddings": true, "vocab_size": 151936})",
                  qwen2_5_0_5b},
        {R"({"model_type": "qwen2_moe", "decoder_sparse_step": 1, "hidden_size": 2048,
               "intermediate_size": 5632, "moe_intermediate_size": 1408, "num_attention_heads": 16,
               "num_experts": 60, "num_experts_per_tok": 4, "num_hidden_layers": 24,
               "num_key_value_heads": 16, "shared_expert_intermediate_size": 5632,
               "tie_word_embeddings": false, "vocab_size": 151936})",
         qwen1_5_moe_a2_7b},
        {R"({"model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 2048,
               "intermediate_size": 6144, "mlp_only_layers": [], "moe_intermediate_size": 768,
               "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8,
               "num_hidden_layers": 48, "num_key_value_heads": 4, "vocab_size": 151936})",
         qwen3_30b_a3b},
        {R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
               "n_positions": 1024, "vocab_size": 50257})",
         gpt2}}) {
    INFO(text);
    CHECK(parameters(shape_of(text)) == parameters(published));
  }
}

TEST_CASE("A config that is none, or of another kind of model, is refused in one sentence",
          "[predict]") {
  const auto refused = [](const std::string& text, const char* said,
                          ExitCode code = ExitCode::bad_input) {
    CAPTURE(text.substr(0, 100));
    const Refusal refused = refusal_of([&] { shape_of(text); });
    CHECK(refused.code == code);
    CHECK_THAT(refused.text, contains(said));
  };
  for (const std::string& text : {std::string(), std::string("{bad"), std::string(2000, '[')})
    refused(text, "config.json", ExitCode::document_malformed);
  refused(std::string(3 << 20, ' ') + "{}", "config.json", ExitCode::document_malformed);
  refused("[1]", "no JSON object");
  refused("{}", "model_type");
  refused(R"({"model_type": "deepseek_v3"})", "deepseek_v3");
  Json config = llama();
  config.erase("num_hidden_layers");
  refused(config.dump(), "num_hidden_layers");
  for (const auto& [key, value] : {std::pair<const char*, Json>{"hidden_size", "4096"},
                                   {"hidden_size", 4096.5},
                                   {"tie_word_embeddings", 1}}) {
    config = llama();
    config[key] = value;
    refused(config.dump(), key);
  }
  config = llama();
  config.update({{"model_type", "qwen3_moe"}, {"mlp_only_layers", Json::array({0})}});
  refused(config.dump(), "`moe_intermediate_size`");
  config.update({{"moe_intermediate_size", 768}, {"num_experts", 8}, {"num_experts_per_tok", 2}});
  refused(config.dump(), "some of its layers have experts");
  CHECK_THROWS_AS(shape_from_config("/nonexistent/config.json", 1), Error);
  CHECK_THROWS_AS(shape_from_config("/", 1), Error);
}

}  // namespace
