// `fathom predict`, and the GPU that a prediction is for.

#include "tools/predict/predict.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "reports/sections.h"
#include "results/document_io.h"
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
          .commands =
              access_predictions() + kernel_predictions() + std::vector{transformer_prediction()}};
}

// --- the GPU -------------------------------------------------------------------------------------

namespace {

using namespace models;

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
  const auto& figure = spec_for(precision + " throughput").*
                       std::ranges::find(precisions, precision, &Precision::name)->peak;
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

}  // namespace fathom
