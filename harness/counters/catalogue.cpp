#include "harness/counters/catalogue.h"

#include <algorithm>
#include <vector>

#include "results/text.h"

namespace fathom {
namespace {

constexpr bool exact = true, varies = false;

// Sectors are of 32 bytes, rates shares of look-ups or of active cycles.
const std::vector<Role> counts_and_rates{
    {"global_load_sectors", "sectors", exact, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"global_store_sectors", "sectors", exact, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {"global_load_requests", "requests", exact, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"global_store_requests", "requests", exact, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"global_load_instructions", "instructions", exact, "smsp__inst_executed_op_global_ld.sum"},
    {"global_store_instructions", "instructions", exact, "smsp__inst_executed_op_global_st.sum"},
    {"global_async_copy_sectors", "sectors", exact,
     "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"},
    {"global_reduction_requests", "requests", exact,
     "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
    {"global_reduction_sectors", "sectors", exact,
     "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"},
    {"global_atomic_requests", "requests", exact,
     "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
    {"global_atomic_sectors", "sectors", exact, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"},
    {"l1_hit_rate", "%", varies, "l1tex__t_sector_hit_rate.pct"},
    // A write of a whole sector always hits.
    {"l2_hit_rate", "%", varies, "lts__t_sector_hit_rate.pct"},
    {"l2_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.sum"},
    // The mean over the slices of the L2, and the busiest slice.
    {"l2_slice_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.avg"},
    {"l2_busiest_slice_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.max"},
    {"l2_write_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_write.sum"},
    {"l2_reduction_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_red.sum"},
    {"l2_atomic_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_atom.sum"},
    {"l2_read_hit_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum"},
    {"dram_read_bytes", "B", varies, "dram__bytes_read.sum"},
    {"dram_write_bytes", "B", varies, "dram__bytes_write.sum"},
    // Not the smsp__sass_... names of the wavefronts: on an H200 the one of stores gave the loads'
    // count, while these gave the expected count exactly.
    {"shared_load_wavefronts", "wavefronts", exact,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
    {"shared_store_wavefronts", "wavefronts", exact,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
    {"shared_load_conflicts", "conflicts", exact,
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
    {"shared_store_conflicts", "conflicts", exact,
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
    {"shared_load_instructions", "instructions", exact, "smsp__inst_executed_op_shared_ld.sum"},
    {"shared_store_instructions", "instructions", exact, "smsp__inst_executed_op_shared_st.sum"},
    {"shared_atomic_instructions", "instructions", exact, "smsp__inst_executed_op_shared_atom.sum"},
    {"shared_atomic_wavefronts", "wavefronts", varies,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"},
    {"shared_matrix_load_instructions", "instructions", exact, "smsp__inst_executed_op_ldsm.sum"},
    {"instructions_executed", "instructions", exact, "smsp__inst_executed.sum"},
    // fp32, by thread; all other instructions are counted by warp.
    {"fma_instructions", "instructions", exact,
     "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"},
    {"tensor_instructions", "instructions", exact, "sm__inst_executed_pipe_tensor.sum"},
    {"tensor_pipe_active", "%", varies,
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    {"achieved_occupancy", "%", varies, "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"issue_active", "issues per cycle", varies, "smsp__issue_active.avg.per_cycle_active"},
    {"gpu_time", "ns", varies, "gpu__time_duration.sum"},
    {"sm_cycles_active", "cycles", varies, "sm__cycles_active.avg"},
};

/// Warp-cycles in a state per instruction issued (warps per cycle over issues per cycle); the
/// states' sum is the mean latency between two issues of one warp. See the warp-state metrics in
/// Nsight Compute's documentation.
constexpr const char* stall_reasons[] = {
    "long_scoreboard",    "short_scoreboard", "lg_throttle",  "mio_throttle", "tex_throttle",
    "math_pipe_throttle", "barrier",          "membar",       "wait",         "gmma",
    "branch_resolving",   "dispatch_stall",   "drain",        "imc_miss",     "misc",
    "no_instruction",     "sleeping",         "not_selected", "selected"};

const std::vector<Role> table = [] {
  std::vector<Role> all = counts_and_rates;
  for (const std::string reason : stall_reasons)
    all.push_back({"stall_" + reason, "warps per issue", varies,
                   "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio"});
  return all;
}();

}  // namespace

std::span<const Role> roles() { return table; }

const Role& role(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Role::name);
  if (found == table.end()) {
    fail(ExitCode::bad_input,
         "There is no hardware counter role named '{}': take one of those in "
         "harness/counters/catalogue.cpp.",
         name);
  }
  return *found;
}

std::string find_metric(std::string_view role_name, std::string_view chip) {
  // Desktop Blackwell names them otherwise.
  if (chip.starts_with("GB20") && role_name.starts_with("dram_"))
    return role_name == "dram_read_bytes" ? "dram__bytes_op_read.sum" : "dram__bytes_op_write.sum";
  return role(role_name).metric;
}

}  // namespace fathom
