#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <type_traits>

#include "harness/cuda_check.h"

namespace fathom {

// Owners of CUDA handles. Destruction ignores errors: it has nobody to tell, and the call that met
// a lost device has reported it.

struct EventDeleter {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, EventDeleter>;

inline Event make_event() {
  cudaEvent_t event = nullptr;
  FATHOM_CUDA(cudaEventCreate(&event));
  return Event(event);
}

struct StreamDeleter {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, StreamDeleter>;

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  FATHOM_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

struct GraphExecDeleter {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using GraphExec = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, GraphExecDeleter>;

struct DeviceMemoryDeleter {
  void operator()(void* memory) const { cudaFree(memory); }
};
template <class T>
using DeviceMemory = std::unique_ptr<T, DeviceMemoryDeleter>;

/// Room for `count` elements of T, not initialised.
template <class T>
DeviceMemory<T> make_device_memory(std::size_t count) {
  void* memory = nullptr;
  FATHOM_CUDA(cudaMalloc(&memory, count * sizeof(T)));
  return DeviceMemory<T>(static_cast<T*>(memory));
}

struct HostMemoryDeleter {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
template <class T>
using PinnedMemory = std::unique_ptr<T, HostMemoryDeleter>;

/// Pinned host memory that kernels may read and write too; not initialised.
template <class T>
PinnedMemory<T> make_pinned_memory(std::size_t count) {
  void* memory = nullptr;
  FATHOM_CUDA(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped));
  return PinnedMemory<T>(static_cast<T*>(memory));
}

}  // namespace fathom
