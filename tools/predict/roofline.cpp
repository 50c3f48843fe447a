#include "models/roofline.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/format.h"
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
  std::vector<std::string> levels;  ///< "L2=4Gi@7.5T"
  bool json = false;
};

/// A ceiling with how it is known, for both kinds.
struct KnownCeiling {
  std::string name, unit;
  MachineFigure figure;
};

struct Question {
  std::vector<MemoryCeiling> memory;
  ComputeCeiling compute;
  RooflineKernel kernel;
  std::vector<KnownCeiling> known;  ///< the memory levels', then the compute ceiling's
  bool has_kernel = false;
};

/// Bytes of an operand's element, and of a result's where it is wider.
std::pair<double, double> element_bytes(const std::string& precision) {
  if (precision.starts_with("fp64")) return {8, 8};
  if (precision == "fp32" || precision == "tf32") return {4, 4};
  if (precision == "fp8") return {1, 2};
  if (precision == "int8") return {1, 4};
  return {2, 2};
}

double checked_quantity(const std::string& text, const std::string& unit,
                        const std::string& level) {
  std::string number = text;
  const std::string problem = quantity(unit)(number);
  if (problem.empty()) return std::stod(number);
  fail(ExitCode::bad_input, "--level {}: {}.", level, problem);
}

/// "NAME=BYTES@BANDWIDTH"
void add_level(const std::string& text, Question& question) {
  const auto equals = text.find('=');
  const auto at = text.find('@', equals == std::string::npos ? 0 : equals);
  if (equals == 0 || equals == std::string::npos || at == std::string::npos)
    fail(ExitCode::bad_input, "--level {}: it must be NAME=BYTES@BANDWIDTH, such as L2=4Gi@7.5T.",
         text);
  const std::string name = text.substr(0, equals);
  for (const auto& ceiling : question.memory) {
    if (ceiling.name == name)
      fail(ExitCode::bad_input, "--level {}: there is a level {} already{}.", text, name,
           name == "DRAM" ? ", whose bytes --bytes gives" : "");
  }
  const double bytes = checked_quantity(text.substr(equals + 1, at - equals - 1), "B", text);
  const double bandwidth = checked_quantity(text.substr(at + 1), "B/s", text);
  question.memory.push_back({name, bandwidth, "given with --level"});
  question.kernel.traffic.push_back({name, bytes});
  question.known.push_back({name, "B/s", {bandwidth, "given", "--level"}});
}

Question question_of(const RooflineArguments& arguments, const Machine& machine) {
  Question q;
  const MachineFigure dram = machine.bandwidth(Direction::any);
  q.memory.push_back({"DRAM", dram.value, dram.source});
  q.known.push_back({"DRAM", "B/s", dram});
  const auto peak = machine.peak(arguments.precision);
  if (!peak)
    fail(ExitCode::bad_input, "The {} has no units for {}: choose another --precision.",
         machine.name(), arguments.precision);
  q.compute = {arguments.precision, peak->value, peak->source};

  double flops = arguments.flops.value_or(0);
  double bytes = arguments.bytes.value_or(0);
  if (!arguments.gemm.empty()) {
    const auto [input, output] = element_bytes(arguments.precision);
    const MatrixProduct product{.m = static_cast<double>(arguments.gemm[0]),
                                .n = static_cast<double>(arguments.gemm[1]),
                                .k = static_cast<double>(arguments.gemm[2]),
                                .input_bytes = input,
                                .output_bytes = output};
    flops = matrix_product_flops(product);
    bytes = matrix_product_bytes(product);
  }
  q.kernel.flops = flops;
  if (bytes > 0) q.kernel.traffic.push_back({"DRAM", bytes});
  for (const auto& level : arguments.levels) add_level(level, q);
  q.known.push_back({q.compute.name, arguments.precision == "int8" ? "op/s" : "FLOP/s", *peak});
  q.has_kernel =
      arguments.flops || arguments.bytes || !arguments.gemm.empty() || !arguments.levels.empty();
  return q;
}

Json to_json(const Roofline& r) {
  Json levels = Json::array();
  for (const auto& level : r.levels)
    levels.push_back({{"name", level.name},
                      {"bytes", level.bytes},
                      {"intensity", level.intensity ? Json(*level.intensity) : Json(nullptr)},
                      {"ridge_point", level.ridge},
                      {"attainable_flops_per_second", level.attainable},
                      {"seconds", level.seconds}});
  return {{"levels", std::move(levels)}, {"compute_seconds", r.compute_seconds},
          {"seconds", r.seconds},        {"attainable_flops_per_second", r.attainable},
          {"bound_by", r.bound_by},      {"memory_bound", r.memory_bound}};
}

Json to_json(const Machine& machine, const Question& q, const std::optional<Roofline>& r) {
  Json ceilings = Json::array();
  for (const auto& [name, unit, figure] : q.known)
    ceilings.push_back({{"name", name},
                        {"value", figure.value},
                        {"unit", unit},
                        {"origin", figure.origin},
                        {"source", figure.source}});
  Json ridges = Json::object();
  for (const auto& level : q.memory) ridges[level.name] = ridge_point(level, q.compute);
  return {{"gpu", machine.name()},
          {"source", machine.source()},
          {"precision", q.compute.name},
          {"ceilings", std::move(ceilings)},
          {"ridge_points", std::move(ridges)},
          {"flops", r ? Json(q.kernel.flops) : Json(nullptr)},
          {"prediction", r ? to_json(*r) : Json(nullptr)}};
}

void print_text(const Machine& machine, const Question& q, const std::optional<Roofline>& r) {
  fmt::print("{}\n", machine.origin());
  for (const auto& [name, unit, figure] : q.known)
    fmt::print("  {:<12} {:>16}  {}: {}\n", name, format_quantity(figure.value, unit),
               figure.origin, figure.source);
  for (const auto& level : q.memory)
    fmt::print("  {:<12} {:>16}  below it {} bounds, above it {}\n", "ridge point",
               format_number(ridge_point(level, q.compute)) + " FLOP/B", level.name,
               q.compute.name);
  if (!r) return;
  fmt::print("\nKernel of {:.4g} FLOP: at least {}, bound by {}\n", q.kernel.flops,
             format_time(r->seconds), r->bound_by);
  fmt::print("  {:<12} {:>16}  at least {}\n", q.compute.name, "", format_time(r->compute_seconds));
  for (const auto& level : r->levels)
    fmt::print("  {:<12} {:>16}  at least {}; {} moved, attainable {}\n", level.name,
               level.intensity ? format_number(*level.intensity) + " FLOP/B" : "no traffic",
               format_time(level.seconds), format_bytes(level.bytes),
               format_quantity(level.attainable, "FLOP/s"));
  fmt::print("  attainable   {:>16}  {} of the peak\n", format_quantity(r->attainable, "FLOP/s"),
             format_percent(r->attainable / q.compute.flops_per_second));
}

ExitCode predict(const RooflineArguments& arguments) {
  const auto machine = machine_of(arguments.machine);
  if (!machine)
    throw Error(ExitCode::bad_input,
                "A roofline is of a GPU: give --gpu NAME, or --result FILE for a measured one.");
  const Question q = question_of(arguments, *machine);
  std::optional<Roofline> r;
  if (q.has_kernel) r = roofline(q.memory, q.compute, q.kernel);
  if (arguments.json) return print_json(to_json(*machine, q, r));
  print_text(*machine, q, r);
  return ExitCode::ok;
}

void add_flags(CLI::App& app, RooflineArguments& arguments) {
  add_machine_flags(app, arguments.machine);
  word_flag(app, "--precision", arguments.precision,
            "Arithmetic: fp64 and fp32 of the CUDA cores, fp64-tensor, tf32, fp16, bf16, fp8, int8 "
            "of the tensor cores",
            precisions())
      ->capture_default_str();
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
  app.add_option("--level", arguments.levels,
                 "A further level of memory, the kernel's bytes through it and its bandwidth; may "
                 "be given several times")
      ->type_name("NAME=BYTES@BANDWIDTH");
  app.add_flag("--json", arguments.json, "Print the prediction as JSON");
  app.footer(
      "Times are lower bounds: all levels and the arithmetic overlap in full.\n\n"
      "Examples:\n"
      "  fathom predict roofline --gpu H200 --precision bf16\n"
      "  fathom predict roofline --gpu \"RTX 4090\" --flops 1G --bytes 8GB\n"
      "  fathom predict roofline --result recordings/h200/result.json --gemm 4096 4096 4096\n"
      "  fathom predict roofline --gpu H200 --flops 2T --bytes 1G --level L2=40G@7.5T --json\n");
}

}  // namespace

AddCommand roofline_prediction() { return with_arguments<RooflineArguments>(add_flags, predict); }

}  // namespace fathom
