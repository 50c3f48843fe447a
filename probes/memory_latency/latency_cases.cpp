#include <algorithm>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "probes/memory_latency/cases.h"
#include "probes/memory_latency/facts.h"

// The headline of each level: a working set well inside it, both ways to time it.

namespace fathom::memory_latency {
namespace {

constexpr int mean_loads = 4096;

int loads_for(Timed timed) { return timed == Timed::mean ? mean_loads : max_timed_loads; }

Case cache_case(const DeviceFacts& device, const char* level, const char* instruction,
                GlobalLoad load, Timed timed, std::size_t bytes) {
  constexpr std::size_t line = 128;
  Case c = headline(level, instruction, timed, bytes);
  const GlobalChase g{load,
                      {.chain = {.count = static_cast<std::uint32_t>(bytes / line), .stride = line},
                       .loads = loads_for(timed),
                       .warm = every_word(bytes),
                       .warm_passes = 2,
                       .timed = timed}};
  if (load == GlobalLoad::cached || load == GlobalLoad::l2_only) c.counters = hits(g);
  c.prepare = global_workload(g, device);
  return c;
}

/// Flushed before each launch; one load of each large page first, so that no load of the chase
/// waits for a translation that a warm TLB would hold.
Case dram_case(const DeviceFacts& device, Timed timed) {
  constexpr std::uint64_t stride = 512;
  const std::size_t bytes = region_bytes(device) / large_page_bytes * large_page_bytes;
  Case c = headline("DRAM", "ld.global.cg", timed, bytes);
  c.extras = {{memory_bytes, static_cast<double>(device.memory_bytes)}};
  const auto pages = static_cast<std::uint32_t>(bytes / large_page_bytes);
  const GlobalChase g{
      GlobalLoad::l2_only,
      {.chain = {.count = static_cast<std::uint32_t>(bytes / stride), .stride = stride},
       .loads = timed == Timed::mean ? 2048 : max_timed_loads,
       .warm = {.count = pages, .stride = large_page_bytes},
       .warm_passes = 1,
       .timed = timed}};
  c.cache = CacheState::cold;
  // Refresh and the other traffic of DRAM make single samples differ by more than any interval.
  c.precision = Precision{.relative_half_width = 0.002, .min_samples = 24, .time_limit_s = 0.3};
  c.counters = hits(g);
  c.prepare = global_workload(g, device);
  return c;
}

Case shared_case(const DeviceFacts& device, const char* instruction, SharedLoad load, Timed timed) {
  constexpr int bytes = 4 * kib;
  Case c = headline("shared", instruction, timed, bytes);
  const Chase wanted{
      .chain = {.count = bytes / 4, .stride = 4}, .loads = loads_for(timed), .timed = timed};
  if (load == SharedLoad::load && timed == Timed::mean) {
    c.counters = {{"shared_load_instructions", mean_loads, 0, "the loads of the chase"}};
    c.extras = {{shared_bytes, static_cast<double>(device.shared_bytes_per_sm)},
                {register_bytes, 4.0 * device.registers_per_sm}};
  }
  const LaunchChase launch_it = [load](const Chase& chase, cudaStream_t stream) {
    launch(shared_chase(load, chase.timed), {1, fill_threads, bytes}, stream, chase, 0u);
  };
  c.prepare = chase_workload(wanted, [=](Context&, Chase&) { return launch_it; });
  return c;
}

Case texture_case(const char* level, std::size_t bytes, Timed timed) {
  constexpr std::uint64_t texels_per_line = 128 / 4;
  Case c = headline(level, "tex1Dfetch", timed, bytes);
  const auto lines = static_cast<std::uint32_t>(bytes / 128);
  const Chase wanted{.chain = {.count = lines, .stride = texels_per_line},
                     .loads = loads_for(timed),
                     .walked_loads = static_cast<int>(lines),
                     .timed = timed};
  c.prepare = chase_workload(wanted, [=](Context& context, Chase& chase) -> LaunchChase {
    const std::vector<std::uint32_t> texels = index_image(chase.chain, bytes, 1);
    const Buffer memory = upload(context, "texels", std::as_bytes(std::span(texels)));
    return [texture = make_texture(memory.data, bytes)](const Chase& with_report, cudaStream_t on) {
      launch(texture_chase(with_report.timed), {1, 1}, on, *texture, with_report);
    };
  });
  return c;
}

void add_levels(std::vector<Case>& result, const DeviceFacts& device) {
  const std::size_t in_l2 = device.l2_bytes / 8 / (64 * kib) * (64 * kib);
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
}

// Distributed shared memory: the first block of a cluster reads another's.

constexpr int cluster_bytes = 4096;

Case cluster_case(SharedLoad load, const char* instruction, int size, int distance, bool quick) {
  Case c = make_case("distance", "distributed shared", instruction, Timed::mean,
                     {{"cluster size", std::int64_t{size}}, {"distance", std::int64_t{distance}}},
                     quick_if(quick));
  const Chase wanted{.chain = {.count = cluster_bytes / 4, .stride = 4}, .loads = 4096};
  const LaunchChase launch_it = [=](const Chase& chase, cudaStream_t stream) {
    launch_cluster_chase(load, chase, cluster_bytes, size, distance, stream);
  };
  c.prepare = chase_workload(wanted, [=](Context&, Chase&) { return launch_it; });
  return c;
}

void add_clusters(std::vector<Case>& result, const DeviceFacts& device) {
  const int largest = largest_cluster(device.major, cluster_bytes);
  for (int size = 2; size <= largest; size *= 2) {
    // Distance 0 is the own block by the cluster's instruction.
    for (int distance = 0; distance < size; ++distance) {
      const bool quick = distance == 1 || distance == size - 1;
      result.push_back(cluster_case(SharedLoad::load, "ld.shared::cluster", size, distance, quick));
    }
  }
  if (largest >= 2) {
    result.push_back(cluster_case(SharedLoad::atomic_add, "atom.shared::cluster.add", 2, 1, true));
    result.push_back(cluster_case(SharedLoad::atomic_cas, "atom.shared::cluster.cas", 2, 1, true));
  }
}

// Memory behind a link: the host's, pinned, and another GPU's. One load of 4 KiB each, by an
// instruction that no cache of this GPU may answer.

constexpr std::uint64_t link_stride = 4096;
constexpr std::uint32_t link_elements = 4096;

/// `allocate` gives the memory, as this GPU addresses it.
template <class Allocate>
Case link_case(const char* level, Timed timed, Allocate allocate) {
  Case c = headline(level, "ld.global.cv", timed, link_elements * link_stride);
  // What other traffic does to a link moves every median; the interval says how far.
  c.precision = Precision{.relative_half_width = 0.005, .min_samples = 24, .time_limit_s = 0.2};
  const GlobalChase g{
      GlobalLoad::system,
      {.chain = {.count = link_elements, .stride = link_stride}, .loads = 512, .timed = timed}};
  c.prepare = chase_workload(g.chase, [=](Context& context, Chase& chase) -> LaunchChase {
    const std::shared_ptr<void> memory = allocate(link_elements * link_stride);
    const LaunchChase launch_it = chase_through(context, g, chase, memory.get());
    FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
    return [launch_it, memory](const Chase& with_report, cudaStream_t on) {
      launch_it(with_report, on);
    };
  });
  return c;
}

std::shared_ptr<void> pinned(std::size_t bytes) {
  const std::shared_ptr<std::byte> host = make_pinned_memory<std::byte>(bytes);
  void* mapped = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&mapped, host.get(), 0));
  return {host, mapped};
}

/// The first other GPU whose memory this one may read; -1: none.
int first_peer(int device) {
  int devices = 0;
  FATHOM_CUDA(cudaGetDeviceCount(&devices));
  for (int other = 0; other < devices; ++other) {
    int can = 0;
    if (other != device) FATHOM_CUDA(cudaDeviceCanAccessPeer(&can, device, other));
    if (can != 0) return other;
  }
  return -1;
}

std::shared_ptr<void> on_peer(int device, int peer, std::size_t bytes) {
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();  // clears it
  else
    FATHOM_CUDA(status);
  FATHOM_CUDA(cudaSetDevice(peer));
  void* memory = nullptr;
  const cudaError_t allocated = cudaMalloc(&memory, bytes);
  FATHOM_CUDA(cudaSetDevice(device));
  FATHOM_CUDA(allocated);
  return {memory, [](void* p) { cudaFree(p); }};
}

void add_links(std::vector<Case>& result, const DeviceFacts& device) {
  const int peer = first_peer(device.ordinal);
  for (const Timed timed : {Timed::mean, Timed::each}) {
    result.push_back(link_case("host", timed, pinned));
    if (peer < 0) continue;
    const int own = device.ordinal;
    result.push_back(link_case(
        "peer", timed, [own, peer](std::size_t bytes) { return on_peer(own, peer, bytes); }));
  }
}

// The TLBs: one line in each large page, over footprints up to nearly all of the memory. The lines
// themselves fit the L2, so what grows with the footprint is address translation.

constexpr std::uint64_t page = large_page_bytes;
constexpr std::uint32_t page_line = 128;

/// The rest is for the driver, the L2's flush, and whoever else uses the GPU a little.
std::size_t footprint_limit(const DeviceFacts& device) {
  const std::size_t rest = std::min<std::size_t>(std::size_t{6} << 30, device.memory_bytes / 4);
  return (device.memory_bytes - rest) / page * page;
}

Case page_case(const DeviceFacts& device, std::size_t footprint) {
  Case c = make_case("pages", "TLB", "ld.global.cg", Timed::mean, {working_set_axis(footprint)});
  const Chain chain{.count = static_cast<std::uint32_t>(footprint / page),
                    .stride = page,
                    // Within the page that the buffer's guard band leaves of the stride.
                    .jitter_slots = (large_page_bytes - 2 * 4096) / page_line,
                    .jitter_bytes = page_line};
  const GlobalChase g{GlobalLoad::l2_only,
                      {.chain = chain, .loads = 2048, .warm = chain, .warm_passes = 2}};
  const std::size_t region = footprint_limit(device);  // the same for all: allocated once
  c.extras["pages"] = chain.count;
  c.prepare = chase_workload(g.chase, [=](Context& context, Chase& chase) {
    return chase_through(context, g, chase, context.buffers().output("pages", region).data);
  });
  return c;
}

void add_pages(std::vector<Case>& result, const DeviceFacts& device) {
  const std::size_t limit = footprint_limit(device);
  std::set<std::size_t> sizes = geometric(4 * page, limit, 4, page);
  sizes.insert(limit);
  for (const std::size_t size : sizes) result.push_back(page_case(device, size));
}

}  // namespace

std::vector<Case> latency_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_levels(result, device);
  add_clusters(result, device);
  return result;
}

std::vector<Case> far_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  add_links(result, device);
  add_pages(result, device);
  return result;
}

}  // namespace fathom::memory_latency
