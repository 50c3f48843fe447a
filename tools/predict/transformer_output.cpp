#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "results/format.h"
#include "results/json_values.h"
#include "tools/predict/transformer_answer.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;
using namespace models;

Json to_json(const MachineFigure& figure) {
  return {{"value", figure.value}, {"origin", figure.origin}, {"source", figure.source}};
}

Json to_json(const PhaseBound& phase) {
  return {{"flops", phase.flops},
          {"bytes", phase.bytes},
          {"compute_seconds", phase.compute_seconds},
          {"memory_seconds", phase.memory_seconds},
          {"seconds", phase.seconds},
          {"bound_by", phase.memory_bound ? "memory" : "arithmetic"},
          {"communication_seconds", or_null(phase.communication_seconds)}};
}

Json to_json(const TransformerBounds& bounds) {
  return {{"prefill", to_json(bounds.prefill)},
          {"decode", to_json(bounds.decode)},
          {"tokens_per_second", bounds.tokens_per_second},
          {"decode_seconds_even_routing", or_null(bounds.decode_seconds_even_routing)}};
}

Json to_json(const Transformer& model) {
  const TransformerParameters& p = model.parameters;
  return {{"parameters", p.total},
          {"active_parameters", p.active},
          {"multiplied_parameters", p.multiplied},
          {"kv_elements_per_token", or_null(kv_elements_per_token(model))}};
}

Json to_json(const TransformerOnGpu& on) {
  return {{"bandwidth", to_json(on.bandwidth)},
          {"peak", to_json(on.peak)},
          {"precision", on.precision},
          {"memory", to_json(on.memory)},
          {"link", on.link ? to_json(*on.link) : Json(nullptr)},
          {"fits", on.fits},
          {"gpus_needed", or_null(on.needed)},
          {"bounds", to_json(on.bounds)}};
}

/// Decimal, as parameters and the memory of GPUs are spoken of.
std::string gigabytes(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

void print_model(const TransformerAnswer& a) {
  const TransformerParameters& p = a.model.parameters;
  fmt::print("Model of {} parameters", format_count(p.total));
  if (p.active != p.total) fmt::print(", {} of them active for a token", format_count(p.active));
  fmt::print("\n");
  fmt::print("  {:<13} {:>10}  {}\n", "weights", gigabytes(a.memory.weights), a.formats.weights);
  if (a.memory.kv_cache)
    fmt::print("  {:<13} {:>10}  {}, {} B a token, for {} of {} tokens\n", "KV cache",
               gigabytes(*a.memory.kv_cache), a.formats.kv,
               format_count(*kv_elements_per_token(a.model) * a.load.kv_bytes),
               counted(a.load.batch, "sequence"), a.load.context);
  else
    fmt::print("  {:<13} {:>10}  give the model's shape (--config, or --layers, --hidden, ...)\n",
               "KV cache", "unknown");
  if (a.memory.activations_per_gpu)
    fmt::print("  {:<13} {:>10}  on each GPU, an estimate: {} tokens of the prefill at once\n",
               "activations", gigabytes(*a.memory.activations_per_gpu), a.load.prefill_chunk);
  fmt::print("  {:<13} {:>10}  on {}\n", "in all", gigabytes(a.memory.per_gpu),
             a.load.gpus == 1 ? "one GPU" : fmt::format("each of {} GPUs", a.load.gpus));
}

void print_phase(const char* name, const PhaseBound& phase) {
  fmt::print("  {:<8} at least {}, bound by {}: bytes take {}, FLOPs {}\n", name,
             format_time(phase.seconds), phase.memory_bound ? "memory" : "arithmetic",
             format_time(phase.memory_seconds), format_time(phase.compute_seconds));
  if (phase.communication_seconds)
    fmt::print(
        "  {:<8} not counted: all-reduces between the GPUs, at least {} if nothing hides them\n",
        "", format_time(*phase.communication_seconds));
}

void print_machine(const TransformerAnswer& a) {
  const TransformerOnGpu& on = *a.on;
  fmt::print("\n{}\n", a.machine->origin());
  const auto line = [](const char* name, const std::string& value, const MachineFigure& figure) {
    fmt::print("  {:<13} {:>15}  {}: {}\n", name, value, figure.origin, figure.source);
  };
  line("bandwidth", format_bandwidth(on.bandwidth.value), on.bandwidth);
  line(on.precision.c_str(), format_quantity(on.peak.value, "FLOP/s"), on.peak);
  line("memory", gigabytes(on.memory.value), on.memory);
  if (a.load.gpus > 1 && on.link) line("link, one way", format_bandwidth(on.link->value), *on.link);
  fmt::print("  {} {} it{}\n", a.load.gpus == 1 ? "one GPU" : counted(a.load.gpus, "GPU"),
             on.fits ? "can hold" : "cannot hold",
             on.fits      ? std::string()
             : !on.needed ? ", nor can any number of them that divides its heads"
                          : fmt::format("; it needs {}", *on.needed));
  print_phase("prefill", on.bounds.prefill);
  print_phase("decode", on.bounds.decode);
  fmt::print("  {:<8} at most {} tokens a second, {} for each sequence\n", "",
             format_number(on.bounds.tokens_per_second),
             format_number(1 / on.bounds.decode.seconds));
  if (on.bounds.decode_seconds_even_routing)
    fmt::print("  {:<8} {} a step if the batch chooses its experts evenly\n", "",
               format_time(*on.bounds.decode_seconds_even_routing));
}

void print_table(const TransformerAnswer& a) {
  fmt::print("\nGPUs that hold it in {} of their memory, by their data sheets:\n",
             format_percent(a.usable));
  fmt::print("  {:<16} {:>6}  {:>9}  {:>12}  {:>12}  {:>12}\n", "GPU", "needed", "of memory",
             "prefill", "decode", "tokens/s");
  for (const auto& [gpu, on] : a.table) {
    if (!on) {
      fmt::print("  {:<16} {:>6}\n", gpu, "none");
      continue;
    }
    fmt::print("  {:<16} {:>6}  {:>9}  {:>12}  {:>12}  {:>12}\n", gpu, *on->needed,
               gigabytes(on->memory.value), format_time(on->bounds.prefill.seconds),
               format_time(on->bounds.decode.seconds), format_number(on->bounds.tokens_per_second));
  }
  if (!a.without_units.empty())
    fmt::print("Left out, since they have no units for the precision asked for: {}\n",
               fmt::join(a.without_units, ", "));
  fmt::print(
      "Times are lower bounds on that many GPUs, tensor-parallel, communication left out.\n");
}

}  // namespace

Json to_json(const TransformerAnswer& a) {
  Json table = Json::array();
  for (const auto& [gpu, on] : a.table) {
    Json row{{"gpu", gpu}};
    if (on)
      row.update(to_json(*on));
    else
      row["gpus_needed"] = nullptr;
    table.push_back(std::move(row));
  }
  Json gpu = nullptr;
  if (a.on) {
    gpu = Json{{"name", a.machine->name()}, {"source", a.machine->source()}};
    gpu.update(to_json(*a.on));
  }
  return {{"model", to_json(a.model)},
          {"weights_format", a.formats.weights},
          {"kv_format", a.formats.kv},
          {"context", a.load.context},
          {"prompt", a.load.prompt == 0 ? a.load.context : a.load.prompt},
          {"batch", a.load.batch},
          {"gpus", a.load.gpus},
          {"prefill_chunk", a.load.prefill_chunk},
          {"usable_share", a.usable},
          {"memory",
           {{"weights", a.memory.weights},
            {"kv_cache", or_null(a.memory.kv_cache)},
            {"weights_per_gpu", a.memory.weights_per_gpu},
            {"kv_cache_per_gpu", or_null(a.memory.kv_cache_per_gpu)},
            {"activations_per_gpu", or_null(a.memory.activations_per_gpu)},
            {"per_gpu", a.memory.per_gpu}}},
          {"gpu", std::move(gpu)},
          {"table", std::move(table)},
          {"without_units", a.without_units}};
}

void print_text(const TransformerAnswer& answer) {
  print_model(answer);
  if (answer.on) print_machine(answer);
  print_table(answer);
}

}  // namespace fathom
