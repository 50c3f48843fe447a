// `fathom predict`, the GPU that a prediction is for, and `roofline`: what the GPU bounds.

#include "tools/predict/predict.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "models/formatted.h"
#include "models/roofline.h"
#include "reports/facts.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/files.h"
#include "results/findings.h"
#include "results/flag_checks.h"
#include "results/text.h"

namespace fathom {

std::function<ExitCode()> printed(CLI::App& app, std::function<Prediction()> predict) {
  const auto as_json = std::make_shared<bool>(false);
  auto* json = app.add_flag("--json", *as_json, "Print the prediction as JSON");
  if (CLI::Option* file = app.get_option_no_throw("--patterns")) json->excludes(file);
  return [as_json, predict] {
    try {
      const Prediction said = predict();
      print_out(*as_json ? said.json.dump(2) + "\n" : said.text);
      return ExitCode::ok;
    } catch (const std::invalid_argument& refusal) {
      // The models say it in lower case, and without a full stop.
      std::string sentence = fmt::format("{}.", refusal.what());
      sentence.front() =
          static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
      throw Error(ExitCode::bad_input, sentence);
    }
  };
}

Command predict_command() {
  return {.name = "predict",
          .summary = "Predict counters, occupancy, ... without a GPU",
          .noun = "prediction",
          .footer =
              "Examples:\n"
              "  fathom predict shared load --stride 8          bank conflicts, with a picture\n"
              "  fathom predict global load --base 4            sectors, with a picture\n"
              "  fathom predict occupancy --arch 90 --threads 256 --registers 72\n"
              "  fathom predict waves --gemm 4096 4096 4096 --gpu H200\n"
              "  fathom predict roofline --gemm 4096 4096 4096 --gpu H200\n"
              "  fathom predict swizzle --rows 32 --row-elements 32\n"
              "  fathom predict transformer --params 70B --gpu H200 --gpus 2\n"
              "`fathom predict NAME --help` says more.\n",
          .commands = {shared_prediction(), global_prediction(), occupancy_prediction(),
                       waves_prediction(), roofline_prediction(), swizzle_prediction(),
                       transformer_prediction()}};
}

// --- the GPU -------------------------------------------------------------------------------------

FATHOM_FIELDS(models::RooflineLevel, "", "", bytes, intensity, attainable, seconds);
FATHOM_FIELDS(models::Roofline, "", "", compute_seconds, seconds, attainable, bound_by,
              memory_bound);

namespace {

using namespace models;

/// A precision, where the table keeps its peak, and how wide a product's elements are.
struct Precision {
  const char* name;
  Sourced<double> GpuSpec::*peak;
  double input_bytes, output_bytes;
};

constexpr Precision precision_table[] = {
    {"fp64", &GpuSpec::fp64_flops, 8, 8}, {"fp64-tensor", &GpuSpec::fp64_tensor_flops, 8, 8},
    {"fp32", &GpuSpec::fp32_flops, 4, 4}, {"tf32", &GpuSpec::tf32_flops, 4, 4},
    {"fp16", &GpuSpec::fp16_flops, 2, 2}, {"bf16", &GpuSpec::bf16_flops, 2, 2},
    {"fp8", &GpuSpec::fp8_flops, 1, 2},   {"int8", &GpuSpec::int8_ops, 1, 4}};

const Precision& find_precision(const std::string& name) {
  return *std::ranges::find(precision_table, name, &Precision::name);
}

/// Unless DRAM's counter says that most of the entry's bytes were written: writes alone can be
/// faster than whatever reads.
bool reads_dram(const Entry& entry) {
  constexpr double copy_reads = 0.4;  // of the bytes that it moves
  const auto read = counter_value(entry, "dram_read_bytes");
  const double moved = *entry.metric.value * entry.real_time_s;
  return !read || !(moved > 0) || *read / moved > copy_reads;
}

MachineFigure data_sheet(const Sourced<double>& figure) {
  return {figure.value, "data sheet", std::string(figure.source)};
}

}  // namespace

Machine::Machine(const GpuSpec& gpu)
    : name(gpu.name), origin(name + ", from its data sheet"), source("data sheet"), spec_(&gpu) {}

Machine::Machine(Document document, std::string file)
    : spec_(find_gpu(document.fingerprint.gpu_name)),
      document_(std::move(document)),
      file_(std::move(file)) {
  const bool replay = document_.source == Source::replay;
  source = replay ? "replay" : "measured";
  name = spec_ ? std::string(spec_->name) : document_.fingerprint.gpu_name;
  origin = replay ? fmt::format("REPLAY: {}, from {}, which repeats a recording of {}", name, file_,
                                document_.date)
                  : fmt::format("{}, measured in {} on {}", name, file_, document_.date);
}

const GpuSpec& Machine::spec_for(const std::string& what) const {
  if (spec_) return *spec_;
  fail(ExitCode::bad_input,
       "{}: it has no measured {} of the {}, and the table of data sheets lacks that GPU: give "
       "another document, or --gpu.",
       file_, what, name);
}

std::optional<MachineFigure> Machine::measured(
    const std::function<bool(const Entry&)>& wanted) const {
  std::vector<const Entry*> entries;
  for (const Entry& entry : document_.entries)
    if (entry.metric.value && !reports::is_failure(entry.verdict.status) && wanted(entry))
      entries.push_back(&entry);
  const Entry* fastest = best(entries);
  if (!fastest) return std::nullopt;
  return MachineFigure{*fastest->metric.value, source, fastest->name};
}

int Machine::sms() const {
  if (!document_.fingerprint.sms) return spec_for("number of SMs").sms.value;
  const std::int64_t sms = *document_.fingerprint.sms;
  if (sms < 1 || sms > (1 << 16)) fail(ExitCode::bad_input, "{}: no GPU has {} SMs.", file_, sms);
  return static_cast<int>(sms);
}

MachineFigure Machine::bandwidth() const {
  // A higher bound than DRAM's is one of a cache.
  const auto of_dram = [&](const Entry& entry) {
    const auto limit = std::ranges::find(document_.bounds, "dram_bandwidth", &DeviceBound::name);
    return limit != document_.bounds.end() && entry.metric.unit == "B/s" && entry.bound &&
           entry.bound->value <= limit->value;
  };
  const auto moved = measured([&](const Entry& e) { return of_dram(e) && reads_dram(e); });
  if (moved) return *moved;
  return data_sheet(spec_for("bandwidth").memory_bandwidth);
}

std::optional<MachineFigure> Machine::peak(const std::string& precision) const {
  const Axes::value_type type{"type", precision};
  const auto product = measured([&](const Entry& entry) {
    const bool counts = entry.metric.unit == "FLOP/s" || entry.metric.unit == "op/s";
    return counts && std::ranges::count(entry.axes, type) > 0;
  });
  if (product) return product;
  const auto& figure = spec_for(precision + " throughput").*find_precision(precision).peak;
  return figure.known() ? std::optional(data_sheet(figure)) : std::nullopt;
}

MachineFigure Machine::memory() const {
  if (const auto bytes = document_.fingerprint.memory_bytes.value_or(0); bytes > 0)
    return {static_cast<double>(bytes), "driver", file_};
  return data_sheet(spec_for("memory size").memory_bytes);
}

std::optional<MachineFigure> Machine::link() const {
  if (!spec_) return std::nullopt;
  const bool nvlink = spec_->nvlink_bandwidth.known();
  const auto& both = nvlink ? spec_->nvlink_bandwidth : spec_->pcie_bandwidth;
  MachineFigure figure = data_sheet(both);
  figure.value /= 2;
  figure.source = (nvlink ? "NVLink, " : "PCIe, ") + figure.source;
  return figure;
}

void add_machine_flags(CLI::App& app, MachineFlags& flags) {
  auto* gpu = app.add_option("--gpu", flags.gpu,
                             "GPU by name, from its data sheet: H200, \"A100 80GB SXM\", ...")
                  ->type_name("NAME");
  path_flag(app, "--result", flags.result,
            "GPU of a result document, with what was measured on it; its data sheet for the rest")
      ->excludes(gpu);
}

std::optional<Machine> machine_of(const MachineFlags& flags) {
  if (!flags.result.empty()) return Machine(read_document(flags.result), flags.result.string());
  if (flags.gpu.empty()) return std::nullopt;
  if (const GpuSpec* gpu = find_gpu(flags.gpu)) return Machine(*gpu);
  std::vector<std::string> names;
  for (const GpuSpec& gpu : gpu_table()) names.emplace_back(gpu.name);
  fail(ExitCode::bad_input, "There is no data sheet of a GPU `{}`, only of {}.{}", flags.gpu,
       fmt::join(names, ", "), did_you_mean(flags.gpu, names));
}

// --- roofline ------------------------------------------------------------------------------------

namespace {

struct RooflineArguments {
  MachineFlags machine;
  std::string precision = "fp32";
  std::optional<double> flops, bytes;
  std::vector<std::uint64_t> gemm;  ///< m, n, k
};

void say_kernel(Prediction& said, const ArithmeticWork& work, const Roofline& r) {
  const RooflineLevel& dram = r.levels.front();
  said.json["kernel"] = write_fields(r);
  said.json["kernel"]["DRAM"] = write_fields(dram);
  said.say("\nKernel of {:.4g} FLOP: at least {}, bound by {}\n", work.flops,
           format_time(r.seconds), r.bound_by);
  said.say_figure("arithmetic", format_time(r.compute_seconds), "at least");
  said.say_figure("DRAM", format_time(dram.seconds),
                  fmt::format("at least, for {} at {}", format_bytes(dram.bytes),
                              format_quantity(dram.intensity, "FLOP/B")));
  said.say_figure("attainable", format_quantity(r.attainable, "FLOP/s"),
                  format_percent(r.attainable / work.flops_per_second) + " of the peak");
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
         machine->name, precision);
  const MachineFigure bandwidth = machine->bandwidth();
  MemoryWork dram{"DRAM", bandwidth.value, arguments.bytes.value_or(0)};
  ArithmeticWork work{precision, peak->value, arguments.flops.value_or(0)};
  const double ridge = ridge_point(dram, work);
  Prediction said{.text = machine->origin + "\n",
                  .json = {{"gpu", machine->name}, {"source", machine->source}}};
  said.json["DRAM"] = write_fields(bandwidth);
  said.json["peak"] = write_fields(*peak);
  said.json["ridge_point"] = ridge;
  said.say_figure("DRAM", format_bandwidth(bandwidth.value), bandwidth);
  said.say_figure(precision, format_quantity(peak->value, precision == "int8" ? "op/s" : "FLOP/s"),
                  *peak);
  said.say_figure("ridge point", format_number(ridge) + " FLOP/B",
                  fmt::format("below it DRAM bounds, above it {}", precision));
  const auto& gemm = arguments.gemm;
  if (!gemm.empty()) {
    const Precision& of = find_precision(precision);
    const MatrixProduct product{real(gemm[0]), real(gemm[1]), real(gemm[2]), of.input_bytes,
                                of.output_bytes};
    work.flops = matrix_product_flops(product);
    dram.bytes = matrix_product_bytes(product);
  }
  if (arguments.flops || arguments.bytes || !gemm.empty())
    say_kernel(said, work, roofline({dram}, work));
  return said;
}

void add_flags(CLI::App& app, RooflineArguments& arguments) {
  std::vector<std::string> precisions;
  for (const Precision& precision : precision_table) precisions.emplace_back(precision.name);
  add_machine_flags(app, arguments.machine);
  word_flag(app, "--precision", arguments.precision,
            "Arithmetic: fp64 and fp32 of the CUDA cores, fp64-tensor, tf32, fp16, bf16, fp8, int8 "
            "of the tensor cores",
            precisions);
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
