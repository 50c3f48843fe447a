#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "results/fail.h"
#include "tools/export/export.h"

namespace fathom {
namespace {

/// A type as `DeviceInfo.tops` has it, and how the ids of its instructions' facts begin, of which
/// the fastest is its peak.
struct DataType {
  const char* key;
  std::array<std::string_view, 2> instructions;
};
constexpr DataType data_types[] = {{"torch.float64", {"dfma.", "mma_f64_"}},
                                   {"torch.float32", {"ffma.", "ffma."}},
                                   {"\"torch.tf32\"", {"mma_tf32_", "wgmma_tf32_"}},
                                   {"torch.bfloat16", {"mma_bf16_", "wgmma_bf16_"}},
                                   {"torch.float16", {"mma_f16_", "wgmma_f16_"}},
                                   {"torch.float8_e4m3fn", {"mma_e4m3_", "wgmma_e4m3_"}},
                                   {"torch.int8", {"mma_s8_", "wgmma_s8_"}}};

}  // namespace

std::string inductor_export(const Document& document) {
  require_facts(document, "inductor");
  const auto needed = [&](const char* id) {
    const KnownFact fact = known_fact(document, id);
    if (!(fact.value > 0.0))
      fail(ExitCode::incomplete, "inductor needs {}: {}.", id,
           fact.value ? "it is not above zero" : fact.reason);
    return *fact.value;
  };
  const double bandwidth = needed("dram.bandwidth"), sms = needed("gpu.sms"),
               clock = needed("gpu.sm_clock_max"), memory = needed("gpu.memory_size");
  std::string tops;
  for (const DataType& type : data_types) {
    double fastest = 0;
    std::string of;
    for (const Fact& fact : document.facts) {
      const auto begins = [&](std::string_view start) { return fact.id.starts_with(start); };
      if (!fact.id.ends_with(".throughput") || !std::ranges::any_of(type.instructions, begins) ||
          fact.value.value_or(0) <= fastest)
        continue;
      fastest = *fact.value;
      of = fact.id;
    }
    if (of.empty()) {
      tops += fmt::format("        # {}: not measured\n", type.key);
      continue;
    }
    tops += fmt::format("        {}: {:.1f},  # {}{}\n", type.key, fastest * 2 * sms * clock / 1e12,
                        of, known_fact(document, of).noisy ? ", noisy" : "");
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
      origin_of(document), sms, clock / 1e6, quoted(document.fingerprint.gpu_name), tops,
      bandwidth / 1e9, known_fact(document, "dram.bandwidth").noisy ? ", noisy" : "", memory / 1e9);
}

}  // namespace fathom
