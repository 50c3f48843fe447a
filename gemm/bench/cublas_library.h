#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

namespace fathom::gemm {

// The functions of cuBLAS and of cuBLASLt that the opponents need. The headers rename some
// (cublasCreate is cublasCreate_v2), which holds for members and for symbols alike.
// clang-format off
#define FATHOM_CUBLAS_FUNCTIONS(F) \
  F(cublasCreate) F(cublasDestroy) F(cublasGetStatusString) F(cublasSetStream) \
  F(cublasSetWorkspace) F(cublasGemmEx_64) \
  F(cublasLtCreate) F(cublasLtDestroy) F(cublasLtMatmul) F(cublasLtMatmulAlgoGetHeuristic) \
  F(cublasLtMatmulDescCreate) F(cublasLtMatmulDescDestroy) F(cublasLtMatmulDescSetAttribute) \
  F(cublasLtMatrixLayoutCreate) F(cublasLtMatrixLayoutDestroy) \
  F(cublasLtMatmulPreferenceCreate) F(cublasLtMatmulPreferenceDestroy) \
  F(cublasLtMatmulPreferenceSetAttribute)
// clang-format on

/// These functions, loaded at run time: a machine without them measures the ladder all the same.
struct CublasLibrary {
#define FATHOM_MEMBER(function) decltype(&::function) function = nullptr;
  FATHOM_CUBLAS_FUNCTIONS(FATHOM_MEMBER)
#undef FATHOM_MEMBER
};

/// The program's cuBLAS, loaded on first use and kept; null where there is none of the headers'
/// major version, and `why_no_opponents` (gemm/bench/opponents.h) then says so in one sentence.
///
/// Environment variables that would make it compute something else than what it is asked for (TF32
/// or emulation for fp32, or no TF32 where that is asked for) are taken out of the process's
/// environment first.
const CublasLibrary* cublas_library();

/// Throws Error for a failed call, named `call`: bad_input for a product that the library does not
/// take, gpu_out_of_memory, or probe_crashed, after which the GPU is not used any more.
void check_cublas(cublasStatus_t status, const char* call);

}  // namespace fathom::gemm
