// `fathom predict transformer`, of a shape by flags or by a model's config.json.

#include "models/transformer.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <vector>

#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {

FATHOM_FIELDS(models::TransformerParameters, "", "", total, active, multiplied);
FATHOM_FIELDS(models::TransformerMemory, "", "", weights, kv_cache, weights_per_gpu,
              kv_cache_per_gpu, activations_per_gpu, per_gpu);
FATHOM_FIELDS(models::PhaseBound, "", "", flops, bytes, compute_seconds, memory_seconds, seconds,
              memory_bound, communication_seconds);
FATHOM_FIELDS(models::TransformerBounds, "", "", prefill, decode, tokens_per_second,
              decode_seconds_even_routing);

/// What a GPU's figures make of the load.
struct OnGpu {
  MachineFigure bandwidth, peak, memory;
  std::string precision;  ///< of the arithmetic
  std::optional<MachineFigure> link;
  models::TransformerBounds bounds;  ///< on the load's number of GPUs
  bool fits = false;
  std::optional<std::int64_t> gpus_needed;  ///< empty: no number of them is enough
};

FATHOM_FIELDS(OnGpu, "", "", bandwidth, peak, precision, memory, link, fits, gpus_needed, bounds);

namespace {

using namespace models;

// --- a model's config.json -----------------------------------------------------------------------

using Shape = TransformerShape;

/// A whole number of a shape: its flag, and its key in GPT-2's config.json, in llama's and its
/// successors', and in the two kinds with experts. A question mark before a key: it may be missing.
struct Number {
  std::int64_t Shape::*member;
  const char *flag, *description;
  std::string_view gpt2{}, llama{}, mixtral{}, qwen_moe{};
};
constexpr Number numbers[] = {
    {&Shape::layers, "--layers", "Layers", "n_layer", "num_hidden_layers"},
    {&Shape::hidden, "--hidden", "Hidden size", "n_embd", "hidden_size"},
    {&Shape::heads, "--heads", "Attention heads", "n_head", "num_attention_heads"},
    {&Shape::kv_heads, "--kv-heads", "KV heads (default: as many as heads)", "",
     "?num_key_value_heads"},
    {&Shape::head_dim, "--head-dim", "Size of a head (default: hidden / heads)", "", "?head_dim"},
    {&Shape::vocabulary, "--vocab", "Vocabulary", "vocab_size", "vocab_size"},
    {&Shape::intermediate, "--intermediate",
     "Intermediate size of the MLP, or of one expert (default: 4 x hidden)", "?n_inner",
     "intermediate_size", "", "moe_intermediate_size"},
    {&Shape::experts, "--experts", "Experts of a layer", "", "", "num_local_experts",
     "num_experts"},
    {&Shape::active_experts, "--active-experts", "Experts that a token passes", "", "",
     "num_experts_per_tok", "num_experts_per_tok"},
    {&Shape::shared_intermediate, "--shared-expert",
     "Intermediate size of the expert that every token passes", "", "", "",
     "?shared_expert_intermediate_size"},
    {&Shape::learned_positions, nullptr, nullptr, "n_positions"}};

constexpr struct {
  const char* key;
  bool Shape::*member;
} config_flags[] = {{"tie_word_embeddings", &Shape::tied_embeddings},
                    {"attention_bias", &Shape::qkv_bias},
                    {"attention_bias", &Shape::output_bias},
                    {"mlp_bias", &Shape::mlp_bias}};

/// A family of models: which keys its config has, and what of its shape it does not state.
using Keys = std::string_view Number::*;
struct Family {
  std::string_view name;
  std::vector<Keys> keys = {&Number::llama};
  Shape shape{};
};
const Family families[] = {{"gpt2",
                            {&Number::gpt2},
                            {.gated_mlp = false,
                             .tied_embeddings = true,
                             .qkv_bias = true,
                             .output_bias = true,
                             .mlp_bias = true,
                             .norm_bias = true}},
                           {"llama"},
                           {"mistral"},
                           {"mixtral", {&Number::llama, &Number::mixtral}},
                           {"qwen2", {&Number::llama}, {.qkv_bias = true}},
                           {"qwen2_moe",
                            {&Number::llama, &Number::qwen_moe},
                            {.shared_expert_gate = true, .qkv_bias = true}},
                           {"qwen3", {&Number::llama}, {.qk_norm = true}},
                           {"qwen3_moe", {&Number::llama, &Number::qwen_moe}, {.qk_norm = true}}};

// --- the prediction ------------------------------------------------------------------------------

struct TransformerArguments {
  MachineFlags machine;
  std::filesystem::path config;
  double parameters = 0, active = 0;
  TransformerShape shape;
  bool plain_mlp = false;
  std::string weights = "bf16", kv = "bf16";  ///< formats, and what the load's bytes are
  TransformerLoad load;
};

/// Of a GPU's memory, what model and cache may take.
constexpr double usable = 0.9;

const std::map<std::string, double> format_bytes_per_element{
    {"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}, {"int4", 0.5}};

/// By its number of parameters, or by a shape: the config's with what flags say instead.
Transformer model_of(const TransformerArguments& a) {
  if (a.parameters > 0) return transformer_of_size(a.parameters, a.active);
  if (a.config.empty() && a.shape.layers == 0)
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a model's config.json (--config FILE), its shape "
                "(--layers, --hidden, ...), or its size (--params 8B).");
  TransformerShape shape;
  if (!a.config.empty()) shape = shape_from_config(a.config, a.load.context);
  for (const Number& number : numbers)
    if (a.shape.*number.member != 0) shape.*number.member = a.shape.*number.member;
  shape.tied_embeddings = shape.tied_embeddings || a.shape.tied_embeddings;
  if (a.plain_mlp) shape.gated_mlp = false;
  return transformer_of_shape(shape);
}

OnGpu on_gpu(const Machine& machine, const Transformer& model, const TransformerArguments& a,
             std::optional<std::int64_t> gpus) {
  OnGpu on;
  on.bandwidth = machine.bandwidth();
  // Weights of a precision that the GPU lacks, as it does 4 bits, are widened to 16 bits.
  on.precision = a.weights;
  if (a.weights == "int4" || !machine.peak(a.weights))
    on.precision = machine.peak("bf16") ? "bf16" : "fp16";
  const auto peak = machine.peak(on.precision);
  if (!peak)
    fail(ExitCode::bad_input, "The {} has no units for {}, bf16 or fp16.", machine.name, a.weights);
  on.peak = *peak;
  on.memory = machine.memory();
  on.link = machine.link();
  on.gpus_needed = gpus_needed(model, a.load, on.memory.value, usable);
  TransformerLoad load = a.load;
  load.gpus = gpus ? *gpus : on.gpus_needed.value_or(1);
  on.fits = transformer_memory(model, load).per_gpu <= usable * on.memory.value;
  on.bounds = transformer_bounds(model, load,
                                 {.bytes_per_second = on.bandwidth.value,
                                  .flops_per_second = on.peak.value,
                                  .link_bytes_per_second = on.link ? on.link->value : 0});
  return on;
}

/// Decimal, as parameters and the memory of GPUs are spoken of.
std::string gigabytes(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

void say_model(Prediction& said, const TransformerArguments& a, const Transformer& model) {
  const TransformerParameters& p = model.parameters;
  const TransformerMemory memory = transformer_memory(model, a.load);
  said.json["parameters"] = write_fields(p);
  said.json["memory"] = write_fields(memory);
  said.say("Model of {} parameters, {} of them active for a token\n", format_count(p.total),
           p.active == p.total ? "all" : format_count(p.active));
  said.say_figure("weights", gigabytes(memory.weights), a.weights);
  if (memory.kv_cache) {
    said.say_figure("KV cache", gigabytes(*memory.kv_cache),
                    fmt::format("{}, {} B a token, for {} of {} tokens", a.kv,
                                format_count(*kv_elements_per_token(model) * a.load.kv_bytes),
                                counted(a.load.batch, "sequence"), a.load.context));
    said.say_figure("activations", gigabytes(*memory.activations_per_gpu),
                    fmt::format("on each GPU, an estimate: {} tokens of the prefill at once",
                                a.load.prefill_chunk));
  } else {
    said.say_figure("KV cache", "unknown",
                    "give the model's shape (--config, or --layers, --hidden, ...)");
  }
  said.say_figure("on each GPU", gigabytes(memory.per_gpu),
                  counted(a.load.gpus, "GPU") + " in all");
}

void say_phase(Prediction& said, const char* name, const PhaseBound& phase) {
  said.say("  {:<8} at least {}, bound by {}: bytes take {}, FLOPs {}\n", name,
           format_time(phase.seconds), phase.memory_bound ? "memory" : "arithmetic",
           format_time(phase.memory_seconds), format_time(phase.compute_seconds));
  if (phase.communication_seconds)
    said.say(
        "  {:<8} not counted: all-reduces between the GPUs, at least {} if nothing hides them\n",
        "", format_time(*phase.communication_seconds));
}

void say_machine(Prediction& said, const TransformerArguments& a, const Machine& machine,
                 const OnGpu& on) {
  auto& json = said.json["gpu"] = {{"name", machine.name}, {"source", machine.source}};
  json.update(write_fields(on));
  said.say("\n{}\n", machine.origin);
  said.say_figure("bandwidth", format_bandwidth(on.bandwidth.value), on.bandwidth);
  said.say_figure(on.precision, format_quantity(on.peak.value, "FLOP/s"), on.peak);
  said.say_figure("memory", gigabytes(on.memory.value), on.memory);
  if (a.load.gpus > 1 && on.link)
    said.say_figure("link, one way", format_bandwidth(on.link->value), *on.link);
  said.say("  {} {}\n", counted(a.load.gpus, "GPU"),
           on.fits          ? "can hold it"
           : on.gpus_needed ? fmt::format("cannot hold it; it needs {}", *on.gpus_needed)
                            : "cannot hold it, nor can any number that divides its heads");
  say_phase(said, "prefill", on.bounds.prefill);
  say_phase(said, "decode", on.bounds.decode);
  said.say("  {:<8} at most {} tokens a second, {} for each sequence\n", "",
           format_number(on.bounds.tokens_per_second), format_number(1 / on.bounds.decode.seconds));
  if (on.bounds.decode_seconds_even_routing)
    said.say("  {:<8} {} a step if the batch chooses its experts evenly\n", "",
             format_time(*on.bounds.decode_seconds_even_routing));
}

/// A row for each GPU of the table: how many of them it takes.
void say_table(Prediction& said, const TransformerArguments& a, const Transformer& model) {
  said.say("\nGPUs that hold it in {} of their memory, by their data sheets:\n",
           format_percent(usable));
  constexpr auto row = "  {:<16} {:>6}  {:>9}  {:>12}  {:>12}  {:>12}\n";
  said.say(row, "GPU", "needed", "of memory", "prefill", "decode", "tokens/s");
  for (const GpuSpec& spec : gpu_table()) {
    const OnGpu on = on_gpu(Machine(spec), model, a, std::nullopt);
    if (!on.gpus_needed) continue;
    said.json["table"][std::string(spec.name)] = write_fields(on);
    said.say(row, spec.name, *on.gpus_needed, gigabytes(on.memory.value),
             format_time(on.bounds.prefill.seconds), format_time(on.bounds.decode.seconds),
             format_number(on.bounds.tokens_per_second));
  }
  said.say("Times are lower bounds on that many GPUs, tensor-parallel, communication left out.\n");
}

Prediction predict(const TransformerArguments& arguments) {
  TransformerArguments a = arguments;
  a.load.weight_bytes = format_bytes_per_element.at(a.weights);
  a.load.kv_bytes = format_bytes_per_element.at(a.kv);
  const Transformer model = model_of(a);
  Prediction said;
  say_model(said, a, model);
  if (const auto machine = machine_of(a.machine))
    say_machine(said, a, *machine, on_gpu(*machine, model, a, a.load.gpus));
  say_table(said, a, model);
  return said;
}

void add_flags(CLI::App& app, TransformerArguments& a) {
  add_machine_flags(app, a.machine);
  CLI::Option* config =
      path_flag(app, "--config", a.config, "Shape of a model: its config.json, as published");
  CLI::Option* params =
      app.add_option("--params", a.parameters, "Instead of a shape, the number of parameters: 8B")
          ->transform(model_size())
          ->type_name("N")
          ->excludes(config);
  app.add_option("--active", a.active, "Of --params, those that a token passes (default: all)")
      ->transform(model_size())
      ->type_name("N")
      ->needs(params);
  constexpr std::uint64_t largest = std::uint64_t{1} << 32;
  for (const Number& n : numbers)
    if (n.flag)
      number_flag(app, n.flag, a.shape.*n.member, n.description, 1, largest)->excludes(params);
  app.add_flag("--tied-embeddings", a.shape.tied_embeddings,
               "The output projection is the embedding table")
      ->excludes(params);
  app.add_flag("--plain-mlp", a.plain_mlp, "The MLP is not gated: two matrices instead of three")
      ->excludes(params);
  std::vector<std::string> formats;
  for (const auto& [name, bytes] : format_bytes_per_element) formats.push_back(name);
  word_flag(app, "--weights", a.weights, "Format of the weights: fp32, bf16, ..., int4", formats);
  word_flag(app, "--kv", a.kv, "Format of the KV cache", formats);
  TransformerLoad& load = a.load;
  number_flag(app, "--context", load.context, "Tokens of a sequence, prompt and answer", 1,
              largest);
  number_flag(app, "--prompt", load.prompt, "Those of the prompt (default: all)", 1, largest);
  number_flag(app, "--batch", load.batch, "Sequences at once", 1, largest);
  number_flag(app, "--gpus", load.gpus, "GPUs of --gpu or --result, tensor-parallel", 1, largest);
  app.footer(
      "Times are lower bounds: every weight that a token needs is read once, 2 FLOPs a weight and "
      "token plus attention's, all overlapping in full. The arithmetic is of the weights' "
      "precision where the GPU has it, else bf16 or fp16.\n\n"
      "Examples:\n"
      "  fathom predict transformer --params 70B --weights fp8 --gpu H200\n"
      "  fathom predict transformer --config config.json --context 32768 --batch 16 --gpu H200\n"
      "  fathom predict transformer --config config.json --result result.json --gpus 4\n"
      "  fathom predict transformer --layers 32 --hidden 4096 --heads 32 --kv-heads 8 \\\n"
      "      --vocab 128256 --intermediate 14336 --weights int4 --json\n");
}

}  // namespace

models::TransformerShape shape_from_config(const std::filesystem::path& file,
                                           std::int64_t context) {
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
  const auto value = [&](const std::string& key) { return config.value(key, nlohmann::json()); };

  const auto* family = std::ranges::find(families, value("model_type"), &Family::name);
  if (family == std::end(families))
    refuse(fmt::format("its model_type {} is none of {}: give --layers, --hidden, ... instead",
                       value("model_type").dump(),
                       fmt::join(families | std::views::transform(&Family::name), ", ")));
  Shape shape = family->shape;
  for (const Keys keys : family->keys)
    for (const Number& number : numbers) {
      std::string key(number.*keys);
      const bool needed = !key.starts_with('?');
      if (!needed) key.erase(0, 1);
      const auto found = value(key);
      if (key.empty() || (found.is_null() && !needed)) continue;
      if (!found.is_number_integer()) refuse(fmt::format("it has no whole number `{}`", key));
      shape.*number.member = found;
    }
  for (const auto& [key, member] : config_flags) {
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

Command transformer_prediction() {
  return prediction<TransformerArguments>(
      "transformer", "Memory, GPUs and least time that a language model needs", add_flags, predict);
}

}  // namespace fathom
