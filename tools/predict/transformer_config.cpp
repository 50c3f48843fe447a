#include <fmt/ranges.h>

#include <algorithm>

#include "results/fail.h"
#include "results/fields.h"
#include "results/files.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using PlainJson = nlohmann::json;
using models::TransformerShape;

/// A model's config.json, whose members are refused by name where they are not what they should be.
class Config {
 public:
  explicit Config(const std::filesystem::path& file) : file_(file.string()) {
    // A config has a few kilobytes; whatever is larger is another file.
    constexpr std::size_t limit = 1 << 20;
    try {
      json_ = parse_strict_json(read_file_up_to(file, limit), file_);
    } catch (const Error& error) {
      // The parser's sentence is about result documents.
      if (error.code() != ExitCode::document_malformed) throw;
    }
    if (!json_.is_object())
      fail(ExitCode::bad_input, "{} is no JSON object: give a model's config.json.", file_);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    fail(ExitCode::bad_input, "{}: {}.", file_, what);
  }
  std::int64_t number(const char* key, std::optional<std::int64_t> otherwise = {}) const {
    const PlainJson found = value(key);
    if (found.is_null() && otherwise) return *otherwise;
    if (!found.is_number_integer()) refuse(fmt::format("it has no whole number `{}`", key));
    return found;
  }
  bool flag(const char* key, bool otherwise) const {
    const PlainJson found = value(key);
    if (found.is_null()) return otherwise;
    if (!found.is_boolean()) refuse(fmt::format("its `{}` is neither true nor false", key));
    return found;
  }
  /// Null where the key is missing.
  PlainJson value(const char* key) const { return json_.value(key, PlainJson()); }

 private:
  PlainJson json_;
  std::string file_;
};

TransformerShape gpt2_shape(const Config& config) {
  return {.layers = config.number("n_layer"),
          .hidden = config.number("n_embd"),
          .heads = config.number("n_head"),
          .vocabulary = config.number("vocab_size"),
          .intermediate = config.number("n_inner", 0),
          .gated_mlp = false,
          .tied_embeddings = config.flag("tie_word_embeddings", true),
          .qkv_bias = true,
          .output_bias = true,
          .mlp_bias = true,
          .norm_bias = true,
          .learned_positions = config.number("n_positions")};
}

/// What llama and the families after it share.
TransformerShape llama_shape(const Config& config) {
  const bool attention_bias = config.flag("attention_bias", false);
  return {.layers = config.number("num_hidden_layers"),
          .hidden = config.number("hidden_size"),
          .heads = config.number("num_attention_heads"),
          .kv_heads = config.number("num_key_value_heads", 0),
          .head_dim = config.number("head_dim", 0),
          .vocabulary = config.number("vocab_size"),
          .intermediate = config.number("intermediate_size"),
          .tied_embeddings = config.flag("tie_word_embeddings", false),
          .qkv_bias = attention_bias,
          .output_bias = attention_bias,
          .mlp_bias = config.flag("mlp_bias", false)};
}

TransformerShape shape_of(const Config& config) {
  const PlainJson type = config.value("model_type");
  const std::string family = type.is_string() ? type : "";
  if (family == "gpt2") return gpt2_shape(config);
  static const std::vector<std::string> families{"gpt2",  "llama",     "mistral", "mixtral",
                                                 "qwen2", "qwen2_moe", "qwen3",   "qwen3_moe"};
  if (std::ranges::count(families, family) == 0)
    config.refuse(
        fmt::format("its model_type `{}` is none of {}: give --layers, --hidden, ... instead",
                    family, fmt::join(families, ", ")));
  TransformerShape shape = llama_shape(config);
  if (family == "qwen2" || family == "qwen2_moe") shape.qkv_bias = true;
  if (family == "qwen3" || family == "qwen3_moe") shape.qk_norm = true;
  if (family == "mixtral") {
    shape.experts = config.number("num_local_experts");
    shape.active_experts = config.number("num_experts_per_tok");
  }
  if (family.ends_with("_moe")) {
    if (config.number("decoder_sparse_step", 1) != 1 || !config.value("mlp_only_layers").empty())
      config.refuse(
          "some of its layers have experts and others none, which the model does not know");
    shape.experts = config.number("num_experts");
    shape.active_experts = config.number("num_experts_per_tok");
    shape.intermediate = config.number("moe_intermediate_size");
  }
  if (family == "qwen2_moe") {
    shape.shared_intermediate = config.number("shared_expert_intermediate_size");
    shape.shared_expert_gate = true;
  }
  return shape;
}

}  // namespace

TransformerShape shape_from_config(const std::filesystem::path& file, std::int64_t context) {
  const Config config(file);
  const std::int64_t window = config.number("sliding_window", 0);
  const bool slides = window > 0 && config.flag("use_sliding_window", true);
  const TransformerShape shape = shape_of(config);
  if (slides && window < context)
    config.refuse(
        fmt::format("its attention looks back {} tokens only, which the model of a context of {} "
                    "does not know: give --context {} or less",
                    window, context, window));
  return shape;
}

}  // namespace fathom
