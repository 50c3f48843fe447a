#include "models/transformer.h"

#include "models/gpu_table.h"
#include "tests/testing.h"
#include "tests/unit/open_models.h"

// What `fathom predict transformer` prints of dense models, by shape and by size, on one GPU and on
// several, is held against tests/golden/predictions.txt.

using namespace fathom::models;
using namespace fathom::open_models;

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
  // Hugging Face, "Llama 3.1 - 405B, 70B & 8B with multilinguality and long context": in fp16, GiB
  // of 128,000 tokens. 405B's is of its first release, whose 16 KV heads were 8 stored twice.
  TransformerShape first_405b = llama_3_1_405b;
  first_405b.kv_heads = 16;
  for (const auto& [shape, published] :
       {std::pair{llama_3_1_8b, 15.62}, {llama_3_1_70b, 39.06}, {first_405b, 123.05}}) {
    const auto memory = transformer_memory(transformer_of_shape(shape), {.context = 128000});
    CHECK(*memory.kv_cache / (1 << 30) == Approx(published).epsilon(0.001));
  }
}

TEST_CASE("Experts: all are held, the active are read", "[models]") {
  const Transformer model = transformer_of_shape(mixtral_8x7b);
  const TransformerGpu gpu{.bytes_per_second = 4e12, .flops_per_second = 1000e12};
  const TransformerMemory memory = transformer_memory(model, {.context = 1});
  CHECK(memory.weights == 2 * 46702792704.0);
  CHECK(transformer_bounds(model, {.context = 1}, gpu).decode.bytes ==
        2 * model.parameters.multiplied + *memory.kv_cache);
}

TEST_CASE("Tensor parallelism keeps a KV head whole", "[models]") {
  const auto cache = [](int gpus) {
    const TransformerLoad load{.context = 8192, .gpus = gpus};
    return *transformer_memory(transformer_of_shape(llama_3_1_70b), load).kv_cache_per_gpu;
  };
  CHECK(cache(8) == cache(1) / 8);
  CHECK(cache(16) == cache(8));
}

TEST_CASE("The GPUs that hold a model", "[models]") {
  const auto needed = [](const TransformerShape& shape, double weight_bytes, const char* gpu) {
    return gpus_needed(transformer_of_shape(shape), {.weight_bytes = weight_bytes, .context = 8192},
                       find_gpu(gpu)->memory_bytes.value, 0.9);
  };
  // Meta serves 405B in fp8 on one node of eight H100, and in bf16 on two.
  CHECK(needed(llama_3_1_405b, 1, "H100 SXM") == 8);
  CHECK(needed(llama_3_1_405b, 2, "H100 SXM") == 16);
  CHECK(!needed(llama_3_1_405b, 400, "T4"));
  CHECK_THROWS_AS(gpus_needed(transformer_of_size(70e9), {}, 0, 0.9), std::invalid_argument);
  CHECK_THROWS_AS(gpus_needed(transformer_of_size(70e9), {}, 80e9, 1.1), std::invalid_argument);
}

TEST_CASE("Impossible transformers are refused", "[models]") {
  const auto refused = [](TransformerShape shape, const char* said, auto change) {
    change(shape);
    CHECK_THROWS_MATCHES(transformer_of_shape(shape), std::invalid_argument,
                         MessageMatches(contains(said)));
  };
  using Shape = TransformerShape;
  refused(llama_3_1_8b, "layers", [](Shape& s) { s.layers = 0; });
  refused(llama_3_1_8b, "KV heads", [](Shape& s) { s.kv_heads = 5; });
  refused(llama_3_1_8b, "head size", [](Shape& s) { s.heads = 24; });  // of 8 KV heads
  refused(mixtral_8x7b, "experts", [](Shape& s) { s.active_experts = 9; });
  refused(mixtral_8x7b, "experts", [](Shape& s) { s.active_experts = 0; });
  refused(llama_3_1_8b, "without experts", [](Shape& s) { s.active_experts = 2; });
  refused(llama_3_1_8b, "intermediate", [](Shape& s) { s.intermediate = -1; });
  Shape of_one_layer = llama_3_1_8b;
  of_one_layer.layers = 1;
  CHECK_NOTHROW(transformer_of_shape(of_one_layer));

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
