#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

namespace fathom::gemm {

/// The kernels that `launch` puts on the stream, in order: "ampere_sgemm_128x128_nn, splitKreduce_kernel";
/// found by capturing it, so that nothing of it runs. Says why where the driver cannot tell (it
/// names kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

/// A kernel's name for people: demangled, without return type and arguments, at most `limit` characters.
std::string readable_kernel_name(const std::string& mangled, std::size_t limit = 160);

}  // namespace fathom::gemm
