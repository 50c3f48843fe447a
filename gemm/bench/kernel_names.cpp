#include "gemm/bench/kernel_names.h"

#include <cuda.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

/// The name of the kernel that a graph node launches.
std::string name_of(cudaGraphNode_t node) {
  static const auto get_parameters =
      driver_function<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)>(
          "cuGraphKernelNodeGetParams");
  static const auto function_of =
      driver_function<CUresult(CUfunction*, CUkernel)>("cuKernelGetFunction");
  static const auto get_name =
      driver_function<CUresult(const char**, CUfunction)>("cuFuncGetName", 12030);
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  if (get_parameters(node, &parameters) != CUDA_SUCCESS) return "unknown";
  CUfunction function = parameters.func;
  const char* name = nullptr;
  if (function == nullptr) function_of(&function, parameters.kern);
  if (get_name(&name, function) != CUDA_SUCCESS || name == nullptr) return "unknown";
  return readable_name(name);
}

}  // namespace

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  for (const std::string_view dropped : {"fathom::gemm::", "(anonymous namespace)::"}) {
    for (std::size_t at = name.find(dropped); at != std::string::npos; at = name.find(dropped, at))
      name.erase(at, dropped.size());
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  // The arguments begin at the first bracket outside of <>, where it is a cast.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) name.erase(i);
  }
  return name;
}

std::string kernel_name(const void* function) {
  const char* name = nullptr;
  FATHOM_CUDA(cudaFuncGetName(&name, function));
  return readable_name(name);
}

std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream) try {
  const Graph graph = capture(launch, stream);
  std::size_t count = 0;
  FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  std::string names;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    FATHOM_CUDA(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) names += (names.empty() ? "" : ", ") + name_of(node);
  }
  return names.empty() ? "none" : names;
} catch (const Error& error) {
  if (error.code() == ExitCode::gpu_lost) throw;
  return std::string("unknown: ") + error.what();
}

}  // namespace fathom::gemm
