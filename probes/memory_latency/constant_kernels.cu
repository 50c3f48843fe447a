#include <type_traits>

#include "harness/cuda_check.h"
#include "probes/memory_latency/chase.cuh"

namespace fathom::memory_latency {
namespace {

__constant__ std::uint32_t constant_words[constant_bytes / 4];

/// Addresses are byte offsets into `constant_words`.
struct Constant {
  __device__ std::uint32_t load(std::uint32_t p) const {
    return *reinterpret_cast<const std::uint32_t*>(
        reinterpret_cast<const std::byte*>(constant_words) + p);
  }
};

/// Addresses are texel indices.
struct Texture {
  cudaTextureObject_t object;
  __device__ std::uint32_t load(std::uint32_t p) const {
    return tex1Dfetch<unsigned>(object, static_cast<int>(p));
  }
};

template <Timed timed>
__global__ void chase_constant(Chase chase) {
  begin_report(chase.report);
  run_chase<timed>(Constant{}, static_cast<std::uint32_t>(address_at(chase.chain, 0)),
                   chase.chain.base, chase);
  end_report(chase.report);
}

template <Timed timed>
__global__ void chase_texture(cudaTextureObject_t texture, Chase chase) {
  begin_report(chase.report);
  run_chase<timed>(Texture{texture}, static_cast<std::uint32_t>(address_at(chase.chain, 0)),
                   chase.chain.base, chase);
  end_report(chase.report);
}

}  // namespace

void copy_to_constant_memory(const std::uint32_t* words, cudaStream_t stream) {
  FATHOM_CUDA(cudaMemcpyToSymbolAsync(constant_words, words, constant_bytes, 0,
                                      cudaMemcpyDeviceToDevice, stream));
}

void launch_constant_chase(const Chase& chase, cudaStream_t stream) {
  with_timed(chase.timed, [&](auto timed) {
    chase_constant<decltype(timed)::value><<<1, 1, 0, stream>>>(chase);
  });
  FATHOM_CUDA(cudaGetLastError());
}

void launch_texture_chase(cudaTextureObject_t texture, const Chase& chase, cudaStream_t stream) {
  with_timed(chase.timed, [&](auto timed) {
    chase_texture<decltype(timed)::value><<<1, 1, 0, stream>>>(texture, chase);
  });
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::memory_latency
