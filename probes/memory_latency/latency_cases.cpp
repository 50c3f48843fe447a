#include <cstring>

#include "harness/cuda_check.h"
#include "probes/memory_latency/cases.h"
#include "probes/memory_latency/facts.h"

// The headline of each level: a working set well inside it, both ways to time it.

namespace fathom::memory_latency {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr int mean_loads = 4096;

int loads_for(Timed timed) { return timed == Timed::mean ? mean_loads : max_timed_loads; }

Case cache_case(const DeviceFacts& device, const char* level, const char* instruction,
                GlobalLoad load, Timed timed, std::size_t bytes) {
  constexpr std::size_t line = 128;
  Case c = headline(level, instruction, timed, bytes);
  GlobalChase g;
  g.load = load;
  g.chase.chain = {.count = static_cast<std::uint32_t>(bytes / line), .stride = line};
  g.chase.warm = every_word(bytes);
  g.chase.warm_passes = 2;
  g.chase.loads = loads_for(timed);
  if (load == GlobalLoad::cached) c.counters = hits_in_l1(g);
  if (load == GlobalLoad::l2_only) c.counters = hits_past_l1(g);
  c.prepare = global_workload(g, device, timed);
  return c;
}

/// Flushed before each launch; one load of each large page first, so that no load of the chase
/// waits for a translation that a warm TLB would hold.
Case dram_case(const DeviceFacts& device, Timed timed) {
  constexpr std::uint64_t stride = 512;
  const std::size_t bytes = region_bytes(device) / large_page_bytes * large_page_bytes;
  Case c = headline("DRAM", "ld.global.cg", timed, bytes);
  c.extras = {{memory_bytes, static_cast<double>(device.memory_bytes)}};
  GlobalChase g;
  g.load = GlobalLoad::l2_only;
  g.chase.chain = {.count = static_cast<std::uint32_t>(bytes / stride), .stride = stride};
  g.chase.warm = {.count = static_cast<std::uint32_t>(bytes / large_page_bytes),
                  .stride = large_page_bytes};
  g.chase.warm_passes = 1;
  g.chase.loads = timed == Timed::mean ? 2048 : max_timed_loads;
  c.cache = CacheState::cold;
  // Refresh and the other traffic of DRAM make single samples differ by more than any interval.
  c.precision = Precision{.relative_half_width = 0.002, .min_samples = 24, .time_limit_s = 0.3};
  c.counters = hits_past_l1(g);
  c.prepare = global_workload(g, device, timed);
  return c;
}

Case shared_case(const DeviceFacts& device, const char* instruction, SharedLoad load, Timed timed) {
  constexpr int bytes = 4 * kib;
  Case c = headline("shared", instruction, timed, bytes);
  Chase wanted;
  wanted.chain = {.count = bytes / 4, .stride = 4};
  wanted.loads = loads_for(timed);
  wanted.timed = timed;
  if (load == SharedLoad::load && timed == Timed::mean) {
    c.counters = {{"shared_load_instructions", mean_loads, 0, "the loads of the chase"}};
    c.extras = {{shared_bytes, static_cast<double>(device.shared_bytes_per_sm)},
                {register_bytes, 4.0 * device.registers_per_sm}};
  }
  c.prepare = chase_workload(wanted, true, [load](const Chase& chase, cudaStream_t stream) {
    launch_shared_chase(load, chase, bytes, stream);
  });
  return c;
}

std::shared_ptr<cudaTextureObject_t> make_texture(const Buffer& memory) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory.data;
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned>();
  resource.res.linear.sizeInBytes = memory.bytes;
  cudaTextureDesc description;
  std::memset(&description, 0, sizeof description);
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  FATHOM_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return {new cudaTextureObject_t(texture), [](cudaTextureObject_t* t) {
            cudaDestroyTextureObject(*t);
            delete t;
          }};
}

Case texture_case(const char* level, std::size_t bytes, Timed timed) {
  constexpr std::uint64_t texels_per_line = 128 / 4;
  Case c = headline(level, "tex1Dfetch", timed, bytes);
  Chase wanted;
  wanted.chain = {.count = static_cast<std::uint32_t>(bytes / 128), .stride = texels_per_line};
  wanted.walked_loads = static_cast<int>(wanted.chain.count);
  wanted.loads = loads_for(timed);
  wanted.timed = timed;
  const auto readings = std::make_shared<Readings>();
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const Buffer memory = context.buffers().output("texels", bytes);
    launch_write_index_chain(wanted.chain, memory.as<std::uint32_t>(), stream);
    const std::shared_ptr<cudaTextureObject_t> texture = make_texture(memory);
    return chase_workload(
        context, wanted, false, readings,
        [object = *texture](const Chase& chase, cudaStream_t on) {
          launch_texture_chase(object, chase, on);
        },
        texture);
  };
  return c;
}

}  // namespace

std::vector<Case> latency_cases(const DeviceFacts& device) {
  const std::size_t in_l2 = device.l2_bytes / 8 / (64 * kib) * (64 * kib);
  std::vector<Case> result;
  for (const Timed timed : {Timed::mean, Timed::each}) {
    result.push_back(shared_case(device, "ld.shared", SharedLoad::load, timed));
    result.push_back(cache_case(device, "L1", "ld.global", GlobalLoad::cached, timed, 16 * kib));
    result.push_back(
        cache_case(device, "L1", "ld.global.nc", GlobalLoad::read_only, timed, 16 * kib));
    result.push_back(cache_case(device, "L2", "ld.global.cg", GlobalLoad::l2_only, timed, in_l2));
    result.push_back(dram_case(device, timed));
    result.push_back(texture_case("texture L1", 16 * kib, timed));
    result.push_back(texture_case("texture L2", mib, timed));
    result.push_back(shared_case(device, "atom.shared.add", SharedLoad::atomic_add, timed));
    result.push_back(shared_case(device, "atom.shared.cas", SharedLoad::atomic_cas, timed));
    result.push_back(
        cache_case(device, "L2", "atom.global.add", GlobalLoad::atomic_add, timed, mib));
    result.push_back(
        cache_case(device, "L2", "atom.global.cas", GlobalLoad::atomic_cas, timed, mib));
  }
  return result;
}

}  // namespace fathom::memory_latency
