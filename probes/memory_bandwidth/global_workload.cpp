#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"

// A plan through global memory as a case: what it moves, how that is checked, bounded and counted.

namespace fathom::memory_bandwidth {

std::uint64_t largest_region(const DeviceFacts& device) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;
  return std::min<std::uint64_t>(most, device.memory_bytes / 8);
}

namespace {

/// Prefixes of two buffers, so that a curve of many sizes fills random data only twice.
Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

/// The sum of all 32-bit words, modulo 2^32; synchronises.
std::uint32_t sum_of(Context& context, const Buffer& data) {
  const Buffer word = context.buffers().output("word", sizeof(std::uint32_t));
  FATHOM_CUDA(cudaMemsetAsync(word.data, 0, word.bytes, context.stream()));
  launch(sum_words, check_grid, context.stream(), data.as<std::uint32_t>(),
         data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>());
  return copy_to_host<std::uint32_t>(word, context.stream()).front();
}

template <class Run>
void prefer_l1(void (*kernel)(Run)) {
  FATHOM_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
}

/// Launches `run` on the first of the SMs in their order, one block on each.
std::function<void()> launch_on_chosen(Context& context, const GlobalRun& run) {
  if (run.access != Access{})
    throw std::invalid_argument("chosen SMs load by ld.global.cg, four times 16 bytes, alone");
  cudaStream_t stream = context.stream();
  const Buffer started = context.buffers().output("started", sizeof(unsigned));
  FATHOM_CUDA(cudaMemsetAsync(started.data, 0, started.bytes, stream));
  const SmRun chosen{run, started.as<unsigned>()};
  const Blocks grid{context.device().sms, run.threads, one_block_shared_bytes(context.device())};
  resident_blocks_with(stream_on_sms, grid.threads, grid.dynamic_shared);
  return [=] { launch(stream_on_sms, grid, stream, chosen); };
}

Reporting prepare(Context& context, const GlobalPlan& plan) {
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  const Access access = plan.access;
  const bool tiles = plan.tiles;
  const WalkShape walk = plan.walk();
  const int threads = plan.warps * warp_lanes;
  // Blocks that share out the working set, and what tells the sum of what they load.
  const int parts = tiles ? static_cast<int>(plan.region() / granule(walk)) : walk.blocks;
  const std::size_t all_warps = static_cast<std::size_t>(parts) * plan.warps;
  Buffer src, dst;  // of loads and copies, of stores and copies; else without data
  if (access.operation != Operation::store) src = source(context, plan.region());
  if (access.operation != Operation::load) dst = buffers.output("dst", plan.region());
  const Buffer told = tiles ? buffers.output("sums", tile_sums * sizeof(std::uint32_t))
                            : buffers.output("reports", all_warps * sizeof(WarpReport));
  Reporting result;
  if (tiles) {
    const TileRun run{access, static_cast<std::uint32_t>(parts), src.data, dst.data,
                      told.as<std::uint32_t>()};
    const auto kernel = tile_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=, grid = Blocks{parts * plan.passes, threads}] {
      launch(kernel, grid, stream, run);
    };
  } else {
    const GlobalRun run{access,
                        plan_walk(walk, plan.region(), plan.passes),
                        parts,
                        threads,
                        src.data,
                        dst.data,
                        told.as<WarpReport>()};
    const auto kernel = global_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=] { launch(kernel, {parts, threads}, stream, run); };
    if (plan.chosen_sms) result.workload.launch = launch_on_chosen(context, run);
    result.reports = told;
    result.bytes_per_warp = plan.bytes_of_pass() * plan.passes / static_cast<double>(all_warps);
    result.in_kernel = plan.in_kernel;
  }
  result.workload.poison = [=, &buffers] {
    // The sums go on from launch to launch; that of one launch is looked at.
    if (tiles)
      FATHOM_CUDA(cudaMemsetAsync(told.data, 0, told.bytes, stream));
    else
      buffers.poison(told);
    if (dst.data != nullptr) buffers.poison(dst);
  };
  // Loads add up each word once for each touch and pass.
  std::uint32_t expected = 0;
  if (access.operation == Operation::load)
    expected = sum_of(context, src) * static_cast<std::uint32_t>(touches_per_pass(walk)) *
               static_cast<std::uint32_t>(plan.passes);
  result.workload.verify = [=, &context]() -> std::optional<std::string> {
    if (access.operation == Operation::copy)
      return check_copied(src.data, dst.data, dst.bytes, stream);
    if (access.operation == Operation::store)
      return none_wrong(
          context,
          [&](unsigned long long* wrong) {
            launch(count_wrong_words, check_grid, stream, dst.as<std::uint32_t>(), dst.bytes / 4,
                   access, static_cast<std::uint32_t>(all_warps), wrong);
          },
          fmt::format("of {} words were not stored", dst.bytes / 4));
    std::uint32_t sum = 0;
    if (tiles)
      for (const std::uint32_t s : copy_to_host<std::uint32_t>(told, stream)) sum += s;
    else
      for (const WarpReport& r : copy_to_host<WarpReport>(told, stream)) sum += r.sum;
    if (sum == expected) return std::nullopt;
    return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
  };
  return result;
}

std::string instruction_of(const Access& access) {
  constexpr const char* loads[] = {"ld.global", "ld.global.cg", "ld.global.L1::no_allocate"};
  const std::string load = loads[static_cast<int>(access.path)];
  if (access.operation == Operation::load) return load;
  return access.operation == Operation::store ? "st.global" : load + ", st.global";
}

}  // namespace

double GlobalPlan::bytes_of_pass() const {
  return static_cast<double>(bytes) * static_cast<double>(touches_per_pass(walk()));
}

GlobalPlan fitted(GlobalPlan plan) {
  while (granule(plan.walk()) > plan.region() && plan.warps > 1) plan.warps /= 2;
  const std::uint64_t unit = granule(plan.walk());
  plan.bytes = std::max<std::uint64_t>(1, plan.region() / unit) * unit * plan.copies();
  plan.passes = std::max(1, static_cast<int>(plan.traffic / plan.bytes_of_pass() + 0.5));
  return plan;
}

Case global_case(const DeviceFacts& device, const char* sweep, const char* level, Suite suite,
                 const GlobalPlan& wanted) {
  constexpr const char* sharings[] = {"each warp its part", "each SM its part",
                                      "every SM everything"};
  const GlobalPlan plan = fitted(wanted);
  const Access& access = plan.access;
  const std::int64_t warps_per_sm = std::int64_t{plan.warps} * plan.blocks_per_sm;
  Axes more{
      {"SMs", std::int64_t{plan.sms}},
      {"warps per SM", warps_per_sm},
      {"loads in flight", std::int64_t{access.loads}},
      {"sharing", plan.tiles ? "each warp one tile" : sharings[static_cast<int>(plan.sharing)]},
      {"working set (B)", static_cast<std::int64_t>(plan.bytes)},
      {"bytes in flight (B)", warps_per_sm * plan.sms * static_cast<std::int64_t>(access.tile())}};
  if (plan.chosen_sms) more.emplace_back("SM order", "even smids first");
  Case c =
      make_case(sweep, level, access.operation, instruction_of(access), access.width, more, suite);
  const double moved = plan.bytes_of_pass() * plan.passes;
  c.value = rate(moved);
  c.cache = plan.cache;
  // Every byte passes an SM's load/store path, the L1's data stage. What lies between SM and L2 is
  // no narrower: one SM of an H200 alone takes 115 B/clk from the L2 (this probe).
  c.bound =
      sm_bound(device, plan.sms, limits_of(device).l1_bytes_per_clock, "the SM's load/store path");
  c.extras = {{"bytes_moved", moved}, {"passes", plan.passes}};
  c.prepare = report_workload([plan](Context& context) { return prepare(context, plan); });
  return c;
}

void count(Case& c, const GlobalPlan& plan, Level level) {
  constexpr double sector = 32;
  const bool loads = plan.access.operation != Operation::store;
  const bool stores = plan.access.operation != Operation::load;
  const double one_way = c.extras.at("bytes_moved") / (loads && stores ? 2 : 1);
  if (loads) {
    c.counters.push_back({"global_load_sectors", one_way / sector, 0, "bytes loaded / 32"});
    // Exact on an H200 wherever a sector is asked for by one warp at a time; where several warps or
    // SMs ask for it at once, less is read than loaded.
    if (level != Level::l1 && plan.sharing == Sharing::interleaved)
      c.counters.push_back({"l2_read_sectors", one_way / sector, 0.001, "bytes loaded / 32"});
    else
      c.counters.push_back({"l2_read_sectors"});
  }
  if (stores)
    for (const char* role : {"global_store_sectors", "l2_write_sectors"})
      c.counters.push_back(
          {role, one_way / sector, 0.005, "bytes stored / 32, the reports left out"});
  c.counters.insert(c.counters.end(), {{"l1_hit_rate"}, {"l2_hit_rate"}});
  if (level != Level::dram) c.counters.push_back({"dram_read_bytes"});
  if (level == Level::dram && loads)
    c.counters.push_back({"dram_read_bytes", one_way, 0.02, "every byte loaded once"});
  if (level == Level::dram && stores)
    c.counters.push_back({"dram_write_bytes", one_way, 0.05,
                          "every byte stored once; the L2 may keep the last of them back"});
}

}  // namespace fathom::memory_bandwidth
