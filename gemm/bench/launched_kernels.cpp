#include "gemm/bench/launched_kernels.h"

#include <cuda.h>
#include <cxxabi.h>
#include <fmt/format.h>
#include <cstdlib>

#include <algorithm>
#include <memory>
#include <string_view>

#include "gemm/bench/shapes.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

LaunchedKernel kernel_of(cudaGraphNode_t node) {
  static const auto get_parameters =
      driver_function<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)>(
          "cuGraphKernelNodeGetParams");
  static const auto get_name =
      driver_function<CUresult(const char**, CUfunction)>("cuFuncGetName", 12030);
  static const auto function_of =
      driver_function<CUresult(CUfunction*, CUkernel)>("cuKernelGetFunction");
  static const auto get_attribute =
      driver_function<CUresult(int*, CUfunction_attribute, CUfunction)>("cuFuncGetAttribute", 2020);
  static const auto get_blocks = driver_function<CUresult(int*, CUfunction, int, std::size_t)>(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050);
  const auto check = [](CUresult status) {
    if (status != CUDA_SUCCESS)
      throw Error(ExitCode::driver_too_old,
                  fmt::format("the driver does not say what a kernel takes (CUresult {})",
                              static_cast<int>(status)));
  };
  CUDA_KERNEL_NODE_PARAMS_v2 parameters{};
  check(get_parameters(node, &parameters));
  CUfunction function = parameters.func;
  if (function == nullptr) check(function_of(&function, parameters.kern));
  LaunchedKernel kernel;
  const char* name = nullptr;
  if (get_name(&name, function) == CUDA_SUCCESS && name != nullptr) kernel.name = name;
  kernel.threads =
      static_cast<int>(parameters.blockDimX * parameters.blockDimY * parameters.blockDimZ);
  kernel.dynamic_shared_bytes = static_cast<int>(parameters.sharedMemBytes);
  check(get_attribute(&kernel.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  check(get_attribute(&kernel.shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  kernel.shared_bytes += kernel.dynamic_shared_bytes;
  check(get_blocks(&kernel.blocks_per_sm, function, kernel.threads, parameters.sharedMemBytes));
  return kernel;
}

}  // namespace

Launched launched_kernels(const std::function<void()>& launch, cudaStream_t stream) try {
  const Graph graph = capture(launch, stream);
  std::size_t count = 0;
  FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count != 0) FATHOM_CUDA(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  std::vector<LaunchedKernel> kernels;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    FATHOM_CUDA(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) kernels.push_back(kernel_of(node));
  }
  return {kernels};
} catch (const Error& error) {
  if (error.code() == ExitCode::gpu_lost) throw;
  return {{}, std::string(unknown_kernel) + error.what()};
}

const LaunchedKernel* product_kernel(std::span<const LaunchedKernel> kernels) {
  const auto found = std::ranges::find_if(kernels, [](const LaunchedKernel& kernel) {
    return kernel_template(kernel.name).ends_with("_product");
  });
  return found == kernels.end() ? nullptr : &*found;
}

std::string kernel_name(const std::string& mangled) {
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

std::string kernel_template(const std::string& mangled) {
  const std::string name = kernel_name(mangled);
  return name.substr(0, name.find('<'));
}

std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream) {
  const Launched launched = launched_kernels(launch, stream);
  std::string names = launched.unknown;
  for (const LaunchedKernel& kernel : launched.kernels) {
    names += names.empty() ? "" : ", ";
    names += kernel.name.empty() ? "unknown" : kernel_name(kernel.name);
  }
  return names.empty() ? "none" : names;
}

}  // namespace fathom::gemm
