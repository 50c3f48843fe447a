#include <fmt/format.h>

#include "probes/memory_latency/cases.h"

// Distributed shared memory: the first block of a cluster reads another's.

namespace fathom::memory_latency {
namespace {

constexpr int shared_bytes = 4096;

Case cluster_case(SharedLoad load, const char* instruction, int size, int distance, bool quick) {
  Case c = make_case({"distance",
                      "distributed shared",
                      instruction,
                      Timed::mean,
                      {{"cluster size", std::int64_t{size}}, {"distance", std::int64_t{distance}}},
                      quick_if(quick)});
  Chase wanted;
  wanted.chain = {.count = shared_bytes / 4, .stride = 4};
  wanted.loads = 4096;
  c.prepare = chase_workload(wanted, true, [=](const Chase& chase, cudaStream_t stream) {
    launch_cluster_chase(load, chase, shared_bytes, size, distance, stream);
  });
  return c;
}

}  // namespace

std::vector<Case> cluster_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const int largest = largest_cluster(device.major, shared_bytes);
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
  return result;
}

}  // namespace fathom::memory_latency
