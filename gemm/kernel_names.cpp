#include "gemm/kernel_names.h"

#include <cuda.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "harness/cuda_check.h"
#include "harness/graphs.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

/// A function of the driver's, through the runtime: a program must start without a driver too.
template <class Function>
Function* driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  FATHOM_CUDA(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status));
  if (status != cudaDriverEntryPointSuccess) {
    throw Error(ExitCode::driver_too_old, std::string("the driver has no ") + name);
  }
  return reinterpret_cast<Function*>(function);
}

std::string name_of(cudaGraphNode_t node) {
  static const auto get_parameters =
      driver_function<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)>("cuGraphKernelNodeGetParams", 12000);
  static const auto function_name = driver_function<CUresult(const char**, CUfunction)>("cuFuncGetName", 12030);
  static const auto kernel_name = driver_function<CUresult(const char**, CUkernel)>("cuKernelGetName", 12030);
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  const char* name = nullptr;
  if (get_parameters(node, &parameters) != CUDA_SUCCESS) return "unknown";
  const CUresult status = parameters.func != nullptr ? function_name(&name, parameters.func)
                                                     : kernel_name(&name, parameters.kern);
  return status == CUDA_SUCCESS && name != nullptr ? readable_kernel_name(name) : "unknown";
}

std::string names_in(const Graph& graph) {
  std::size_t count = 0;
  FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  std::string names;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    FATHOM_CUDA(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    names += (names.empty() ? "" : ", ") + name_of(node);
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::string readable_kernel_name(const std::string& mangled, std::size_t limit) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments begin at the first bracket outside of <>, where it is a cast, that names no namespace.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 11, "(anonymous ") != 0) {
      name.erase(i);
      break;
    }
  }
  if (name.size() > limit) name = name.substr(0, limit - 3) + "...";
  return name;
}

std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream) try {
  return names_in(capture(launch, stream));
} catch (const Error& error) {
  if (error.code() == ExitCode::gpu_lost) throw;
  return std::string("unknown: ") + error.what();
}

}  // namespace fathom::gemm
