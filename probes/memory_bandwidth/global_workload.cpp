#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/memory_bandwidth/cases.h"

// A plan through global memory as a case: what it moves, how that is checked, bounded and counted.

namespace fathom::memory_bandwidth {

std::uint64_t largest_region(const DeviceFacts& device) {
  constexpr std::uint64_t most = std::uint64_t{4} << 30;
  return std::min<std::uint64_t>(most, device.memory_bytes / 8);
}

namespace {

/// `bytes` of random data: prefixes of one buffer up to a size and of another above it, so that a
/// curve of many sizes fills random data twice and not for each of them.
Buffer source(Context& context, std::uint64_t bytes) {
  const std::uint64_t whole =
      bytes <= BufferPool::small_bytes ? BufferPool::small_bytes : largest_region(context.device());
  return {context.buffers().input("src", std::max(bytes, whole)).data, bytes};
}

/// The sum of all 32-bit words, modulo 2^32; synchronises.
std::uint32_t sum_of(Context& context, const Buffer& data, const Buffer& word) {
  FATHOM_CUDA(cudaMemsetAsync(word.data, 0, word.bytes, context.stream()));
  launch(sum_words, check_grid, context.stream(), data.as<std::uint32_t>(),
         data.bytes / sizeof(std::uint32_t), word.as<std::uint32_t>());
  return copy_to_host<std::uint32_t>(word.data, 1, context.stream()).front();
}

/// A workload's `verify`. Loads: the sum of all words, which `loaded` reads, is `passes` times
/// the source's. Stores: the destination holds what so many interleaved `warps` store.
/// Copies: it holds the source.
std::function<std::optional<std::string>()> check_of(Context& context, const Access& access,
                                                     const Buffer& src, const Buffer& dst,
                                                     std::size_t warps, std::uint64_t passes,
                                                     std::function<std::uint32_t()> loaded) {
  cudaStream_t stream = context.stream();
  if (access.operation == Operation::copy)
    return [=] { return check_copied(src.data, dst.data, dst.bytes, stream); };
  if (access.operation == Operation::load) {
    const Buffer word = context.buffers().output("word", sizeof(std::uint32_t));
    const auto expected = sum_of(context, src, word) * static_cast<std::uint32_t>(passes);
    return [=]() -> std::optional<std::string> {
      const std::uint32_t sum = loaded();
      if (sum == expected) return std::nullopt;
      return fmt::format("the words loaded sum to {:#x} instead of {:#x}", sum, expected);
    };
  }
  return [=, &context] {
    return none_wrong(
        context,
        [&](unsigned long long* wrong) {
          launch(count_wrong_words, check_grid, stream, dst.as<std::uint32_t>(), dst.bytes / 4,
                 access, static_cast<std::uint32_t>(warps), wrong);
        },
        fmt::format("of {} words were not stored", dst.bytes / 4));
  };
}

/// Gives the L1 all that it can have.
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

Reporting prepare(Context& context, const GlobalShape& shape) {
  cudaStream_t stream = context.stream();
  BufferPool& buffers = context.buffers();
  const Access access = shape.plan.access;
  const bool tiles = shape.plan.tiles;
  const int warps = shape.walk_shape.warps, threads = warps * warp_lanes;
  // Blocks that share out the working set, and what tells the sum of what they load.
  const int parts =
      tiles ? static_cast<int>(shape.region / granule(shape.walk_shape)) : shape.walk_shape.blocks;
  const std::size_t all_warps = static_cast<std::size_t>(parts) * static_cast<std::size_t>(warps);
  Buffer src, dst;  // of loads and copies, of stores and copies; else without data
  if (access.operation != Operation::store) src = source(context, shape.region);
  if (access.operation != Operation::load) dst = buffers.output("dst", shape.region);
  const Buffer told = tiles ? buffers.output("sums", tile_sums * sizeof(std::uint32_t))
                            : buffers.output("reports", all_warps * sizeof(WarpReport));
  Reporting result;
  if (tiles) {
    const TileRun run{access, static_cast<std::uint32_t>(parts), src.data, dst.data,
                      told.as<std::uint32_t>()};
    const auto kernel = tile_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=, grid = Blocks{parts * shape.passes, threads}] {
      launch(kernel, grid, stream, run);
    };
  } else {
    const GlobalRun run{access,
                        plan_walk(shape.walk_shape, shape.region, shape.passes),
                        parts,
                        threads,
                        src.data,
                        dst.data,
                        told.as<WarpReport>()};
    const auto kernel = global_kernel(access);
    prefer_l1(kernel);
    result.workload.launch = [=] { launch(kernel, {parts, threads}, stream, run); };
    if (shape.plan.chosen_sms) result.workload.launch = launch_on_chosen(context, run);
    result.reports = told;
    result.bytes_per_warp = shape.bytes_moved / static_cast<double>(all_warps);
    result.in_kernel = shape.plan.in_kernel;
  }
  result.workload.poison = [=, &buffers] {
    // The sums go on from launch to launch; that of one launch is looked at.
    if (tiles)
      FATHOM_CUDA(cudaMemsetAsync(told.data, 0, told.bytes, stream));
    else
      buffers.poison(told);
    if (dst.data != nullptr) buffers.poison(dst);
  };
  result.workload.verify =
      check_of(context, access, src, dst, all_warps,
               touches_per_pass(shape.walk_shape) * static_cast<std::uint64_t>(shape.passes), [=] {
                 std::uint32_t sum = 0;
                 if (tiles)
                   for (const std::uint32_t s : copy_to_host<std::uint32_t>(told, stream)) sum += s;
                 else
                   for (const WarpReport& r : copy_to_host<WarpReport>(told, stream)) sum += r.sum;
                 return sum;
               });
  return result;
}

/// "ld.global.cg", "st.global", "ld.global.cg, st.global".
std::string instruction_of(const Access& access) {
  constexpr const char* loads[] = {"ld.global", "ld.global.cg", "ld.global.L1::no_allocate"};
  const std::string load = loads[static_cast<int>(access.path)];
  if (access.operation == Operation::load) return load;
  return access.operation == Operation::store ? "st.global" : load + ", st.global";
}

}  // namespace

GlobalShape shape_of(const GlobalPlan& plan) {
  const bool copies = plan.access.operation == Operation::copy;
  GlobalShape shape;
  shape.plan = plan;
  shape.walk_shape = {plan.sharing, plan.tiles ? 1 : plan.sms * plan.blocks_per_sm, plan.warps,
                      plan.access.tile()};
  const std::uint64_t wanted = copies ? plan.bytes / 2 : plan.bytes;
  while (granule(shape.walk_shape) > wanted && shape.walk_shape.warps > 1)
    shape.walk_shape.warps /= 2;
  const std::uint64_t unit = granule(shape.walk_shape);
  shape.region = std::max<std::uint64_t>(1, wanted / unit) * unit;
  shape.working_set = copies ? 2 * shape.region : shape.region;
  const double pass = static_cast<double>(shape.working_set) *
                      static_cast<double>(touches_per_pass(shape.walk_shape));
  shape.passes = std::max(1, static_cast<int>(plan.traffic / pass + 0.5));
  shape.bytes_moved = pass * shape.passes;
  return shape;
}

Case global_case(const DeviceFacts& device, const char* sweep, const char* level, Suite suite,
                 const GlobalPlan& plan) {
  constexpr const char* sharings[] = {"each warp its part", "each SM its part",
                                      "every SM everything"};
  const GlobalShape shape = shape_of(plan);
  const Access& access = plan.access;
  const std::int64_t warps_per_sm = std::int64_t{shape.walk_shape.warps} * plan.blocks_per_sm;
  Axes more{
      {"SMs", std::int64_t{plan.sms}},
      {"warps per SM", warps_per_sm},
      {"loads in flight", std::int64_t{access.loads}},
      {"sharing", plan.tiles ? "each warp one tile" : sharings[static_cast<int>(plan.sharing)]},
      {"working set (B)", static_cast<std::int64_t>(shape.working_set)},
      {"bytes in flight (B)", warps_per_sm * plan.sms * static_cast<std::int64_t>(access.tile())}};
  if (plan.chosen_sms) more.emplace_back("SM order", "even smids first");
  Case c =
      make_case(sweep, level, access.operation, instruction_of(access), access.width, more, suite);
  c.value = rate(shape.bytes_moved);
  c.cache = plan.cache;
  // Every byte passes an SM's load/store path, the L1's data stage. What lies between SM and L2 is
  // no narrower: one SM of an H200 alone takes 115 B/clk from the L2 (this probe).
  c.bound =
      sm_bound(device, plan.sms, limits_of(device).l1_bytes_per_clock, "the SM's load/store path");
  c.extras = {{"bytes_moved", shape.bytes_moved}, {"passes", shape.passes}};
  c.prepare = report_workload([shape](Context& context) { return prepare(context, shape); });
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
