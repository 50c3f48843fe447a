#include "models/transformer.h"

#include <CLI/CLI.hpp>
#include <map>
#include <tuple>

#include "results/fail.h"
#include "results/fields.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/predict/predict.h"

namespace fathom {
namespace {

using namespace models;
using Json = nlohmann::ordered_json;

struct TransformerArguments {
  MachineFlags machine;
  std::filesystem::path config;
  double parameters = 0, active = 0;
  TransformerShape shape;
  bool plain_mlp = false;
  std::string weights = "bf16", kv = "bf16";  ///< formats, and what the load's bytes are
  TransformerLoad load;
  double usable = 90;  ///< percent
};

/// What a GPU's figures make of the load.
struct OnGpu {
  MachineFigure bandwidth, peak, memory;
  std::string precision;  ///< of the arithmetic
  std::optional<MachineFigure> link;
  TransformerBounds bounds;  ///< on the load's number of GPUs
  bool fits = false;
  std::optional<std::int64_t> gpus_needed;  ///< empty: no number of them is enough
};

const std::map<std::string, double> format_bytes_per_element{
    {"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}, {"int4", 0.5}};

constexpr struct {
  const char* flag;
  std::int64_t TransformerShape::*field;
  const char* description;
} number_flags[] = {
    {"--layers", &TransformerShape::layers, "Layers"},
    {"--hidden", &TransformerShape::hidden, "Hidden size"},
    {"--heads", &TransformerShape::heads, "Attention heads"},
    {"--kv-heads", &TransformerShape::kv_heads, "KV heads (default: as many as heads)"},
    {"--head-dim", &TransformerShape::head_dim, "Size of a head (default: hidden / heads)"},
    {"--vocab", &TransformerShape::vocabulary, "Vocabulary"},
    {"--intermediate", &TransformerShape::intermediate,
     "Intermediate size of the MLP, or of one expert (default: 4 x hidden)"},
    {"--experts", &TransformerShape::experts, "Experts of a layer"},
    {"--active-experts", &TransformerShape::active_experts, "Experts that a token passes"},
    {"--shared-expert", &TransformerShape::shared_intermediate,
     "Intermediate size of the expert that every token passes"}};

/// By its number of parameters, or by a shape: the config's with what flags say instead.
Transformer model_of(const TransformerArguments& a) {
  if (a.parameters > 0) return transformer_of_size(a.parameters, a.active);
  if (a.config.empty() && a.shape.layers == 0)
    throw Error(ExitCode::bad_input,
                "Nothing to predict: give a model's config.json (--config FILE), its shape "
                "(--layers, --hidden, ...), or its size (--params 8B).");
  TransformerShape shape;
  if (!a.config.empty()) shape = shape_from_config(a.config, a.load.context);
  for (const auto& [flag, field, description] : number_flags)
    if (a.shape.*field != 0) shape.*field = a.shape.*field;
  shape.tied_embeddings = shape.tied_embeddings || a.shape.tied_embeddings;
  shape.qkv_bias = shape.qkv_bias || a.shape.qkv_bias;
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
  const double usable = a.usable / 100;
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

const char* bound_by(const PhaseBound& phase) {
  return phase.memory_bound ? "memory" : "arithmetic";
}

Json to_json(const MachineFigure& figure) {
  return {{"value", figure.value}, {"origin", figure.origin}, {"source", figure.source}};
}

Json to_json(const PhaseBound& phase) {
  return {{"flops", phase.flops},
          {"bytes", phase.bytes},
          {"compute_seconds", phase.compute_seconds},
          {"memory_seconds", phase.memory_seconds},
          {"seconds", phase.seconds},
          {"bound_by", bound_by(phase)},
          {"communication_seconds", or_null(phase.communication_seconds)}};
}

Json to_json(const OnGpu& on) {
  return {{"bandwidth", to_json(on.bandwidth)},
          {"peak", to_json(on.peak)},
          {"precision", on.precision},
          {"memory", to_json(on.memory)},
          {"link", on.link ? to_json(*on.link) : Json(nullptr)},
          {"fits", on.fits},
          {"gpus_needed", or_null(on.gpus_needed)},
          {"bounds",
           {{"prefill", to_json(on.bounds.prefill)},
            {"decode", to_json(on.bounds.decode)},
            {"tokens_per_second", on.bounds.tokens_per_second},
            {"decode_seconds_even_routing", or_null(on.bounds.decode_seconds_even_routing)}}}};
}

/// Decimal, as parameters and the memory of GPUs are spoken of.
std::string gigabytes(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

void say_model(Prediction& said, const TransformerArguments& a, const Transformer& model) {
  const TransformerParameters& p = model.parameters;
  const TransformerMemory memory = transformer_memory(model, a.load);
  const auto kv_elements = kv_elements_per_token(model);
  said.say("Model of {} parameters", format_count(p.total));
  if (p.active != p.total) said.say(", {} of them active for a token", format_count(p.active));
  said.say("\n");
  const auto line = [&](const char* name, std::optional<double> bytes, const std::string& note) {
    said.say("  {:<13} {:>10}  {}\n", name, bytes ? gigabytes(*bytes) : "unknown", note);
  };
  line("weights", memory.weights, a.weights);
  line("KV cache", memory.kv_cache,
       memory.kv_cache ? fmt::format("{}, {} B a token, for {} of {} tokens", a.kv,
                                     format_count(*kv_elements * a.load.kv_bytes),
                                     counted(a.load.batch, "sequence"), a.load.context)
                       : "give the model's shape (--config, or --layers, --hidden, ...)");
  if (memory.activations_per_gpu)
    line("activations", memory.activations_per_gpu,
         fmt::format("on each GPU, an estimate: {} tokens of the prefill at once",
                     a.load.prefill_chunk));
  line("in all", memory.per_gpu,
       a.load.gpus == 1 ? "on one GPU" : fmt::format("on each of {} GPUs", a.load.gpus));
  said.json = {{"model",
                {{"parameters", p.total},
                 {"active_parameters", p.active},
                 {"multiplied_parameters", p.multiplied},
                 {"kv_elements_per_token", or_null(kv_elements)}}},
               {"weights_format", a.weights},
               {"kv_format", a.kv},
               {"context", a.load.context},
               {"prompt", a.load.prompt},
               {"batch", a.load.batch},
               {"gpus", a.load.gpus},
               {"prefill_chunk", a.load.prefill_chunk},
               {"usable_share", a.usable / 100},
               {"memory",
                {{"weights", memory.weights},
                 {"kv_cache", or_null(memory.kv_cache)},
                 {"weights_per_gpu", memory.weights_per_gpu},
                 {"kv_cache_per_gpu", or_null(memory.kv_cache_per_gpu)},
                 {"activations_per_gpu", or_null(memory.activations_per_gpu)},
                 {"per_gpu", memory.per_gpu}}}};
}

void say_phase(Prediction& said, const char* name, const PhaseBound& phase) {
  said.say("  {:<8} at least {}, bound by {}: bytes take {}, FLOPs {}\n", name,
           format_time(phase.seconds), bound_by(phase), format_time(phase.memory_seconds),
           format_time(phase.compute_seconds));
  if (phase.communication_seconds)
    said.say(
        "  {:<8} not counted: all-reduces between the GPUs, at least {} if nothing hides them\n",
        "", format_time(*phase.communication_seconds));
}

void say_machine(Prediction& said, const TransformerArguments& a, const Machine& machine,
                 const OnGpu& on) {
  said.say("\n{}\n", machine.origin);
  const auto line = [&](const char* name, const std::string& value, const MachineFigure& figure) {
    said.say("  {:<13} {:>15}  {}: {}\n", name, value, figure.origin, figure.source);
  };
  line("bandwidth", format_bandwidth(on.bandwidth.value), on.bandwidth);
  line(on.precision.c_str(), format_quantity(on.peak.value, "FLOP/s"), on.peak);
  line("memory", gigabytes(on.memory.value), on.memory);
  if (a.load.gpus > 1 && on.link) line("link, one way", format_bandwidth(on.link->value), *on.link);
  said.say("  {} {} it{}\n", a.load.gpus == 1 ? "one GPU" : counted(a.load.gpus, "GPU"),
           on.fits ? "can hold" : "cannot hold",
           on.fits           ? std::string()
           : !on.gpus_needed ? ", nor can any number of them that divides its heads"
                             : fmt::format("; it needs {}", *on.gpus_needed));
  say_phase(said, "prefill", on.bounds.prefill);
  say_phase(said, "decode", on.bounds.decode);
  said.say("  {:<8} at most {} tokens a second, {} for each sequence\n", "",
           format_number(on.bounds.tokens_per_second), format_number(1 / on.bounds.decode.seconds));
  if (on.bounds.decode_seconds_even_routing)
    said.say("  {:<8} {} a step if the batch chooses its experts evenly\n", "",
             format_time(*on.bounds.decode_seconds_even_routing));
  Json& gpu = said.json["gpu"] = {{"name", machine.name}, {"source", machine.source}};
  gpu.update(to_json(on));
}

/// A row for each GPU of the table: how many of them it takes.
void say_table(Prediction& said, const TransformerArguments& a, const Transformer& model) {
  said.say("\nGPUs that hold it in {} of their memory, by their data sheets:\n",
           format_percent(a.usable / 100));
  const auto say_row = [&](const auto&... cells) {
    said.say("  {:<16} {:>6}  {:>9}  {:>12}  {:>12}  {:>12}\n", cells...);
  };
  say_row("GPU", "needed", "of memory", "prefill", "decode", "tokens/s");
  for (const GpuSpec& spec : gpu_table()) {
    const OnGpu on = on_gpu(Machine(spec), model, a, std::nullopt);
    Json& row = said.json["table"].emplace_back(Json{{"gpu", spec.name}});
    row.update(on.gpus_needed ? to_json(on) : Json{{"gpus_needed", nullptr}});
    if (on.gpus_needed)
      say_row(spec.name, *on.gpus_needed, gigabytes(on.memory.value),
              format_time(on.bounds.prefill.seconds), format_time(on.bounds.decode.seconds),
              format_number(on.bounds.tokens_per_second));
    else
      said.say("  {:<16} {:>6}\n", spec.name, "none");
  }
  said.say("Times are lower bounds on that many GPUs, tensor-parallel, communication left out.\n");
}

Prediction predict(TransformerArguments a) {
  a.load.weight_bytes = format_bytes_per_element.at(a.weights);
  a.load.kv_bytes = format_bytes_per_element.at(a.kv);
  if (a.load.prompt == 0) a.load.prompt = a.load.context;
  const Transformer model = model_of(a);
  Prediction said;
  say_model(said, a, model);
  said.json["gpu"] = nullptr;
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
  for (const auto& [flag, field, description] : number_flags)
    number_flag(app, flag, a.shape.*field, description, 1, largest)->excludes(params);
  for (const auto& [flag, value, description] :
       {std::tuple{"--tied-embeddings", &a.shape.tied_embeddings,
                   "The output projection is the embedding table"},
        {"--qkv-bias", &a.shape.qkv_bias, "Queries, keys and values have biases"},
        {"--plain-mlp", &a.plain_mlp, "The MLP is not gated: two matrices instead of three"}})
    app.add_flag(flag, *value, description)->excludes(params);

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
  number_flag(app, "--chunk", load.prefill_chunk,
              "Tokens of the prefill at once, for the activations", 1, largest);
  number_flag(app, "--usable", a.usable,
              "Share of a GPU's memory that model and cache may take, in %", 1, 100, "PERCENT");
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

Command transformer_prediction() {
  return prediction<TransformerArguments>(
      "transformer", "Memory, GPUs and least time that a language model needs", add_flags, predict);
}

}  // namespace fathom
