#include "probes/launch_overhead/kernels.h"

#include <vector>

#include "harness/cuda_handles.h"
#include "harness/device_clocks.cuh"
#include "probes/device/launch.h"

namespace fathom::launch_overhead {
namespace {

__global__ void empty() {}

template <int bytes>
struct Arguments {
  unsigned char data[bytes];
};
template <int bytes>
__global__ void with_arguments(const __grid_constant__ Arguments<bytes>) {}

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

cudaLaunchConfig_t one_thread(cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  return config;
}

template <int bytes>
void launch_arguments(cudaStream_t stream) {
  static const Arguments<bytes> arguments = [] {
    Arguments<bytes> filled;
    for (int i = 0; i < bytes; ++i) filled.data[i] = static_cast<unsigned char>(i * 37 + 11);
    return filled;
  }();
  void* pointers[] = {const_cast<Arguments<bytes>*>(&arguments)};
  const cudaLaunchConfig_t config = one_thread(stream);
  FATHOM_CUDA(
      cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(with_arguments<bytes>), pointers));
}

cudaGraphNode_t add_node(const Graph& graph, const std::vector<cudaGraphNode_t>& before,
                         const void* kernel, void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = const_cast<void*>(kernel);
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  FATHOM_CUDA(
      cudaGraphAddKernelNode(&node, graph.get(), before.data(), before.size(), &parameters));
  return node;
}

}  // namespace

void launch_empty(int blocks, int threads, cudaStream_t stream) {
  empty<<<blocks, threads, 0, stream>>>();
  FATHOM_CUDA(cudaGetLastError());
}

void launch_with_arguments(int bytes, cudaStream_t stream) {
  with_constant<8, 64, 256, 1024, 4096, 32764>(
      bytes, [&](auto size) { launch_arguments<size>(stream); });
}

void launch_row(int kernels, long long* stamps, cudaStream_t stream) {
  stamp<<<1, 1, 0, stream>>>(stamps);
  for (int i = 0; i < kernels; ++i) launch_empty(1, 1, stream);
  stamp<<<1, 1, 0, stream>>>(stamps + 1);
  FATHOM_CUDA(cudaGetLastError());
}

GraphExec fan_out(int kernels, long long* stamps) {
  cudaGraph_t created = nullptr;
  FATHOM_CUDA(cudaGraphCreate(&created, 0));
  const Graph graph(created);
  const auto add_stamp = [&](const std::vector<cudaGraphNode_t>& before, long long* slot) {
    void* arguments[] = {&slot};
    return add_node(graph, before, reinterpret_cast<const void*>(stamp), arguments);
  };
  const std::vector<cudaGraphNode_t> first{add_stamp({}, stamps)};
  std::vector<cudaGraphNode_t> all;
  for (int i = 0; i < kernels; ++i)
    all.push_back(add_node(graph, first, reinterpret_cast<const void*>(empty), nullptr));
  add_stamp(all, stamps + 1);
  return instantiate(graph);
}

void launch_link(const Link& link_of, cudaStream_t stream) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = one_thread(stream);
  config.attrs = &attribute;
  config.numAttrs = link_of.programmatic ? 1 : 0;
  FATHOM_CUDA(cudaLaunchKernelEx(&config, link, link_of));
}

void launch_signal(volatile int* flag, int value, cudaStream_t stream) {
  signal<<<1, 1, 0, stream>>>(flag, value);
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::launch_overhead
