#include "harness/counters/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/fail.h"

namespace fathom {
namespace {

constexpr bool exact = true, varies = false;

// Integrated GPUs share the processor's memory controller, whose counters CUPTI does not offer.
const std::vector<std::string> integrated = {"GA10B", "GB10B", "GB20B"};
const std::vector<std::string> turing = {"TU"};

Role::Exception no_dram_unit() {
  return {integrated, "",
          "an integrated GPU shares the processor's memory, and CUPTI offers no counters of it"};
}

Role stall(const std::string& reason, const std::string& meaning,
           std::vector<Role::Exception> exceptions = {}) {
  return {"stall_" + reason,
          "warps per issue",
          varies,
          "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio",
          meaning,
          std::move(exceptions)};
}

std::vector<Role> global_memory_rows() {
  return {
      {"global_load_sectors", "sectors", exact, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
       "32-byte sectors that global loads asked the L1 for."},
      {"global_store_sectors", "sectors", exact, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
       "32-byte sectors that global stores wrote through the L1."},
      {"global_load_requests", "requests", exact, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
       "Global load requests of whole warps to the L1."},
      {"global_store_requests", "requests", exact,
       "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
       "Global store requests of whole warps to the L1."},
      {"global_load_instructions", "instructions", exact, "smsp__inst_executed_op_global_ld.sum",
       "Warp-level global load instructions executed."},
      {"global_store_instructions", "instructions", exact, "smsp__inst_executed_op_global_st.sum",
       "Warp-level global store instructions executed."},
      {"global_async_copy_sectors",
       "sectors",
       exact,
       "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
       "32-byte sectors that cp.async read from global memory.",
       {{turing, "", "Turing has no asynchronous copy (cp.async)"}}},
      {"global_reduction_requests", "requests", exact,
       "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
       "Global reductions (atomics without a result)."},
      {"global_reduction_sectors", "sectors", exact,
       "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
       "32-byte sectors that global reductions touched."},
      {"global_atomic_requests", "requests", exact,
       "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
       "Global atomics with a result, of whole warps."},
      {"global_atomic_sectors", "sectors", exact,
       "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
       "32-byte sectors that global atomics with a result touched."},
      {"l1_hit_rate", "%", varies, "l1tex__t_sector_hit_rate.pct",
       "Share of the L1's sector look-ups that hit."},
      {"l2_hit_rate", "%", varies, "lts__t_sector_hit_rate.pct",
       "Share of the L2's sector look-ups that hit; a write of a whole sector always hits."},
      {"l2_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.sum",
       "32-byte sectors that the SMs read from the L2."},
      {"l2_slice_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.avg",
       "Sectors that the SMs read from a slice of the L2, mean."},
      {"l2_busiest_slice_read_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_read.max",
       "Sectors that the SMs read from the slice of the L2 that they read most from."},
      {"l2_write_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_write.sum",
       "32-byte sectors that the SMs wrote to the L2."},
      {"l2_reduction_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_red.sum",
       "32-byte sectors in which the L2 performed reductions."},
      {"l2_atomic_sectors", "sectors", varies, "lts__t_sectors_srcunit_tex_op_atom.sum",
       "32-byte sectors in which the L2 performed atomics with a result."},
      {"l2_read_hit_sectors", "sectors", varies,
       "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
       "32-byte sectors that the SMs read and the L2 had."},
      {"dram_read_bytes",
       "B",
       varies,
       "dram__bytes_read.sum",
       "Bytes read from device memory.",
       {{{"GB202", "GB203", "GB205", "GB206", "GB207"}, "dram__bytes_op_read.sum", ""},
        no_dram_unit()}},
      {"dram_write_bytes",
       "B",
       varies,
       "dram__bytes_write.sum",
       "Bytes written to device memory.",
       {{{"GB202", "GB203", "GB205", "GB206", "GB207"}, "dram__bytes_op_write.sum", ""},
        no_dram_unit()}},
  };
}

// Not the smsp__sass_... names of the wavefronts: on an H200 the one of stores gave the loads'
// count, while these gave the expected count exactly.
std::vector<Role> shared_memory_rows() {
  return {
      {"shared_load_wavefronts", "wavefronts", exact,
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
       "Passes through the shared-memory data stage that loads took."},
      {"shared_store_wavefronts", "wavefronts", exact,
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
       "Passes through the shared-memory data stage that stores took."},
      {"shared_load_conflicts", "conflicts", exact,
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
       "Wavefronts of shared loads beyond those that the access width needs."},
      {"shared_store_conflicts", "conflicts", exact,
       "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
       "Wavefronts of shared stores beyond those that the access width needs."},
      {"shared_load_instructions", "instructions", exact, "smsp__inst_executed_op_shared_ld.sum",
       "Warp-level shared load instructions executed."},
      {"shared_store_instructions", "instructions", exact, "smsp__inst_executed_op_shared_st.sum",
       "Warp-level shared store instructions executed."},
      {"shared_atomic_instructions", "instructions", exact,
       "smsp__inst_executed_op_shared_atom.sum", "Warp-level shared atomic instructions executed."},
      {"shared_atomic_wavefronts", "wavefronts", varies,
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
       "Passes through the shared-memory data stage that atomics took."},
      {"shared_matrix_load_instructions", "instructions", exact, "smsp__inst_executed_op_ldsm.sum",
       "Warp-level ldmatrix instructions executed."},
  };
}

std::vector<Role> sm_rows() {
  return {
      {"instructions_executed", "instructions", exact, "smsp__inst_executed.sum",
       "Warp-level instructions executed."},
      {"fma_instructions", "instructions", exact,
       "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
       "fp32 fused multiply-adds, counted by thread."},
      {"tensor_instructions", "instructions", exact, "sm__inst_executed_pipe_tensor.sum",
       "Warp-level tensor-core instructions executed."},
      {"tensor_pipe_active", "%", varies,
       "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
       "Share of the active cycles in which the tensor pipe worked."},
      {"achieved_occupancy", "%", varies, "sm__warps_active.avg.pct_of_peak_sustained_active",
       "Resident warps per active SM cycle against the SM's maximum."},
      {"issue_active", "issues per cycle", varies, "smsp__issue_active.avg.per_cycle_active",
       "Share of a scheduler's active cycles in which it issued an instruction."},
      {"gpu_time", "ns", varies, "gpu__time_duration.sum", "Time that the GPU took."},
      {"sm_cycles_active", "cycles", varies, "sm__cycles_active.avg",
       "SM cycles with at least one resident warp, mean over SMs."},
  };
}

/// Warp-cycles in each state per instruction issued (warps per cycle over issues per cycle); the
/// states' sum is the mean latency between two issues of one warp. See the warp-state metrics in
/// Nsight Compute's documentation.
std::vector<Role> stall_rows() {
  return {
      stall("long_scoreboard", "Waits for the result of a global, local or texture access."),
      stall("short_scoreboard",
            "Waits for the result of a shared-memory access or slow arithmetic."),
      stall("lg_throttle", "Waits for room in the queue of global and local memory instructions."),
      stall("mio_throttle", "Waits for room in the queue of shared-memory and other MIO work."),
      stall("tex_throttle", "Waits for room in the queue of texture instructions."),
      stall("math_pipe_throttle", "Waits for an arithmetic pipe that is busy."),
      stall("barrier", "Waits for the other warps of its block at a barrier."),
      stall("membar", "Waits for a memory fence."),
      stall("wait", "Waits out the fixed latency of its previous instruction."),
      stall("gmma", "Waits for an asynchronous warpgroup matrix product.",
            {{{"TU", "GA", "AD", "GB"}, "", "only Hopper has warpgroup matrix products (wgmma)"}}),
      stall("branch_resolving", "Waits for a branch target."),
      stall("dispatch_stall", "Waits for the dispatcher."),
      stall("drain", "Waits at its end for its stores to leave the SM."),
      stall("imc_miss", "Waits for a miss in the cache of immediate constants.",
            {{{"GB"}, "", "Blackwell does not report misses of immediate constants apart"}}),
      stall("misc", "Waits for another reason."),
      stall("no_instruction", "Waits for an instruction to be fetched."),
      stall("sleeping", "Sleeps by its own request."),
      stall("not_selected", "Could issue, but the scheduler chose another warp."),
      stall("selected", "Issues an instruction."),
  };
}

}  // namespace

std::span<const Role> roles() {
  static const std::vector<Role> all = [] {
    std::vector<Role> result;
    for (auto part : {global_memory_rows(), shared_memory_rows(), sm_rows(), stall_rows()})
      result.insert(result.end(), part.begin(), part.end());
    return result;
  }();
  return all;
}

const Role& role(std::string_view name) {
  const auto found = std::ranges::find(roles(), name, &Role::name);
  if (found == roles().end()) {
    fail(ExitCode::bad_input,
         "There is no hardware counter role named '{}': take one of those in "
         "harness/counters/catalogue.cpp.",
         name);
  }
  return *found;
}

std::vector<std::string> stall_roles() {
  std::vector<std::string> names;
  for (const Role& r : stall_rows()) names.push_back(r.name);
  return names;
}

CatalogueEntry find_metric(std::string_view role_name, std::string_view chip) {
  const Role& found = role(role_name);
  for (const Role::Exception& exception : found.exceptions) {
    for (const std::string& prefix : exception.chips) {
      if (!chip.starts_with(prefix)) continue;
      if (!exception.metric.empty()) return {exception.metric, ""};
      return {"", fmt::format("unavailable on {}: {}", chip, exception.reason)};
    }
  }
  return {found.metric, ""};
}

}  // namespace fathom
