// A model's config.json, of `fathom predict transformer`.

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <span>
#include <string_view>

#include "results/fail.h"
#include "results/files.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using Shape = models::TransformerShape;

/// A whole number that a config has, and where a shape keeps it.
struct Number {
  const char* key;
  std::int64_t Shape::*member;
  bool needed = true;
};

constexpr Number gpt2_numbers[] = {
    {"n_layer", &Shape::layers},        {"n_embd", &Shape::hidden},
    {"n_head", &Shape::heads},          {"n_inner", &Shape::intermediate, false},
    {"vocab_size", &Shape::vocabulary}, {"n_positions", &Shape::learned_positions}};
// What llama and the families after it share.
constexpr Number llama_numbers[] = {
    {"num_hidden_layers", &Shape::layers},      {"hidden_size", &Shape::hidden},
    {"num_attention_heads", &Shape::heads},     {"num_key_value_heads", &Shape::kv_heads, false},
    {"head_dim", &Shape::head_dim, false},      {"vocab_size", &Shape::vocabulary},
    {"intermediate_size", &Shape::intermediate}};
constexpr Number mixtral_experts[] = {{"num_local_experts", &Shape::experts},
                                      {"num_experts_per_tok", &Shape::active_experts}};
constexpr Number qwen_experts[] = {
    {"num_experts", &Shape::experts},
    {"num_experts_per_tok", &Shape::active_experts},
    {"moe_intermediate_size", &Shape::intermediate},
    {"shared_expert_intermediate_size", &Shape::shared_intermediate, false}};

constexpr struct {
  const char* key;
  bool Shape::*member;
} flags[] = {{"tie_word_embeddings", &Shape::tied_embeddings},
             {"attention_bias", &Shape::qkv_bias},
             {"attention_bias", &Shape::output_bias},
             {"mlp_bias", &Shape::mlp_bias}};

/// A family of models: its numbers, and what of its shape a config does not state.
struct Family {
  std::string_view name;
  std::span<const Number> numbers = llama_numbers, experts{};
  Shape shape{};
};
constexpr Family families[] = {
    {"gpt2",
     gpt2_numbers,
     {},
     {.gated_mlp = false,
      .tied_embeddings = true,
      .qkv_bias = true,
      .output_bias = true,
      .mlp_bias = true,
      .norm_bias = true}},
    {"llama"},
    {"mistral"},
    {"mixtral", llama_numbers, mixtral_experts},
    {"qwen2", llama_numbers, {}, {.qkv_bias = true}},
    {"qwen2_moe", llama_numbers, qwen_experts, {.shared_expert_gate = true, .qkv_bias = true}},
    {"qwen3", llama_numbers, {}, {.qk_norm = true}},
    {"qwen3_moe", llama_numbers, qwen_experts, {.qk_norm = true}}};

}  // namespace

Shape shape_from_config(const std::filesystem::path& file, std::int64_t context) {
  // A config has a few kilobytes; whatever is larger is another file.
  constexpr std::size_t limit = 1 << 20;
  const auto config =
      parse_strict_json(read_file_up_to(file, limit), file.string(), "a model's config.json");
  if (!config.is_object())
    fail(ExitCode::bad_input, "{} is no JSON object: give a model's config.json.", file.string());
  const auto refuse = [&](const std::string& what) {
    fail(ExitCode::bad_input, "{}: {}.", file.string(), what);
  };
  /// Null where the key is missing.
  const auto value = [&](const char* key) { return config.value(key, nlohmann::json()); };

  const auto* family = std::ranges::find(families, value("model_type"), &Family::name);
  if (family == std::end(families))
    refuse(fmt::format("its model_type {} is none of {}: give --layers, --hidden, ... instead",
                       value("model_type").dump(),
                       fmt::join(families | std::views::transform(&Family::name), ", ")));
  Shape shape = family->shape;
  const auto read = [&](const Number& number) {
    const auto found = value(number.key);
    if (found.is_null() && !number.needed) return;
    if (!found.is_number_integer()) refuse(fmt::format("it has no whole number `{}`", number.key));
    shape.*number.member = found;
  };
  std::ranges::for_each(family->numbers, read);
  std::ranges::for_each(family->experts, read);
  for (const auto& [key, member] : flags) {
    const auto found = value(key);
    if (!found.is_null() && !found.is_boolean())
      refuse(fmt::format("its `{}` is neither true nor false", key));
    if (!found.is_null()) shape.*member = found;
  }
  if (!value("mlp_only_layers").empty() ||
      config.value("decoder_sparse_step", nlohmann::json(1)) != 1)
    refuse("some of its layers have experts and others none, which the model does not know");
  const auto window = value("sliding_window");
  if (window.is_number_integer() && window > 0 && window < context &&
      value("use_sliding_window") != false)
    refuse(fmt::format("its attention looks back {} tokens only: give --context {} or less",
                       window.dump(), window.dump()));
  return shape;
}

}  // namespace fathom
