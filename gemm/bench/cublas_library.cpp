#include "gemm/bench/cublas_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "gemm/bench/opponents.h"
#include "harness/toolkit_libraries.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

/// A library by its name without suffix, "libcublas": its handle, or null with what was tried.
void* open_library(const std::string& name, std::string& tried) {
  const std::string file = fmt::format("{}.so.{}", name, CUBLAS_VER_MAJOR);
  for (const auto& candidate : toolkit_library_files(file, "FATHOM_CUBLAS_DIR", {"lib64", "lib"})) {
    if (void* const handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  return nullptr;
}

CublasLibrary library;

/// Fills it in; what is missing, in one sentence, or nothing.
std::string load() {
  for (const char* variable : {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                               "CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"}) {
    unsetenv(variable);
  }
  std::string tried;
  // cuBLAS needs cuBLASLt by name alone: once loaded from beside it, it is found.
  void* const lt = open_library("libcublasLt", tried);
  void* const blas = lt == nullptr ? nullptr : open_library("libcublas", tried);
  if (blas == nullptr) {
    return fmt::format(
        "There is no cuBLAS {} on this machine to compare with (tried {}): install "
        "the toolkit's cuBLAS, or name its folder in FATHOM_CUBLAS_DIR.",
        CUBLAS_VER_MAJOR, tried);
  }
  const char* missing = nullptr;
  // dlsym also looks through the libraries that this one needs. FATHOM_NAME is a macro of its own,
  // so that the name is the one that the headers make of it.
#define FATHOM_NAME(name) #name
#define FATHOM_FROM_BLAS(function)                                                      \
  library.function =                                                                    \
      reinterpret_cast<decltype(library.function)>(dlsym(blas, FATHOM_NAME(function))); \
  if (library.function == nullptr) missing = FATHOM_NAME(function);
  FATHOM_CUBLAS_FUNCTIONS(FATHOM_FROM_BLAS)
#undef FATHOM_NAME
#undef FATHOM_FROM_BLAS
  if (missing == nullptr) return "";
  return fmt::format(
      "cuBLAS has no {}: install cuBLAS {}.{} or newer, or name its folder in "
      "FATHOM_CUBLAS_DIR.",
      missing, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR);
}

}  // namespace

const std::string& why_no_opponents() {
  static const std::string problem = load();
  return problem;
}

const CublasLibrary* cublas_library() { return why_no_opponents().empty() ? &library : nullptr; }

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // What the library does not take it refuses before it launches anything: the GPU is as it was.
  const bool refused = status == CUBLAS_STATUS_NOT_SUPPORTED ||
                       status == CUBLAS_STATUS_INVALID_VALUE ||
                       status == CUBLAS_STATUS_ARCH_MISMATCH;
  throw Error(refused                                ? ExitCode::bad_input
              : status == CUBLAS_STATUS_ALLOC_FAILED ? ExitCode::gpu_out_of_memory
                                                     : ExitCode::probe_crashed,
              fmt::format("{} failed with {}: the vendor's library cannot be compared with here; "
                          "--benchmark_filter leaves the case out.",
                          call, cublas_library()->cublasGetStatusString(status)));
}

}  // namespace fathom::gemm
