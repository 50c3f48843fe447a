// The formats that are made of facts: accelsim, inductor.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reports/sections.h"
#include "results/text.h"
#include "tools/commands.h"

namespace fathom {
namespace {

/// "NVIDIA H200, driver 580.159.04, 2026-11-24T12:00:41Z, Fathom 0.2.0 (763460e006f4)"; begins with
/// "REPLAY: " for a replay. One line without control characters.
std::string origin_of(const Document& document) {
  const bool replay = document.source == Source::replay;
  return clean(fmt::format("{}{}, driver {}, {}, Fathom {} ({})", replay ? "REPLAY: " : "",
                           document.fingerprint.gpu_name, document.fingerprint.driver,
                           document.date, document.fathom_version, document.fathom_commit));
}

struct KnownFact {
  std::optional<double> value{};
  std::string reason = "not in this result";  ///< why it has no value
  bool noisy = false;
};

/// A fact by its id, or what the driver says of the GPU: "gpu.sms", "gpu.compute_capability",
/// "gpu.sm_clock_max" (Hz) and "gpu.memory_size" (B).
KnownFact known_fact(const Document& document, const std::string& id) {
  const Fingerprint& gpu = document.fingerprint;
  const auto driver = [](const auto& value) { return KnownFact{value, "the driver did not say"}; };
  if (id == "gpu.sms") return driver(gpu.sms);
  if (id == "gpu.sm_clock_max") return driver(gpu.sm_clock_max_hz);
  if (id == "gpu.memory_size") return driver(gpu.memory_bytes);
  if (id == "gpu.compute_capability") return driver(parse_number<double>(gpu.compute_capability));
  const auto fact = std::ranges::find(document.facts, id, &Fact::id);
  if (fact == document.facts.end()) return {};
  return {fact->value, clean(fact->reason), reports::Notes(document).is_noisy(fact->evidence)};
}

using FactValues = std::vector<double>;

/// A parameter made of facts, which `value` gets in their order. Empty: they do not fit it.
struct SimulatorParameter {
  std::string name;
  std::vector<std::string> facts;
  std::string (*value)(const FactValues&);
};

/// A cycle is the simulator's smallest time.
std::string whole(double number) {
  return number > 0 && number < 1e9 ? fmt::format("{:.0f}", number) : "";
}
std::string as_it_is(const FactValues& facts) { return whole(facts[0]); }
std::string difference(const FactValues& facts) { return whole(facts[0] - facts[1]); }
std::string product(const FactValues& facts) { return whole(facts[0] * facts[1]); }
std::string one(const FactValues&) { return "1"; }
std::string in_words(const FactValues& facts) { return whole(facts[0] / 4); }
std::string in_pairs(const FactValues& facts) {
  return std::fmod(facts[0], 2) == 0 ? whole(facts[0] / 2) : "";
}
std::string whole_part(const FactValues& facts) { return whole(std::floor(facts[0])); }
std::string first_decimal(const FactValues& facts) {
  return fmt::format("{:.0f}", 10 * (facts[0] - std::floor(facts[0])));
}

/// Cycles between two instructions of a warp on one of an SM's four partitions; of the last fact.
std::string initiation(const FactValues& facts) { return whole(32 * 4 / facts.back()); }
/// An mma.m16n8k16 has 2048 multiply-adds.
std::string mma_initiation(const FactValues& facts) { return whole(2048 * 4 / facts.back()); }
template <std::string (*interval_of)(const FactValues&)>
std::string with_latency(const FactValues& facts) {
  const std::string latency = as_it_is(facts), interval = interval_of(facts);
  return latency.empty() || interval.empty() ? "" : latency + "," + interval;
}

const std::vector<SimulatorParameter> gpgpusim{
    {"-gpgpu_compute_capability_major", {"gpu.compute_capability"}, whole_part},
    {"-gpgpu_compute_capability_minor", {"gpu.compute_capability"}, first_decimal},
    {"-gpgpu_n_clusters", {"gpu.sms"}, as_it_is},  // a cluster with one SM, as upstream has it
    {"-gpgpu_n_cores_per_cluster", {"gpu.sms"}, one},
    {"-gpgpu_n_mem", {"l2.slices"}, in_pairs},  // two slices to a channel, as upstream has it
    {"-gpgpu_n_chiplet_partition", {"topology.l2_partitions"}, as_it_is},
    {"-gpgpu_shader_registers", {"registers.size"}, in_words},
    {"-gpgpu_shmem_size", {"shared.size"}, as_it_is},
    {"-gpgpu_shmem_sizeDefault", {"shared.size"}, as_it_is},
    {"-gpgpu_smem_latency", {"shared.latency"}, as_it_is},
    {"-gpgpu_l1_latency", {"l1.latency"}, as_it_is},
    // Differences, as the simulator's own tuner makes them.
    {"-gpgpu_l2_rop_latency", {"l2.latency", "l1.latency"}, difference},
    {"-dram_latency", {"dram.latency", "l2.latency"}, difference},
    {"-gpgpu_kernel_launch_latency", {"launch.stream_gap", "gpu.sm_clock_max"}, product},
    {"-ptx_opcode_latency_sfu", {"mufu_rcp.latency"}, as_it_is},
    {"-ptx_opcode_initiation_sfu", {"mufu_rcp.throughput"}, initiation},
    {"-ptx_opcode_latency_tesnor", {"mma_f16_k16.latency"}, as_it_is},  // spelled as upstream's
    {"-ptx_opcode_initiation_tensor", {"mma_f16_k16.throughput"}, mma_initiation}};

SimulatorParameter latency_initiation(const std::string& unit, const std::string& instruction) {
  return {"-trace_opcode_latency_initiation_" + unit,
          {instruction + ".latency", instruction + ".throughput"},
          unit == "tensor" ? with_latency<mma_initiation> : with_latency<initiation>};
}
const std::vector<SimulatorParameter> trace{
    latency_initiation("int", "iadd3"), latency_initiation("sp", "ffma"),
    latency_initiation("dp", "dadd"), latency_initiation("sfu", "mufu_rcp"),
    latency_initiation("tensor", "mma_f16_k16")};

/// What describes hardware, and why it is not exported.
constexpr struct {
  const char *names, *why;
} not_measured[] = {
    {"-gpgpu_clock_domains", "the clocks of the interconnect and of the L2 are not measured"},
    {"-ptx_opcode_latency_int -ptx_opcode_latency_fp -ptx_opcode_latency_dp "
     "-ptx_opcode_initiation_int -ptx_opcode_initiation_fp -ptx_opcode_initiation_dp",
     "their fifth value is a division, which the GPU has as a subroutine; see trace.config"},
    {"-gpgpu_cache:dl1 -gpgpu_cache:dl2 -gpgpu_unified_l1d_size -gpgpu_shmem_option",
     "sizes and lines are facts (machine, csv), sets and ways are not"},
    {"-specialized_unit_N -trace_opcode_latency_initiation_spec_op_N",
     "their initiation is not measured"},
    {"-gpgpu_n_sub_partition_per_mchannel -gpgpu_l1_banks -gpgpu_shmem_num_banks "
     "-gpgpu_num_reg_banks -gpgpu_cache:il1 -gpgpu_const_cache:l1 -gpgpu_tex_cache:l1 "
     "-gpgpu_dram_timing_opt -gpgpu_dram_buswidth -gpgpu_dram_burst_length "
     "-gpgpu_mem_addr_mapping -gpgpu_memory_partition_indexing -gpgpu_TB_launch_latency "
     "-gpgpu_pipeline_widths -gpgpu_num_sp_units -gpgpu_num_sfu_units -gpgpu_num_dp_units "
     "-gpgpu_num_int_units -gpgpu_num_tensor_core_units",
     "no fact says it"}};

/// The lines of one file. `measured` becomes true where a fact behind them is.
std::string lines_of(const std::vector<SimulatorParameter>& parameters, const Document& document,
                     bool& measured) {
  std::string text;
  for (const SimulatorParameter& parameter : parameters) {
    const std::string from = fmt::format("{}", fmt::join(parameter.facts, ", "));
    FactValues values;
    std::string missing, noisy;
    for (const std::string& id : parameter.facts) {
      const KnownFact fact = known_fact(document, id);
      values.push_back(fact.value.value_or(0));
      if (!fact.value && missing.empty()) missing = fmt::format("{}: {}", id, fact.reason);
      if (fact.noisy) noisy = ", noisy";
      if (fact.value && !id.starts_with("gpu.")) measured = true;  // those the driver says
    }
    const std::string value = missing.empty() ? parameter.value(values) : "";
    if (missing.empty() && value.empty()) missing = from + ": the figures do not fit the parameter";
    text += missing.empty() ? fmt::format("# {}{}\n{} {}\n", from, noisy, parameter.name, value)
                            : fmt::format("# not measured: {} ({})\n", parameter.name, missing);
  }
  return text;
}

/// A type as `DeviceInfo.tops` has it, and how the ids of its instructions' facts begin, of which
/// the fastest is its peak.
constexpr struct {
  const char* key;
  std::array<std::string_view, 2> instructions;
} data_types[] = {{"torch.float64", {"dfma.", "mma_f64_"}},
                  {"torch.float32", {"ffma.", "ffma."}},
                  {"\"torch.tf32\"", {"mma_tf32_", "wgmma_tf32_"}},
                  {"torch.bfloat16", {"mma_bf16_", "wgmma_bf16_"}},
                  {"torch.float16", {"mma_f16_", "wgmma_f16_"}},
                  {"torch.float8_e4m3fn", {"mma_e4m3_", "wgmma_e4m3_"}},
                  {"torch.int8", {"mma_s8_", "wgmma_s8_"}}};

}  // namespace

std::string accelsim_export(const Document& document) {
  bool measured = false;
  std::string text =
      fmt::format("# {}\n\n# gpgpusim.config\n{}\n# trace.config\n{}\n", origin_of(document),
                  lines_of(gpgpusim, document, measured), lines_of(trace, document, measured));
  if (!measured)
    throw Error(ExitCode::incomplete,
                "The result states none of the facts that Accel-Sim has a parameter for: export "
                "one of `fathom run --suite atlas`.");
  for (const auto& group : not_measured)
    text += fmt::format("# not measured: {}\n#   {}\n", group.names, group.why);
  return text;
}

std::string inductor_export(const Document& document) {
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
  for (const auto& type : data_types) {
    const Fact* fastest = nullptr;
    for (const Fact& fact : document.facts) {
      const auto begins = [&](std::string_view start) { return fact.id.starts_with(start); };
      if (fact.id.ends_with(".throughput") && std::ranges::any_of(type.instructions, begins) &&
          fact.value.value_or(0) > (fastest ? *fastest->value : 0))
        fastest = &fact;
    }
    tops += !fastest ? fmt::format("        # {}: not measured\n", type.key)
                     : fmt::format("        {}: {:.1f},  # {}{}\n", type.key,
                                   *fastest->value * 2 * sms * clock / 1e12, fastest->id,
                                   known_fact(document, fastest->id).noisy ? ", noisy" : "");
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
