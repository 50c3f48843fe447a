#include <fmt/format.h>

#include <array>

#include "results/clean_text.h"
#include "results/fail.h"
#include "tools/export/figures.h"
#include "tools/export/formats.h"

namespace fathom {
namespace {

/// A type as `DeviceInfo.tops` has it, and the facts of which the fastest is its peak.
struct DataType {
  const char* key;
  std::vector<const char*> instructions;
};
const std::vector<DataType> data_types{
    {"torch.float64", {"dfma", "mma_f64_k4", "mma_f64_k16"}},
    {"torch.float32", {"ffma"}},
    {"\"torch.tf32\"",
     {"mma_tf32_k4", "mma_tf32_k8", "wgmma_tf32_n64_shared", "wgmma_tf32_n128_shared",
      "wgmma_tf32_n256_shared", "wgmma_tf32_n64_registers", "wgmma_tf32_n128_registers",
      "wgmma_tf32_n256_registers"}},
    {"torch.bfloat16",
     {"mma_bf16_k8", "mma_bf16_k16", "wgmma_bf16_n64_shared", "wgmma_bf16_n128_shared",
      "wgmma_bf16_n256_shared", "wgmma_bf16_n64_registers", "wgmma_bf16_n128_registers",
      "wgmma_bf16_n256_registers"}},
    {"torch.float16",
     {"mma_f16_k8", "mma_f16_k16", "mma_f16_k16_f16", "wgmma_f16_n64_shared",
      "wgmma_f16_n128_shared", "wgmma_f16_n256_shared", "wgmma_f16_n64_registers",
      "wgmma_f16_n128_registers", "wgmma_f16_n256_registers"}},
    {"torch.float8_e4m3fn",
     {"mma_e4m3_k32", "wgmma_e4m3_n64_shared", "wgmma_e4m3_n128_shared", "wgmma_e4m3_n256_shared",
      "wgmma_e4m3_n64_registers", "wgmma_e4m3_n128_registers", "wgmma_e4m3_n256_registers"}},
    {"torch.int8",
     {"mma_s8_k16", "mma_s8_k32", "wgmma_s8_n64_shared", "wgmma_s8_n128_shared",
      "wgmma_s8_n256_shared", "wgmma_s8_n64_registers", "wgmma_s8_n128_registers",
      "wgmma_s8_n256_registers"}}};

/// A text as a Python file has it, between double quotes.
std::string python_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : clean(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string inductor_export(const Document& document) {
  require_facts(document, "inductor");
  const FactsById facts(document);
  std::array<double, 4> needed{};
  const std::array names{"dram.bandwidth", "gpu.sms", "gpu.sm_clock_max", "gpu.memory_size"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = facts.value(names[i]);
    if (!value || !(*value > 0))
      fail(ExitCode::incomplete, "inductor needs {}: {}.", names[i],
           value ? "it is not above zero" : facts.reason(names[i]));
    needed[i] = *value;
  }
  const auto& [bandwidth, sms, clock, memory] = needed;
  std::string tops;
  for (const DataType& type : data_types) {
    double fastest = 0;
    std::string of;
    for (const std::string instruction : type.instructions)
      if (const auto value = facts.value(instruction + ".throughput"); value && *value > fastest) {
        fastest = *value;
        of = instruction + ".throughput";
      }
    if (of.empty()) {
      tops += fmt::format("        # {}: not measured\n", type.key);
      continue;
    }
    tops += fmt::format("        {}: {:.1f},  # {}{}\n", type.key, fastest * 2 * sms * clock / 1e12,
                        of, facts.noisy(of) ? ", noisy" : "");
  }
  return fmt::format(
      "# {}\n"
      "# Measured throughput a clock x {:.0f} SMs x 2 operations x {:.0f} MHz, the highest clock.\n"
      "import torch\n"
      "from torch._inductor.analysis.device_info import DeviceInfo, _device_mapping\n\n"
      "name = {}  # some versions of PyTorch look for it in capitals\n"
      "_device_mapping[name] = _device_mapping[name.upper()] = DeviceInfo(\n"
      "    tops={{\n{}    }},\n"
      "    dram_bw_gbs={:.1f},  # dram.bandwidth{}\n"
      "    dram_gb={:.1f},\n"
      ")\n",
      origin_of(document), sms, clock / 1e6, python_text(document.fingerprint.gpu_name), tops,
      bandwidth / 1e9, facts.noisy("dram.bandwidth") ? ", noisy" : "", memory / 1e9);
}

}  // namespace fathom
