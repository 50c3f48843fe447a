#include "tools/predict/machine.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "reports/facts.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/query.h"
#include "results/text.h"

namespace fathom {
namespace {

using models::GpuSpec;
using models::Sourced;

/// Where the table keeps a precision's peak, and what an entry's axis of types may call it beside
/// its name.
struct Precision {
  std::string name;
  Sourced<double> GpuSpec::*peak;
  std::vector<std::string> other_names{};
};

const std::vector<Precision> precision_table{
    {"fp64", &GpuSpec::fp64_flops, {"double"}},     {"fp64-tensor", &GpuSpec::fp64_tensor_flops},
    {"fp32", &GpuSpec::fp32_flops, {"float"}},      {"tf32", &GpuSpec::tf32_flops},
    {"fp16", &GpuSpec::fp16_flops, {"half"}},       {"bf16", &GpuSpec::bf16_flops, {"bfloat16"}},
    {"fp8", &GpuSpec::fp8_flops, {"e4m3", "e5m2"}}, {"int8", &GpuSpec::int8_ops}};

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

bool has_precision(const Entry& entry, const Precision& precision) {
  return std::ranges::any_of(entry.axes, [&](const auto& axis) {
    const auto* text = std::get_if<std::string>(&axis.second);
    const bool names_type = axis.first == "type" || axis.first == "precision";
    return names_type && text &&
           (*text == precision.name || std::ranges::count(precision.other_names, *text) > 0);
  });
}

MachineFigure data_sheet(const Sourced<double>& figure) {
  return {figure.value, "data sheet", std::string(figure.source)};
}

}  // namespace

std::vector<std::string> precisions() {
  std::vector<std::string> names;
  for (const Precision& precision : precision_table) names.push_back(precision.name);
  return names;
}

Machine::Machine(Document document, std::string file)
    : spec_(models::find_gpu(document.fingerprint.gpu_name)),
      document_(std::move(document)),
      file_(std::move(file)) {}

std::string Machine::name() const {
  return spec_ ? std::string(spec_->name) : document_->fingerprint.gpu_name;
}

std::string Machine::source() const {
  if (!document_) return "data sheet";
  return document_->source == Source::replay ? "replay" : "measured";
}

std::string Machine::origin() const {
  if (!document_) return fmt::format("{}, from its data sheet", name());
  if (document_->source == Source::replay)
    return fmt::format("REPLAY: {}, from {}, which repeats a recording of {}", name(), file_,
                       document_->date);
  return fmt::format("{}, measured in {} on {}", name(), file_, document_->date);
}

const GpuSpec& Machine::spec_for(const std::string& what) const {
  if (spec_) return *spec_;
  fail(ExitCode::bad_input,
       "{}: it has no measured {} of the {}, and the table of data sheets lacks that GPU: give "
       "another document, or --gpu.",
       file_, what, name());
}

template <class Wanted>
std::optional<MachineFigure> Machine::measured(const Wanted& wanted) const {
  if (!document_) return std::nullopt;
  std::vector<const Entry*> entries;
  for (const Entry& entry : document_->entries)
    if (entry.metric.value && !reports::is_failure(entry.verdict.status) && wanted(entry))
      entries.push_back(&entry);
  const Entry* fastest = best(entries);
  if (!fastest) return std::nullopt;
  return MachineFigure{*fastest->metric.value, source(), fastest->name};
}

int Machine::sms() const {
  if (document_ && document_->fingerprint.sms) {
    const std::int64_t sms = *document_->fingerprint.sms;
    if (sms < 1 || sms > (1 << 16)) fail(ExitCode::bad_input, "{}: no GPU has {} SMs.", file_, sms);
    return static_cast<int>(sms);
  }
  return spec_for("number of SMs").sms.value;
}

MachineFigure Machine::bandwidth() const {
  // A higher bound than DRAM's is one of a cache.
  const auto of_dram = [&](const Entry& entry) {
    const auto limit = std::ranges::find(document_->bounds, "dram_bandwidth", &DeviceBound::name);
    return limit != document_->bounds.end() && entry.metric.unit == "B/s" && entry.bound &&
           entry.bound->value <= limit->value;
  };
  const auto read = measured([&](const Entry& e) { return of_dram(e) && reads_dram(e); });
  if (const auto moved = read ? read : measured(of_dram)) return *moved;
  return data_sheet(spec_for("bandwidth").memory_bandwidth);
}

std::optional<MachineFigure> Machine::peak(const std::string& precision) const {
  const Precision& wanted = find_precision(precision);
  const auto best_product = measured([&](const Entry& entry) {
    const bool counts = entry.metric.unit == "FLOP/s" || entry.metric.unit == "op/s";
    return counts && has_precision(entry, wanted);
  });
  if (best_product) return best_product;
  const auto& figure = spec_for(precision + " throughput").*wanted.peak;
  return figure.known() ? std::optional(data_sheet(figure)) : std::nullopt;
}

MachineFigure Machine::memory() const {
  if (document_ && document_->fingerprint.memory_bytes.value_or(0) > 0)
    return {static_cast<double>(*document_->fingerprint.memory_bytes), "driver", file_};
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
  if (const GpuSpec* gpu = models::find_gpu(flags.gpu)) return Machine(*gpu);
  std::vector<std::string> names;
  for (const GpuSpec& gpu : models::gpu_table()) names.emplace_back(gpu.name);
  fail(ExitCode::bad_input, "There is no data sheet of a GPU `{}`, only of {}.{}", flags.gpu,
       fmt::join(names, ", "), did_you_mean(flags.gpu, names));
}

}  // namespace fathom
