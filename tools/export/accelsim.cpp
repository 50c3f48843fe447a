#include <fmt/format.h>

#include <cmath>

#include "results/error.h"
#include "tools/export/figures.h"
#include "tools/export/formats.h"

namespace fathom {
namespace {

/// A parameter made of facts, which `value` gets in their order. Not a number: it does not fit.
struct SimulatorParameter {
  const char* name;
  std::vector<const char*> facts;
  std::string (*value)(const std::vector<double>&);
};
using FactValues = std::vector<double>;

/// A cycle is the simulator's smallest time. Empty: not to be had.
std::string whole(double number) {
  return number > 0 && number < 1e9 ? fmt::format("{:.0f}", number) : "";
}
std::string as_it_is(const FactValues& facts) { return whole(facts[0]); }
std::string difference(const FactValues& facts) { return whole(facts[0] - facts[1]); }

/// Cycles between two instructions of a warp on one of an SM's four partitions.
std::string initiation(double lanes_a_clock) { return whole(32 * 4 / lanes_a_clock); }
std::string pair(const std::string& latency, const std::string& interval) {
  return latency.empty() || interval.empty() ? "" : latency + "," + interval;
}
std::string latency_and_initiation(const FactValues& facts) {
  return pair(whole(facts[0]), initiation(facts[1]));
}

/// An mma.m16n8k16 has 2048 multiply-adds.
std::string mma_initiation(double fma_a_clock) { return whole(2048 * 4 / fma_a_clock); }

const std::vector<SimulatorParameter> gpgpusim{
    {"-gpgpu_compute_capability_major",
     {"gpu.compute_capability"},
     [](const FactValues& f) { return whole(std::floor(f[0])); }},
    {"-gpgpu_compute_capability_minor",
     {"gpu.compute_capability"},
     [](const FactValues& f) { return fmt::format("{:.0f}", 10 * (f[0] - std::floor(f[0]))); }},
    {"-gpgpu_n_clusters", {"gpu.sms"}, as_it_is},  // a cluster with one SM, as upstream has it
    {"-gpgpu_n_cores_per_cluster", {"gpu.sms"}, [](const FactValues&) { return whole(1); }},
    {"-gpgpu_n_mem",
     {"l2.slices"},  // two slices to a channel, as upstream has it
     [](const FactValues& f) { return std::fmod(f[0], 2) == 0 ? whole(f[0] / 2) : ""; }},
    {"-gpgpu_n_chiplet_partition", {"topology.l2_partitions"}, as_it_is},
    {"-gpgpu_shader_registers",
     {"registers.size"},
     [](const FactValues& f) { return whole(f[0] / 4); }},
    {"-gpgpu_shmem_size", {"shared.size"}, as_it_is},
    {"-gpgpu_shmem_sizeDefault", {"shared.size"}, as_it_is},
    {"-gpgpu_smem_latency", {"shared.latency"}, as_it_is},
    {"-gpgpu_l1_latency", {"l1.latency"}, as_it_is},
    // Differences, as the simulator's own tuner makes them.
    {"-gpgpu_l2_rop_latency", {"l2.latency", "l1.latency"}, difference},
    {"-dram_latency", {"dram.latency", "l2.latency"}, difference},
    {"-gpgpu_kernel_launch_latency",
     {"launch.stream_gap", "gpu.sm_clock_max"},
     [](const FactValues& f) { return whole(f[0] * f[1]); }},
    {"-ptx_opcode_latency_sfu", {"mufu_rcp.latency"}, as_it_is},
    {"-ptx_opcode_initiation_sfu",
     {"mufu_rcp.throughput"},
     [](const FactValues& f) { return initiation(f[0]); }},
    {"-ptx_opcode_latency_tesnor", {"mma_f16_k16.latency"}, as_it_is},  // spelled as upstream's
    {"-ptx_opcode_initiation_tensor", {"mma_f16_k16.throughput"}, [](const FactValues& f) {
       return mma_initiation(f[0]);
     }}};

const std::vector<SimulatorParameter> trace{
    {"-trace_opcode_latency_initiation_int",
     {"iadd3.latency", "iadd3.throughput"},
     latency_and_initiation},
    {"-trace_opcode_latency_initiation_sp",
     {"ffma.latency", "ffma.throughput"},
     latency_and_initiation},
    {"-trace_opcode_latency_initiation_dp",
     {"dadd.latency", "dadd.throughput"},
     latency_and_initiation},
    {"-trace_opcode_latency_initiation_sfu",
     {"mufu_rcp.latency", "mufu_rcp.throughput"},
     latency_and_initiation},
    {"-trace_opcode_latency_initiation_tensor",
     {"mma_f16_k16.latency", "mma_f16_k16.throughput"},
     [](const FactValues& f) { return pair(whole(f[0]), mma_initiation(f[1])); }}};

/// What describes hardware, and why it is not exported.
struct NotMeasured {
  const char *names, *why;
};
constexpr NotMeasured not_measured[] = {
    {"-gpgpu_clock_domains", "the clocks of the interconnect and of the L2 are not measured"},
    {"-ptx_opcode_latency_int -ptx_opcode_latency_fp -ptx_opcode_latency_dp "
     "-ptx_opcode_initiation_int -ptx_opcode_initiation_fp -ptx_opcode_initiation_dp",
     "their fifth value is a division, which the GPU has as a subroutine; see trace.config"},
    {"-gpgpu_cache:dl1 -gpgpu_cache:dl2 -gpgpu_unified_l1d_size -gpgpu_shmem_option",
     "sizes and lines are facts (machine, csv), sets and ways are not"},
    {"-gpgpu_n_sub_partition_per_mchannel -gpgpu_l1_banks -gpgpu_shmem_num_banks "
     "-gpgpu_num_reg_banks -gpgpu_cache:il1 -gpgpu_const_cache:l1 -gpgpu_tex_cache:l1",
     "no fact says it"},
    {"-gpgpu_dram_timing_opt -gpgpu_dram_buswidth -gpgpu_dram_burst_length -gpgpu_mem_addr_mapping "
     "-gpgpu_memory_partition_indexing",
     "no fact says it"},
    {"-gpgpu_TB_launch_latency -gpgpu_pipeline_widths -gpgpu_num_sp_units -gpgpu_num_sfu_units "
     "-gpgpu_num_dp_units -gpgpu_num_int_units -gpgpu_num_tensor_core_units",
     "no fact says it"},
    {"-specialized_unit_1 -specialized_unit_2 -specialized_unit_3 -specialized_unit_4 "
     "-trace_opcode_latency_initiation_spec_op_1 -trace_opcode_latency_initiation_spec_op_2 "
     "-trace_opcode_latency_initiation_spec_op_3 -trace_opcode_latency_initiation_spec_op_4",
     "their initiation is not measured"}};

/// The lines of one file; counts what was measured.
std::string lines_of(const std::vector<SimulatorParameter>& parameters, const FactsById& facts,
                     int& measured) {
  std::string text;
  for (const SimulatorParameter& parameter : parameters) {
    FactValues values;
    std::string from, missing, noisy;
    bool from_driver = true;
    for (const char* id : parameter.facts) {
      from += (from.empty() ? "" : ", ") + std::string(id);
      from_driver = from_driver && std::string_view(id).starts_with("gpu.");
      const auto value = facts.value(id);
      if (value)
        values.push_back(*value);
      else if (missing.empty())
        missing = fmt::format("{}: {}", id, facts.reason(id));
      if (facts.noisy(id)) noisy = ", noisy";
    }
    if (missing.empty()) {
      const std::string value = parameter.value(values);
      if (!value.empty()) {
        text += fmt::format("# {}{}\n{} {}\n", from, noisy, parameter.name, value);
        measured += !from_driver;
        continue;
      }
      missing = from + ": the figures do not fit the parameter";
    }
    text += fmt::format("# not measured: {} ({})\n", parameter.name, missing);
  }
  return text;
}

}  // namespace

std::string accelsim_export(const Document& document) {
  require_facts(document, "accelsim");
  const FactsById facts(document);
  int measured = 0;
  std::string text = fmt::format("# {}\n\n# gpgpusim.config\n", origin_of(document));
  text += lines_of(gpgpusim, facts, measured) + "\n# trace.config\n";
  text += lines_of(trace, facts, measured) + "\n";
  if (measured == 0)
    throw Error(ExitCode::incomplete,
                "The result states none of the facts that Accel-Sim has a parameter for: export "
                "one of `fathom run --suite atlas`.");
  for (const NotMeasured& group : not_measured)
    text += fmt::format("# not measured: {}\n#   {}\n", group.names, group.why);
  return text;
}

}  // namespace fathom
