#include "models/roofline.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tuple>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/strict_json.h"
#include "tools/predict/machine.h"
#include "tools/predict/predict_command.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;
using namespace models;

struct RooflineArguments {
  MachineFlags machine;
  std::string precision = "fp32";
  std::optional<double> flops, bytes;
  std::vector<std::uint64_t> gemm;  ///< m, n, k
};

/// Bytes of an operand's element, and of a result's where it is wider.
std::pair<double, double> element_bytes(const std::string& precision) {
  if (precision.starts_with("fp64")) return {8, 8};
  if (precision == "fp32" || precision == "tf32") return {4, 4};
  if (precision == "fp8") return {1, 2};
  if (precision == "int8") return {1, 4};
  return {2, 2};
}

/// What the kernel does, if there is one.
std::optional<RooflineKernel> kernel_of(const RooflineArguments& arguments) {
  if (!arguments.gemm.empty()) {
    const auto [input, output] = element_bytes(arguments.precision);
    const MatrixProduct product{.m = static_cast<double>(arguments.gemm[0]),
                                .n = static_cast<double>(arguments.gemm[1]),
                                .k = static_cast<double>(arguments.gemm[2]),
                                .input_bytes = input,
                                .output_bytes = output};
    return RooflineKernel{matrix_product_flops(product), {{"DRAM", matrix_product_bytes(product)}}};
  }
  if (!arguments.flops && !arguments.bytes) return std::nullopt;
  return RooflineKernel{arguments.flops.value_or(0), {{"DRAM", arguments.bytes.value_or(0)}}};
}

void say_line(Prediction& said, const std::string& name, const std::string& figure,
              const std::string& note) {
  said.say("  {:<12} {:>16}  {}\n", name, figure, note);
}

/// Where a kernel lands: says it as text; as JSON it is a member of the answer.
Json say_kernel(Prediction& said, const RooflineKernel& kernel, const MemoryCeiling& memory,
                const ComputeCeiling& compute) {
  const Roofline r = roofline({memory}, compute, kernel);
  const RooflineLevel& dram = r.levels.front();
  said.say("\nKernel of {:.4g} FLOP: at least {}, bound by {}\n", kernel.flops,
           format_time(r.seconds), r.bound_by);
  say_line(said, compute.name, "", "at least " + format_time(r.compute_seconds));
  say_line(said, "DRAM", dram.intensity ? format_number(*dram.intensity) + " FLOP/B" : "no traffic",
           fmt::format("at least {}; {} moved, attainable {}", format_time(dram.seconds),
                       format_bytes(dram.bytes), format_quantity(dram.attainable, "FLOP/s")));
  say_line(said, "attainable", format_quantity(r.attainable, "FLOP/s"),
           format_percent(r.attainable / compute.flops_per_second) + " of the peak");
  const Json level{{"name", dram.name},
                   {"bytes", dram.bytes},
                   {"intensity", or_null(dram.intensity)},
                   {"ridge_point", dram.ridge},
                   {"attainable_flops_per_second", dram.attainable},
                   {"seconds", dram.seconds}};
  return {{"levels", Json::array({level})}, {"compute_seconds", r.compute_seconds},
          {"seconds", r.seconds},           {"attainable_flops_per_second", r.attainable},
          {"bound_by", r.bound_by},         {"memory_bound", r.memory_bound}};
}

Prediction predict(const RooflineArguments& arguments) {
  const auto machine = machine_of(arguments.machine);
  if (!machine)
    throw Error(ExitCode::bad_input,
                "A roofline is of a GPU: give --gpu NAME, or --result FILE for a measured one.");
  const std::string& precision = arguments.precision;
  const auto peak = machine->peak(precision);
  if (!peak)
    fail(ExitCode::bad_input, "The {} has no units for {}: choose another --precision.",
         machine->name(), precision);
  const MachineFigure bandwidth = machine->bandwidth();
  const MemoryCeiling memory{"DRAM", bandwidth.value, bandwidth.source};
  const ComputeCeiling compute{precision, peak->value, peak->source};
  const double ridge = ridge_point(memory, compute);
  const auto kernel = kernel_of(arguments);

  Prediction said{.text = machine->origin() + "\n"};
  Json ceilings = Json::array();
  for (const auto& [name, unit, figure] :
       {std::tuple<std::string, std::string, MachineFigure>{"DRAM", "B/s", bandwidth},
        {precision, precision == "int8" ? "op/s" : "FLOP/s", *peak}}) {
    ceilings.push_back({{"name", name},
                        {"value", figure.value},
                        {"unit", unit},
                        {"origin", figure.origin},
                        {"source", figure.source}});
    say_line(said, name, format_quantity(figure.value, unit), figure.origin + ": " + figure.source);
  }
  say_line(said, "ridge point", format_number(ridge) + " FLOP/B",
           fmt::format("below it DRAM bounds, above it {}", precision));
  said.json = {{"gpu", machine->name()},
               {"source", machine->source()},
               {"precision", precision},
               {"ceilings", ceilings},
               {"ridge_points", {{"DRAM", ridge}}},
               {"flops", kernel ? Json(kernel->flops) : Json(nullptr)},
               {"prediction", kernel ? say_kernel(said, *kernel, memory, compute) : Json()}};
  return said;
}

void add_flags(CLI::App& app, RooflineArguments& arguments) {
  add_machine_flags(app, arguments.machine);
  word_flag(app, "--precision", arguments.precision,
            "Arithmetic: fp64 and fp32 of the CUDA cores, fp64-tensor, tf32, fp16, bf16, fp8, int8 "
            "of the tensor cores",
            precisions());
  auto* flops = app.add_option("--flops", arguments.flops, "FLOPs of the kernel: 137e9, 137G")
                    ->transform(quantity("FLOP"))
                    ->type_name("N");
  auto* bytes = app.add_option("--bytes", arguments.bytes,
                               "Bytes that it moves through DRAM, read and written: 2e9, 2GiB")
                    ->transform(quantity("B"))
                    ->type_name("N");
  number_flag(app, "--gemm", arguments.gemm,
              "Instead of both, a matrix product of M x K by K x N that moves each operand once", 1,
              std::uint64_t{1} << 40, "M N K")
      ->expected(3)
      ->excludes(flops)
      ->excludes(bytes);
  app.footer(
      "Times are lower bounds: memory and arithmetic overlap in full.\n\n"
      "Examples:\n"
      "  fathom predict roofline --gpu H200 --precision bf16\n"
      "  fathom predict roofline --gpu \"RTX 4090\" --flops 1G --bytes 8GB\n"
      "  fathom predict roofline --result recordings/h200/result.json --gemm 4096 4096 4096\n");
}

}  // namespace

Command roofline_prediction() {
  return prediction<RooflineArguments>("roofline", "What bounds a kernel of given bytes and FLOPs",
                                       add_flags, predict);
}

}  // namespace fathom
