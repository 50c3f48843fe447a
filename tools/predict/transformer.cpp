#include "models/transformer.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <tuple>

#include "models/gpu_table.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "tools/predict/predict_command.h"
#include "tools/predict/quantity.h"
#include "tools/predict/transformer_answer.h"
#include "tools/predict/transformer_config.h"

namespace fathom {
namespace {

using namespace models;

struct TransformerArguments {
  MachineFlags machine;
  double parameters = 0, active = 0;
  std::filesystem::path config;
  TransformerShape shape;  ///< as far as flags give it
  bool plain_mlp = false;
  TransformerFormats formats;
  std::string compute;  ///< empty: as the weights, or what the GPU has
  TransformerLoad load;
  double usable = 90;  ///< percent
  bool json = false;
};

const std::map<std::string, double> format_bytes_per_element{
    {"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"int8", 1}, {"int4", 0.5}};

struct NumberFlag {
  const char* flag;
  std::int64_t TransformerShape::*field;
  const char* description;
};

constexpr NumberFlag number_flags[] = {
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

struct SwitchFlag {
  const char* flag;
  bool TransformerShape::*field;
  const char* description;
};

constexpr SwitchFlag switch_flags[] = {
    {"--tied-embeddings", &TransformerShape::tied_embeddings,
     "The output projection is the embedding table"},
    {"--qkv-bias", &TransformerShape::qkv_bias, "Queries, keys and values have biases"}};

bool gives_shape(const TransformerArguments& a) {
  for (const auto& flag : number_flags)
    if (a.shape.*flag.field != 0) return true;
  for (const auto& flag : switch_flags)
    if (a.shape.*flag.field) return true;
  return a.plain_mlp;
}

/// The config's shape with what flags say instead.
TransformerShape merged(const TransformerArguments& a) {
  TransformerShape shape;
  if (!a.config.empty()) {
    const ConfiguredModel model = model_from_config(a.config);
    shape = model.shape;
    if (model.window && *model.window < a.load.context)
      fail(ExitCode::bad_input,
           "{}: its attention looks back {} tokens only, which the model of a context of {} does "
           "not know: give --context {} or less.",
           a.config.string(), *model.window, a.load.context, *model.window);
  }
  for (const auto& flag : number_flags)
    if (a.shape.*flag.field != 0) shape.*flag.field = a.shape.*flag.field;
  for (const auto& flag : switch_flags)
    if (a.shape.*flag.field) shape.*flag.field = true;
  if (a.plain_mlp) shape.gated_mlp = false;
  return shape;
}

Transformer model_of(const TransformerArguments& a) {
  const bool shaped = gives_shape(a) || !a.config.empty();
  if (a.parameters > 0 && shaped)
    throw Error(ExitCode::bad_input,
                "--params is for a model whose shape is unknown: give it or the shape, not both.");
  if (a.active > 0 && a.parameters == 0)
    throw Error(ExitCode::bad_input,
                "--active is of the model of --params; a shape's active parameters follow from "
                "--active-experts.");
  if (shaped) return transformer_of_shape(merged(a));
  if (a.parameters > 0) return transformer_of_size(a.parameters, a.active);
  throw Error(ExitCode::bad_input,
              "Nothing to predict: give a model's config.json (--config FILE), its shape "
              "(--layers, --hidden, ...), or its size (--params 8B).");
}

/// The peak of the precision asked for, or of the weights' own; where the GPU lacks that, or has
/// none for 4 bits, of the 16-bit formats that weights are widened to.
std::pair<std::string, MachineFigure> peak_of(const Machine& machine,
                                              const TransformerArguments& a) {
  if (!a.compute.empty()) {
    if (const auto peak = machine.peak(a.compute)) return {a.compute, *peak};
    fail(ExitCode::bad_input, "The {} has no units for {}: choose another --compute.",
         machine.name(), a.compute);
  }
  std::vector<std::string> choices{"bf16", "fp16"};
  if (a.formats.weights != "int4") choices.insert(choices.begin(), a.formats.weights);
  for (const auto& precision : choices) {
    if (const auto peak = machine.peak(precision)) return {precision, *peak};
  }
  fail(ExitCode::bad_input, "The {} has no units for {}, bf16 or fp16: choose another --compute.",
       machine.name(), a.formats.weights);
}

TransformerOnGpu on_gpu(const Machine& machine, const Transformer& model,
                        const TransformerArguments& a, std::optional<std::int64_t> gpus) {
  TransformerOnGpu on;
  on.bandwidth = machine.bandwidth(Direction::read);
  std::tie(on.precision, on.peak) = peak_of(machine, a);
  on.memory = machine.memory();
  on.link = machine.link();
  const double usable = a.usable / 100;
  on.needed = gpus_needed(model, a.load, on.memory.value, usable);
  TransformerLoad load = a.load;
  load.gpus = gpus ? *gpus : on.needed.value_or(1);
  on.fits = transformer_memory(model, load).per_gpu <= usable * on.memory.value;
  on.bounds = transformer_bounds(model, load,
                                 {.bytes_per_second = on.bandwidth.value,
                                  .flops_per_second = on.peak.value,
                                  .link_bytes_per_second = on.link ? on.link->value : 0});
  return on;
}

ExitCode predict(const TransformerArguments& given) {
  TransformerArguments a = given;
  a.load.weight_bytes = format_bytes_per_element.at(a.formats.weights);
  a.load.kv_bytes = format_bytes_per_element.at(a.formats.kv);
  TransformerAnswer answer{.model = model_of(a), .load = a.load, .formats = a.formats};
  answer.usable = a.usable / 100;
  answer.memory = transformer_memory(answer.model, answer.load);
  answer.machine = machine_of(a.machine);
  if (answer.machine) answer.on = on_gpu(*answer.machine, answer.model, a, a.load.gpus);
  for (const GpuSpec& gpu : gpu_table()) {
    const Machine machine(gpu);
    if (!a.compute.empty() && !machine.peak(a.compute)) {
      answer.without_units.emplace_back(gpu.name);
      continue;
    }
    TransformerRow row{.gpu = std::string(gpu.name)};
    TransformerOnGpu on = on_gpu(machine, answer.model, a, std::nullopt);
    if (on.needed) row.on = std::move(on);
    answer.table.push_back(std::move(row));
  }
  if (a.json) return print_json(to_json(answer));
  print_text(answer);
  return ExitCode::ok;
}

void add_flags(CLI::App& app, TransformerArguments& a) {
  add_machine_flags(app, a.machine);
  path_flag(app, "--config", a.config, "Shape of a model: its config.json, as published");
  app.add_option("--params", a.parameters, "Instead of a shape, the number of parameters: 8B")
      ->transform(model_size())
      ->type_name("N");
  app.add_option("--active", a.active, "Of --params, those that a token passes (default: all)")
      ->transform(model_size())
      ->type_name("N");
  constexpr std::uint64_t largest = std::uint64_t{1} << 32;
  for (const auto& flag : number_flags)
    number_flag(app, flag.flag, a.shape.*flag.field, flag.description, 1, largest);
  for (const auto& flag : switch_flags)
    app.add_flag(flag.flag, a.shape.*flag.field, flag.description);
  app.add_flag("--plain-mlp", a.plain_mlp, "The MLP is not gated: two matrices instead of three");

  std::vector<std::string> formats;
  for (const auto& [name, bytes] : format_bytes_per_element) formats.push_back(name);
  word_flag(app, "--weights", a.formats.weights, "Format of the weights: fp32, bf16, ..., int4",
            formats)
      ->capture_default_str();
  word_flag(app, "--kv", a.formats.kv, "Format of the KV cache", formats)->capture_default_str();
  word_flag(app, "--compute", a.compute,
            "Precision of the arithmetic (default: of the weights where the GPU has it, else bf16 "
            "or fp16)",
            precisions());
  TransformerLoad& load = a.load;
  number_flag(app, "--context", load.context, "Tokens of a sequence, prompt and answer", 1, largest)
      ->capture_default_str();
  number_flag(app, "--prompt", load.prompt, "Those of the prompt (default: all)", 1, largest);
  number_flag(app, "--batch", load.batch, "Sequences at once", 1, largest)->capture_default_str();
  number_flag(app, "--gpus", load.gpus, "GPUs of --gpu or --result, tensor-parallel", 1, largest)
      ->capture_default_str();
  number_flag(app, "--chunk", load.prefill_chunk,
              "Tokens of the prefill at once, for the activations", 1, largest)
      ->capture_default_str();
  number_flag(app, "--usable", a.usable,
              "Share of a GPU's memory that model and cache may take, in %", 1, 100, "PERCENT")
      ->capture_default_str();
  app.add_flag("--json", a.json, "Print the prediction as JSON");
  app.footer(
      "Times are lower bounds: every weight that a token needs is read once, 2 FLOPs a weight and "
      "token plus attention's, all overlapping in full.\n\n"
      "Examples:\n"
      "  fathom predict transformer --params 70B --weights fp8 --gpu H200\n"
      "  fathom predict transformer --config config.json --context 32768 --batch 16 --gpu H200\n"
      "  fathom predict transformer --config config.json --result result.json --gpus 4\n"
      "  fathom predict transformer --layers 32 --hidden 4096 --heads 32 --kv-heads 8 \\\n"
      "      --vocab 128256 --intermediate 14336 --weights int4 --json\n");
}

}  // namespace

AddCommand transformer_prediction() {
  return with_arguments<TransformerArguments>(add_flags, predict);
}

}  // namespace fathom
