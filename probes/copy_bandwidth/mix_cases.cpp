// Other mixes of reading and writing, and copies by the asynchronous copy instructions.

#include <fmt/format.h>

#include <algorithm>

#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {
namespace {

constexpr int threads = 256;

const char* name_of(Mix mix) {
  constexpr const char* names[] = {"read", "write", "scale", "add", "triad"};
  return names[static_cast<int>(mix)];
}

int inputs_of(Mix mix) {
  if (mix == Mix::write) return 0;
  return mix == Mix::add || mix == Mix::triad ? 2 : 1;
}

Workload mix_workload(Context& context, Mix mix, ElementType type) {
  cudaStream_t stream = context.stream();
  const Fill fill = mix == Mix::read               ? Fill::random_bits
                    : type == ElementType::float64 ? Fill::uniform_double
                                                   : Fill::uniform_float;
  MixRun run{.bytes = base_bytes, .threads = threads};
  if (inputs_of(mix) >= 1) run.a = source_buffer(context, base_bytes, fill).data;
  if (inputs_of(mix) >= 2) run.b = context.buffers().input("second src", base_bytes, fill).data;
  const std::size_t out_bytes =
      mix == Mix::read ? base_bytes / read_bytes_per_fold * 4 : base_bytes;
  const Buffer out = destination_buffer(context, out_bytes);
  run.out = out.data;
  Workload workload;
  workload.launch = [=] { launch_mix(mix, type, run, stream); };
  workload.poison = poisoning(context, {out});
  workload.verify = [=, &context] {
    return checked(
        context,
        [&](unsigned long long* wrong) { launch_check_mix(mix, type, run, wrong, stream); },
        "elements of the output");
  };
  return workload;
}

Case mix_case(const DeviceFacts& device, Mix mix, ElementType type, Suite suite) {
  const bool typed = inputs_of(mix) > 0 && mix != Mix::read;
  const std::string type_name = typed ? copy_bandwidth::name_of(type) : "bits";
  const auto inputs = static_cast<std::uint64_t>(inputs_of(mix));
  const models::StreamCost one = models::contiguous_cost(base_bytes, 16, 4, 0, threads);
  Work work;
  work.read_bytes = inputs * base_bytes;
  work.write_bytes = base_bytes;
  work.loads = {one.sectors * inputs, one.requests * inputs, one.bytes * inputs};
  work.stores = one;
  work.unroll = inputs > 1 ? 2 : 1;
  work.threads = threads;
  work.grid_threads = base_bytes / 16;
  work.streams_through_dram = true;
  if (mix == Mix::read) {
    const std::size_t folds = base_bytes / read_bytes_per_fold;
    work.write_bytes = folds * 4;
    work.stores = {folds, folds, folds * 4};  // one lane's word of each warp
    work.unroll = read_packs_per_thread;
    work.grid_threads = folds * 32;
  }
  Case c = bandwidth_case(device, fmt::format("mix/{}/type:{}", name_of(mix), type_name), work);
  c.axes = {{"sweep", "mix"},
            {"mix", name_of(mix)},
            {"type", type_name},
            {"arrays read", static_cast<std::int64_t>(inputs)},
            {"arrays written", std::int64_t{mix == Mix::read ? 0 : 1}},
            {"bytes per thread", std::int64_t{16}},
            {"block", std::int64_t{threads}}};
  c.suite = suite;
  c.prepare = [mix, type](Context& context) { return mix_workload(context, mix, type); };
  return c;
}

Case async_case(const DeviceFacts& device, int block, Suite suite) {
  Work work = copy_work({ElementType::float32, 4}, base_bytes, block);
  const auto sectors = static_cast<double>(work.loads.sectors);
  work.loads_counted = false;
  Case c = bandwidth_case(device, fmt::format("async/cp.async/block:{}", block), work);
  c.counters.push_back({"global_async_copy_sectors", sectors, 0, "bytes / 32"});
  c.axes = {{"sweep", "async"},
            {"instruction", "cp.async"},
            {"load hint", "none"},
            {"tile (B)", std::int64_t{16} * block},
            {"block", std::int64_t{block}}};
  c.suite = suite;
  c.prepare = [block](Context& context) {
    return copy_workload(context, base_bytes, block, launch_async_copy);
  };
  return c;
}

Case bulk_case(const DeviceFacts& device, int tile_bytes, bool evict_last, Suite suite) {
  Work work = copy_work({ElementType::float32, 4}, base_bytes, 32);
  work.loads_counted = work.stores_counted = false;
  const char* hint = evict_last ? "L2::evict_last" : "none";
  Case c = bandwidth_case(
      device, fmt::format("async/cp.async.bulk/tile:{}/load:{}", tile_bytes, hint), work);
  // A block keeps its whole tile in flight, and as many are resident as their tiles leave room for.
  const std::size_t room = tile_bytes + device.reserved_shared_bytes_per_block + 128;
  const std::size_t blocks =
      std::min<std::size_t>(device.blocks_per_sm, device.shared_bytes_per_sm / room);
  const models::StreamExpectation stream = models::expected_stream(
      {bound(device, "dram_bandwidth").value, device.sms, device.sm_clock_max_hz, device.l2_bytes},
      {.read_bytes = base_bytes,
       .write_bytes = base_bytes,
       .bytes_per_access = 16,
       .independent_loads = tile_bytes / 16.0,
       .accesses_per_thread = tile_bytes / 16.0,
       .resident_threads_per_sm = static_cast<int>(blocks),
       .threads_per_block = 1,
       .hot = true});
  c.expected->value = stream.bytes_per_second;
  c.expected->model = "streaming model: " + stream.sentence;
  c.axes = {{"sweep", "async"},
            {"instruction", "cp.async.bulk"},
            {"load hint", hint},
            {"tile (B)", std::int64_t{tile_bytes}},
            {"block", std::int64_t{32}}};
  c.suite = suite;
  c.prepare = [tile_bytes, evict_last](Context& context) {
    return copy_workload(context, base_bytes, 32, [=](const CopyRun& run, cudaStream_t stream) {
      launch_bulk_copy({run.src, run.dst, run.bytes, tile_bytes, evict_last}, stream);
    });
  };
  return c;
}

}  // namespace

std::vector<Case> async_cases(const DeviceFacts& device) {
  std::vector<Case> cases;
  if (device.major >= 8) {
    cases.push_back(async_case(device, 256, Suite::quick));
    cases.push_back(async_case(device, 512, Suite::standard));
  }
  if (device.major >= 9) {
    for (const bool evict_last : {true, false}) {
      for (const int tile : {2048, 4096, 16384}) {
        const bool quick = evict_last && tile == 2048;
        cases.push_back(bulk_case(device, tile, evict_last, quick_if(quick)));
      }
    }
  }
  return cases;
}

std::vector<Case> mix_cases(const DeviceFacts& device) {
  using enum ElementType;
  std::vector<Case> cases{mix_case(device, Mix::read, float32, Suite::quick),
                          mix_case(device, Mix::write, float32, Suite::quick)};
  for (const ElementType type : {float32, float64}) {
    for (const Mix mix : {Mix::scale, Mix::add, Mix::triad}) {
      const bool quick = mix == Mix::triad && type == float32;
      cases.push_back(mix_case(device, mix, type, quick_if(quick)));
    }
  }
  return cases;
}

}  // namespace fathom::copy_bandwidth
