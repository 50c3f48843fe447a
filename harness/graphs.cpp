#include "harness/graphs.h"

#include "harness/cuda_check.h"

namespace fathom {

GraphExec instantiate(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  FATHOM_CUDA(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

Graph capture(const std::function<void()>& launches, cudaStream_t stream) {
  FATHOM_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    launches();
  } catch (...) {
    cudaGraph_t abandoned = nullptr;
    cudaStreamEndCapture(stream, &abandoned);
    if (abandoned != nullptr) cudaGraphDestroy(abandoned);
    throw;
  }
  cudaGraph_t graph = nullptr;
  FATHOM_CUDA(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}

GraphExec capture_graph(const std::function<void()>& launches, cudaStream_t stream) {
  return instantiate(capture(launches, stream));
}

}  // namespace fathom
