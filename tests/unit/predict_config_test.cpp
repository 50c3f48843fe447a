#include <nlohmann/json.hpp>

#include "test_folder.h"
#include "tests/testing.h"
#include "tests/unit/open_models.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

/// The shape that a config of this text gives.
models::TransformerShape shape_of(const std::string& text) {
  const TestFolder folder;
  return shape_from_config(folder.write("config.json", text), 4096);
}

double parameters(const models::TransformerShape& shape) {
  return transformer_of_shape(shape).parameters.total;
}

// The figures of the published config.json files, without those that a shape does not need.

Json llama() {
  return {
      {"model_type", "llama"},      {"attention_bias", false},           {"hidden_size", 4096},
      {"intermediate_size", 14336}, {"max_position_embeddings", 131072}, {"mlp_bias", false},
      {"num_attention_heads", 32},  {"num_hidden_layers", 32},           {"num_key_value_heads", 8},
      {"rope_theta", 500000.0},     {"tie_word_embeddings", false},      {"vocab_size", 128256}};
}

TEST_CASE("Published configs give the published numbers of parameters", "[predict]") {
  using namespace open_models;
  CHECK(parameters(shape_of(llama().dump())) == 8030261248);

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
  const auto refused = [](const std::string& text, const char* said) {
    CAPTURE(text.substr(0, 100));
    const Refusal refused = refusal_of([&] { shape_of(text); });
    CHECK(refused.code == ExitCode::bad_input);
    CHECK_THAT(refused.text, contains(said));
  };
  for (const std::string& text :
       {std::string(), std::string("{bad"), std::string("[1]"), std::string(3 << 20, ' ') + "{}"})
    refused(text, "no JSON object");
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
  refused(config.dump(), "experts");
  CHECK_THROWS_AS(shape_from_config("/nonexistent/config.json", 1), Error);
  CHECK_THROWS_AS(shape_from_config("/", 1), Error);
}

}  // namespace
}  // namespace fathom
