#include <fmt/format.h>

#include <algorithm>

#include "harness/cases.h"
#include "models/occupancy.h"
#include "models/warp_access.h"
#include "probes/claims.h"
#include "probes/device/launch.h"
#include "probes/occupancy/kernels.h"

namespace fathom::occupancy {
namespace {

/// `turned`: the resource that the sweep turns. `whole_waves`: blocks fill each of their waves.
Case make_case(const DeviceFacts& device, const char* turned, const Variant& variant, int threads,
               int shared, bool quick, bool whole_waves) {
  const Kernel kernel = kernel_of(variant);
  // The device's maximum: the attribute stays with the kernel, which other configurations share.
  resident_blocks_with(kernel, threads, static_cast<int>(device.shared_bytes_per_block_max));
  const int resident = resident_blocks_of(kernel, threads, static_cast<std::size_t>(shared));
  const int wave = std::max(1, resident) * device.sms;
  cudaFuncAttributes facts{};
  FATHOM_CUDA(cudaFuncGetAttributes(&facts, reinterpret_cast<const void*>(kernel)));
  const models::Occupancy model =
      models::occupancy(models::sm_limits(device.major, device.minor),
                        {.threads_per_block = threads,
                         .registers_per_thread = facts.numRegs,
                         .static_shared_bytes = static_cast<int>(facts.sharedSizeBytes),
                         .dynamic_shared_bytes = shared});
  const std::size_t per_block = sizeof(uint4) * variant.vectors * threads;
  const std::size_t whole = whole_waves ? per_block * wave : per_block;
  const std::size_t bytes = std::min(std::size_t{1} << 30, device.memory_bytes / 3) / whole * whole;
  const int blocks = variant.persistent ? wave : static_cast<int>(bytes / per_block);
  const char* grid = variant.persistent ? "persistent" : whole_waves ? "whole waves" : "one-shot";

  Case c;
  c.name = fmt::format("{}/{}/vectors:{}/block:{}/ballast:{}/shared:{}", turned, grid,
                       variant.vectors, threads, variant.ballast, shared);
  std::ranges::replace(c.name, ' ', '-');
  c.axes = {{"turned", turned},
            {"grid", grid},
            {"16-byte loads in flight", std::int64_t{variant.vectors}},
            {"block", threads},
            {"registers", std::int64_t{facts.numRegs}},
            {"dynamic shared (B)", shared},
            {"theoretical occupancy (%)", 100 * model.fraction},
            {"limited by", model.limiter}};
  c.suite = quick_if(quick);
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(2.0 * static_cast<double>(bytes));
  const DeviceBound& dram = fathom::bound(device, "dram_bandwidth");
  c.bound = Bound{dram.value, dram.source};
  const models::StreamExpectation stream = expected_stream(
      device, {.read_bytes = bytes,
               .write_bytes = bytes,
               .bytes_per_access = 16,
               .independent_loads = static_cast<double>(variant.vectors),
               .accesses_per_thread = static_cast<double>(bytes) / sizeof(uint4) /
                                      (static_cast<double>(blocks) * threads),
               .resident_threads_per_sm = std::max(1, model.warps) * models::warp_size,
               .threads_per_block = threads});
  // As far as the streaming model may be off with its default parameters.
  c.expected = Expectation{stream.bytes_per_second, 0.25, stream.sentence};
  c.extras = {{"model_blocks_per_sm", model.blocks},
              {"driver_blocks_per_sm", resident},
              {"theoretical_warps", model.warps}};
  const double sectors = static_cast<double>(bytes) / 32;
  c.counters = {{"achieved_occupancy"},
                {"dram_read_bytes", static_cast<double>(bytes), 0.01, "every source byte once"},
                {"global_load_sectors", sectors, 0, "bytes / 32"},
                {"global_store_sectors", sectors, 0, "bytes / 32"},
                {"stall_long_scoreboard"}};
  const Blocks launched{blocks, threads, shared};
  c.prepare = [=](Context& context) {
    return copying(context, bytes, [=, stream = context.stream()](uint4* source, uint4* copy) {
      launch(kernel, launched, stream, source, copy, bytes / sizeof(uint4), 0x2545F491u);
    });
  };
  return c;
}

std::vector<Case> cases(const DeviceFacts& device) {
  std::vector<Case> result;
  std::set<std::string> names;
  const auto add = [&](const char* turned, const Variant& variant, int threads, int shared,
                       bool quick, bool whole_waves = false) {
    Case c = make_case(device, turned, variant, threads, shared, quick, whole_waves);
    // Where two blocks per SM limits meet the same shared-memory size, one of them is enough.
    if (names.insert(c.name).second) result.push_back(std::move(c));
  };
  // O1, O2.
  for (const int threads : {32, 64, 128, 192, 256, 384, 512, 768, 1024})
    add("block size", {}, threads, 0, threads == 32 || threads == 256 || threads == 1024);
  for (const int threads : {256, 1024}) add("block size", {}, threads, 0, false, true);
  // O3, O4: shared memory sets the resident blocks; more loads in flight make up for fewer threads.
  for (const bool persistent : {false, true})
    for (const int vectors : {1, 4})
      for (const int blocks : {1, 2, 3, 4, 6, 8})
        add("shared memory", {persistent, vectors}, 256, shared_for_blocks(device, blocks),
            !persistent && (blocks == 1 || blocks == 2 || blocks == 4));
  for (const int ballast : ballasts)
    for (const int threads : {128, 256})
      add("registers", {true, 1, ballast}, threads, 0, threads == 128);
  add("registers and shared memory", {true, 1, 164}, 256, 32 * 1024, true);
  return result;
}

const Probe probe{
    .name = "occupancy",
    .question =
        "How much occupancy does a memory-bound kernel need, and is it what was computed before "
        "the run?",
    .method =
        "A copy of 1 GiB, 16 bytes an access, with its occupancy turned by block size, by dynamic "
        "shared memory and by registers; one thread per element (one-shot; whole waves: as many "
        "blocks as fill each wave) or one wave of blocks in a loop (persistent). The model's "
        "resident blocks are compared with the driver's for the compiled kernel, and theoretical "
        "occupancy with the counter for active warps.",
    .conclude = conclude,
    .cases = {cases}};

}  // namespace
}  // namespace fathom::occupancy

FATHOM_PROBE(fathom::occupancy::probe)
