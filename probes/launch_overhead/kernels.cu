#include "probes/launch_overhead/kernels.h"

#include "harness/cuda_check.h"
#include "harness/device_clocks.cuh"

namespace fathom::launch_overhead {
namespace {

__global__ void empty() {}

/// The global timer, in nanoseconds.
__global__ void stamp(long long* slot) { *slot = nanoseconds_now(); }

__global__ void link(Link link) {
#if __CUDA_ARCH__ >= 900
  // For the kernel before to be complete and what it wrote to be seen; then the next may be
  // launched: it has this one's whole work to get ready in, and only one gets ready at a time.
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  const long long begin = nanoseconds_now();
  const long long start = clock64();
  while (clock64() - start < link.clocks) {
  }
  link.stamps[2 * link.index] = begin;
  link.stamps[2 * link.index + 1] = nanoseconds_now();
}

__global__ void signal(volatile int* flag, int value) {
  *flag = value;
  __threadfence_system();
}

}  // namespace

void launch_empty(int blocks, int threads, cudaStream_t stream) {
  empty<<<blocks, threads, 0, stream>>>();
  FATHOM_CUDA(cudaGetLastError());
}

void launch_row(int kernels, long long* stamps, cudaStream_t stream) {
  stamp<<<1, 1, 0, stream>>>(stamps);
  for (int i = 0; i < kernels; ++i) launch_empty(1, 1, stream);
  stamp<<<1, 1, 0, stream>>>(stamps + 1);
  FATHOM_CUDA(cudaGetLastError());
}

void launch_link(const Link& link_of, cudaStream_t stream) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = link_of.programmatic ? 1 : 0;
  FATHOM_CUDA(cudaLaunchKernelEx(&config, link, link_of));
}

void launch_signal(volatile int* flag, int value, cudaStream_t stream) {
  signal<<<1, 1, 0, stream>>>(flag, value);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::launch_overhead
