#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <memory>
#include <string>

namespace fathom::gemm {

/// The functions of cuBLAS and cuBLASLt that the opponents need, loaded at run time: a machine
/// without them measures the ladder all the same.
struct CublasLibrary {
  std::string path;  ///< of libcublas

  decltype(&::cublasCreate_v2) cublasCreate = nullptr;
  decltype(&::cublasDestroy_v2) cublasDestroy = nullptr;
  decltype(&::cublasGetVersion_v2) cublasGetVersion = nullptr;
  decltype(&::cublasGetStatusString) cublasGetStatusString = nullptr;
  decltype(&::cublasSetStream_v2) cublasSetStream = nullptr;
  decltype(&::cublasSetWorkspace_v2) cublasSetWorkspace = nullptr;
  decltype(&::cublasSetMathMode) cublasSetMathMode = nullptr;
  decltype(&::cublasGemmEx_64) cublasGemmEx = nullptr;

  decltype(&::cublasLtCreate) cublasLtCreate = nullptr;
  decltype(&::cublasLtDestroy) cublasLtDestroy = nullptr;
  decltype(&::cublasLtMatmul) cublasLtMatmul = nullptr;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) cublasLtMatmulAlgoGetHeuristic = nullptr;
  decltype(&::cublasLtMatmulDescCreate) cublasLtMatmulDescCreate = nullptr;
  decltype(&::cublasLtMatmulDescDestroy) cublasLtMatmulDescDestroy = nullptr;
  decltype(&::cublasLtMatmulDescSetAttribute) cublasLtMatmulDescSetAttribute = nullptr;
  decltype(&::cublasLtMatrixLayoutCreate) cublasLtMatrixLayoutCreate = nullptr;
  decltype(&::cublasLtMatrixLayoutDestroy) cublasLtMatrixLayoutDestroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceCreate) cublasLtMatmulPreferenceCreate = nullptr;
  decltype(&::cublasLtMatmulPreferenceDestroy) cublasLtMatmulPreferenceDestroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) cublasLtMatmulPreferenceSetAttribute = nullptr;
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
