#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <type_traits>

#include "harness/cuda_check.h"

namespace fathom {

// Owners of CUDA handles. Destruction ignores errors: it has nobody to tell, and the call that met
// a lost device has reported it.

template <auto destroy>
struct Destroyer {
  void operator()(auto* handle) const { destroy(handle); }
};
template <class Handle, auto destroy>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<destroy>>;

using Event = Owner<cudaEvent_t, cudaEventDestroy>;
using Stream = Owner<cudaStream_t, cudaStreamDestroy>;
using Graph = Owner<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owner<cudaGraphExec_t, cudaGraphExecDestroy>;
template <class T>
using DeviceMemory = Owner<T*, cudaFree>;
template <class T>
using PinnedMemory = Owner<T*, cudaFreeHost>;

inline Event make_event() {
  cudaEvent_t event = nullptr;
  FATHOM_CUDA(cudaEventCreate(&event));
  return Event(event);
}

inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  FATHOM_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

/// Room for `count` elements of T, not initialised.
template <class T>
DeviceMemory<T> make_device_memory(std::size_t count) {
  void* memory = nullptr;
  FATHOM_CUDA(cudaMalloc(&memory, count * sizeof(T)));
  return DeviceMemory<T>(static_cast<T*>(memory));
}

/// Pinned host memory that kernels may read and write too; not initialised.
template <class T>
PinnedMemory<T> make_pinned_memory(std::size_t count) {
  void* memory = nullptr;
  FATHOM_CUDA(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped));
  return PinnedMemory<T>(static_cast<T*>(memory));
}

/// A graph ready to be launched; throws Error for one that CUDA refuses.
inline GraphExec instantiate(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  FATHOM_CUDA(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

/// What `launches` queues on `stream`, as a graph; nothing of it runs. If `launches` throws, so
/// does this, and the stream is as it was.
template <class Launches>
Graph capture(Launches&& launches, cudaStream_t stream) {
  FATHOM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    launches();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  FATHOM_CUDA(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}
/// The same, ready to be launched.
template <class Launches>
GraphExec capture_graph(Launches&& launches, cudaStream_t stream) {
  return instantiate(capture(launches, stream));
}

}  // namespace fathom
