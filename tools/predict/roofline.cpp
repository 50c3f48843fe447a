#include "models/roofline.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/json_values.h"
#include "tools/predict/machine.h"
#include "tools/predict/predict_command.h"
#include "tools/predict/quantity.h"

namespace fathom {
namespace {

using Json = nlohmann::ordered_json;
using namespace models;

struct RooflineArguments {
  MachineFlags machine;
  std::string precision = "fp32";
  std::optional<double> flops, bytes;
  std::vector<std::uint64_t> gemm;  ///< m, n, k
  bool json = false;
};

/// How both ceilings are known, and where the kernel lands if there is one.
struct RooflineAnswer {
  std::string compute_unit;
  MachineFigure bandwidth, peak;
  double ridge = 0, flops = 0;
  std::optional<Roofline> kernel{};
};

/// Bytes of an operand's element, and of a result's where it is wider.
std::pair<double, double> element_bytes(const std::string& precision) {
  if (precision.starts_with("fp64")) return {8, 8};
  if (precision == "fp32" || precision == "tf32") return {4, 4};
  if (precision == "fp8") return {1, 2};
  if (precision == "int8") return {1, 4};
  return {2, 2};
}

RooflineAnswer answer_of(const RooflineArguments& arguments, const Machine& machine) {
  const std::string& precision = arguments.precision;
  const auto peak = machine.peak(precision);
  if (!peak)
    fail(ExitCode::bad_input, "The {} has no units for {}: choose another --precision.",
         machine.name(), precision);
  RooflineAnswer answer{precision == "int8" ? "op/s" : "FLOP/s", machine.bandwidth(), *peak};
  const MemoryCeiling memory{"DRAM", answer.bandwidth.value, answer.bandwidth.source};
  const ComputeCeiling compute{precision, peak->value, peak->source};
  answer.ridge = ridge_point(memory, compute);
  answer.flops = arguments.flops.value_or(0);
  double bytes = arguments.bytes.value_or(0);
  if (!arguments.gemm.empty()) {
    const auto [input, output] = element_bytes(precision);
    const MatrixProduct product{.m = static_cast<double>(arguments.gemm[0]),
                                .n = static_cast<double>(arguments.gemm[1]),
                                .k = static_cast<double>(arguments.gemm[2]),
                                .input_bytes = input,
                                .output_bytes = output};
    answer.flops = matrix_product_flops(product);
    bytes = matrix_product_bytes(product);
  }
  if (arguments.flops || arguments.bytes || !arguments.gemm.empty())
    answer.kernel =
        roofline({memory}, compute, {.flops = answer.flops, .traffic = {{"DRAM", bytes}}});
  return answer;
}

Json to_json(const Roofline& r) {
  const RooflineLevel& dram = r.levels.front();
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

Json ceiling(const std::string& name, const std::string& unit, const MachineFigure& figure) {
  return {{"name", name},
          {"value", figure.value},
          {"unit", unit},
          {"origin", figure.origin},
          {"source", figure.source}};
}

Json to_json(const Machine& machine, const std::string& precision, const RooflineAnswer& answer) {
  return {{"gpu", machine.name()},
          {"source", machine.source()},
          {"precision", precision},
          {"ceilings", Json::array({ceiling("DRAM", "B/s", answer.bandwidth),
                                    ceiling(precision, answer.compute_unit, answer.peak)})},
          {"ridge_points", {{"DRAM", answer.ridge}}},
          {"flops", answer.kernel ? Json(answer.flops) : Json(nullptr)},
          {"prediction", answer.kernel ? to_json(*answer.kernel) : Json(nullptr)}};
}

void print_text(const Machine& machine, const std::string& precision,
                const RooflineAnswer& answer) {
  const auto line = [](const std::string& name, const std::string& figure, const std::string& say) {
    fmt::print("  {:<12} {:>16}  {}\n", name, figure, say);
  };
  const auto known = [&](const std::string& name, const std::string& unit, const MachineFigure& f) {
    line(name, format_quantity(f.value, unit), f.origin + ": " + f.source);
  };
  fmt::print("{}\n", machine.origin());
  known("DRAM", "B/s", answer.bandwidth);
  known(precision, answer.compute_unit, answer.peak);
  line("ridge point", format_number(answer.ridge) + " FLOP/B",
       fmt::format("below it DRAM bounds, above it {}", precision));
  if (!answer.kernel) return;
  const Roofline& r = *answer.kernel;
  const RooflineLevel& dram = r.levels.front();
  fmt::print("\nKernel of {:.4g} FLOP: at least {}, bound by {}\n", answer.flops,
             format_time(r.seconds), r.bound_by);
  line(precision, "", "at least " + format_time(r.compute_seconds));
  line("DRAM", dram.intensity ? format_number(*dram.intensity) + " FLOP/B" : "no traffic",
       fmt::format("at least {}; {} moved, attainable {}", format_time(dram.seconds),
                   format_bytes(dram.bytes), format_quantity(dram.attainable, "FLOP/s")));
  line("attainable", format_quantity(r.attainable, "FLOP/s"),
       format_percent(r.attainable / answer.peak.value) + " of the peak");
}

ExitCode predict(const RooflineArguments& arguments) {
  const auto machine = machine_of(arguments.machine);
  if (!machine)
    throw Error(ExitCode::bad_input,
                "A roofline is of a GPU: give --gpu NAME, or --result FILE for a measured one.");
  const RooflineAnswer answer = answer_of(arguments, *machine);
  if (arguments.json) return print_json(to_json(*machine, arguments.precision, answer));
  print_text(*machine, arguments.precision, answer);
  return ExitCode::ok;
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
  app.add_flag("--json", arguments.json, "Print the prediction as JSON");
  app.footer(
      "Times are lower bounds: memory and arithmetic overlap in full.\n\n"
      "Examples:\n"
      "  fathom predict roofline --gpu H200 --precision bf16\n"
      "  fathom predict roofline --gpu \"RTX 4090\" --flops 1G --bytes 8GB\n"
      "  fathom predict roofline --result recordings/h200/result.json --gemm 4096 4096 4096\n");
}

}  // namespace

AddCommand roofline_prediction() { return with_arguments<RooflineArguments>(add_flags, predict); }

}  // namespace fathom
