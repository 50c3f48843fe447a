#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fathom::gemm {

/// A kernel as a launch puts it on a stream, and what it takes of an SM.
struct LaunchedKernel {
  std::string name;  ///< as the compiler mangles it; empty where the driver cannot tell
  int threads = 0;   ///< of a block
  int dynamic_shared_bytes = 0;
  int registers = 0;     ///< of a thread
  int shared_bytes = 0;  ///< of a block, static and dynamic
  int blocks_per_sm = 0;
};

struct Launched {
  std::vector<LaunchedKernel> kernels;
  std::string unknown{};  ///< "unknown: ", and why nobody can tell; empty where they are known
};

/// The kernels that `launch` puts on the stream, in the order in which the driver lists the nodes
/// of its capture. CUDA promises no order of these, and drivers so far list them as captured: of a
/// launch of two products tests/gpu/gemm_launched_kernels_test.cpp would see the other one first.
/// Found by capturing, so that nothing of it runs, and known to be what it runs whoever chose
/// among kernels. Its kernels have run before: loading a module is forbidden in a capture. Unknown
/// for a launch that cannot be captured, and where the driver cannot tell.
Launched launched_kernels(const std::function<void()>& launch, cudaStream_t stream);

/// The one of a rung's kernels that multiplies. All of those, and no others, have names that end in
/// "_product" (tests/sass holds them to it): before it operands may be copied, and after it sums be
/// added. Where there are two, the second has the SMs that the first leaves. Null: none multiplies.
const LaunchedKernel* product_kernel(std::span<const LaunchedKernel> kernels);

/// The kernels that `launch` puts on the stream, in the order of launched_kernels:
/// "ampere_sgemm_128x128_nn, splitKreduce_kernel". Says why where the driver cannot tell (it names
/// kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

/// A kernel's name for people: demangled, without return type, arguments and our own namespaces:
/// "fp32::warp_specialised_product<fp32::Tile<false, false, ...".
std::string kernel_name(const std::string& mangled);
/// The same without what it is a template of: "fp32::warp_specialised_product".
std::string kernel_template(const std::string& mangled);

}  // namespace fathom::gemm
