#include "tests/gpu/launched_kernels.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <set>

#include "gemm/bench/cases.h"

// The linker hands every call of these functions of the runtime library to the one named __wrap_
// here, which can call the library's own as __real_ (--wrap, see CMakeLists.txt).

namespace {

struct Kernels {
  std::map<const void*, std::string> mangled_names;  // by the host function that launches it
  std::set<const void*> launched;
  std::map<const void*, fathom::test::KernelLaunch> last;  // of those with a launch configuration
  int early = 0;
};

/// Made at the first use: kernels are registered before any other static object is made.
Kernels& kernels() {
  static Kernels all;
  return all;
}

}  // namespace

extern "C" {

void __real___cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*,
                                   dim3*, dim3*, int*);
void __wrap___cudaRegisterFunction(void** module, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* thread,
                                   uint3* block, dim3* block_size, dim3* grid_size,
                                   int* warp_size) {
  kernels().mangled_names[host_function] = device_name;
  __real___cudaRegisterFunction(module, host_function, device_function, device_name, thread_limit,
                                thread, block, block_size, grid_size, warp_size);
}

#if CUDART_VERSION >= 13000
// What <<<>>> calls once, before a kernel's first launch.
cudaError_t __real___cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  kernels().launched.insert(host_function);
  return __real___cudaGetKernel(kernel, host_function);
}
#else
cudaError_t __real_cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void* host_function, dim3 grid, dim3 block,
                                    void** arguments, std::size_t shared_bytes,
                                    cudaStream_t stream) {
  kernels().launched.insert(host_function);
  return __real_cudaLaunchKernel(host_function, grid, block, arguments, shared_bytes, stream);
}
#endif

// What cudaLaunchKernelEx, for launches with attributes, calls instead.
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host_function,
                                       void** arguments) {
  kernels().launched.insert(host_function);
  kernels().last[host_function] = {static_cast<int>(config->blockDim.x),
                                   static_cast<int>(config->dynamicSmemBytes)};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
        attribute.val.programmaticStreamSerializationAllowed != 0)
      ++kernels().early;
  }
  return __real_cudaLaunchKernelExC(config, host_function, arguments);
}

}  // extern "C"

namespace fathom::test {

std::vector<std::string> kernels_never_launched() {
  std::vector<std::string> names;
  for (const auto& [host_function, mangled_name] : kernels().mangled_names) {
    // A nested name that begins with our namespace: not the tests' own kernels, nor a library's.
    const bool ours = mangled_name.starts_with("_ZN6fathom");
    if (ours && !kernels().launched.contains(host_function))
      names.push_back(gemm::readable_name(mangled_name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<KernelLaunch> last_launch(const void* host_function) {
  const auto found = kernels().last.find(host_function);
  return found == kernels().last.end() ? std::nullopt : std::optional(found->second);
}

int launches_that_may_begin_early() { return kernels().early; }

}  // namespace fathom::test
