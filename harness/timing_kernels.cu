#include "harness/cuda_check.h"
#include "harness/device_clocks.cuh"
#include "harness/timing_kernels.h"

namespace fathom {
namespace {

__global__ void wait_for_host(const volatile int* release, volatile int* timed_out,
                              std::uint64_t limit_ns) {
  const std::uint64_t start = nanoseconds_now();
  while (*release == 0) {
    if (nanoseconds_now() - start > limit_ns) {
      *timed_out = 1;
      return;
    }
    __nanosleep(200);
  }
}

__global__ void read_all(const uint4* data, std::size_t count, int* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned int seen = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const uint4 value = data[i];
    seen |= value.x | value.y | value.z | value.w;
  }
  // The buffer holds random bits, so an all-zero OR does not happen; the compiler cannot know.
  if (seen == 0) *sink = 1;
}

__global__ void stamp_sms(SmStamp* stamps) {
  const unsigned sm = sm_id();
  ulonglong2 now{};
  now.x = clock_now();
  now.y = nanoseconds_now();
  // One store of both: several blocks meet the same SM, and their stamps must not mix.
  if (sm < most_sms) *reinterpret_cast<ulonglong2*>(stamps + sm) = now;
}

}  // namespace

void launch_wait_for_host(const volatile int* release, volatile int* timed_out,
                          std::uint64_t limit_ns, cudaStream_t stream) {
  wait_for_host<<<1, 1, 0, stream>>>(release, timed_out, limit_ns);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_read_all(const std::byte* data, std::size_t bytes, int* sink, cudaStream_t stream) {
  read_all<<<1024, 256, 0, stream>>>(reinterpret_cast<const uint4*>(data), bytes / sizeof(uint4),
                                     sink);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_stamp_sms(SmStamp* stamps, cudaStream_t stream) {
  stamp_sms<<<most_sms, 1, 0, stream>>>(stamps);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom
