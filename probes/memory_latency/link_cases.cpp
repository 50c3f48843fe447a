#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "probes/memory_latency/cases.h"

// Memory behind a link: the host's, pinned, and another GPU's. One load of 4 KiB each, by an
// instruction that no cache of this GPU may answer.

namespace fathom::memory_latency {
namespace {

constexpr std::uint64_t stride = 4096;
constexpr std::uint32_t elements = 4096;
constexpr int loads = 512;

/// `allocate` gives the memory, as this GPU addresses it, and what owns it.
template <class Allocate>
Case link_case(const char* level, Timed timed, Allocate allocate) {
  Case c = headline(level, "ld.global.cv", timed, elements * stride);
  // What other traffic does to a link moves every median; the interval says how far.
  c.precision = Precision{.relative_half_width = 0.005, .min_samples = 24, .time_limit_s = 0.2};
  const auto readings = std::make_shared<Readings>();
  c.prepare = [=](Context& context) {
    cudaStream_t stream = context.stream();
    const auto [memory, owner] = allocate(elements * stride);
    Chase chase;
    chase.chain = {
        .base = reinterpret_cast<std::uint64_t>(memory), .count = elements, .stride = stride};
    chase.loads = loads;
    chase.timed = timed;
    launch_write_chain(chase.chain, stream);
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    return chase_workload(
        context, chase, false, readings,
        [](const Chase& c, cudaStream_t on) {
          launch_global_chase(GlobalLoad::system, c, most_l1, on);
        },
        owner);
  };
  return c;
}

using Memory = std::pair<void*, std::shared_ptr<void>>;

Memory pinned(std::size_t bytes) {
  std::shared_ptr<std::byte> owner = make_pinned_memory<std::byte>(bytes);
  void* memory = nullptr;
  FATHOM_CUDA(cudaHostGetDevicePointer(&memory, owner.get(), 0));
  return {memory, owner};
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

Memory on_peer(int device, int peer, std::size_t bytes) {
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
  return {memory, std::shared_ptr<void>(memory, [](void* p) { cudaFree(p); })};
}

}  // namespace

std::vector<Case> link_cases(const DeviceFacts& device) {
  std::vector<Case> result;
  const int peer = first_peer(device.ordinal);
  for (const Timed timed : {Timed::mean, Timed::each}) {
    result.push_back(link_case("host", timed, pinned));
    if (peer < 0) continue;
    const int own = device.ordinal;
    result.push_back(link_case(
        "peer", timed, [own, peer](std::size_t bytes) { return on_peer(own, peer, bytes); }));
  }
  return result;
}

}  // namespace fathom::memory_latency
