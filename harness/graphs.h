#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "harness/cuda_handles.h"

namespace fathom {

/// A graph ready to be launched; throws Error for one that CUDA refuses.
GraphExec instantiate(const Graph& graph);

/// What `launches` queues on `stream`, as a graph; nothing of it runs. If `launches` throws, so
/// does this, and the stream is as it was.
Graph capture(const std::function<void()>& launches, cudaStream_t stream);
/// The same, ready to be launched.
GraphExec capture_graph(const std::function<void()>& launches, cudaStream_t stream);

}  // namespace fathom
