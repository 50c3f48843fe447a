#include "gemm/bench/cases.h"

#ifdef FATHOM_CUBLAS

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "harness/toolkit_libraries.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

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

/// Fills it in; what is missing, in one sentence, or nothing. Takes variables out of the
/// environment that would make it compute something else than what it is asked for: TF32 or
/// emulation for fp32, or no TF32 where that is asked for.
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

/// Throws Error for a failed call, named `call`: bad_input for a product that the library does not
/// take, gpu_out_of_memory, or probe_crashed, after which the GPU is not used any more.
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
                          call, library.cublasGetStatusString(status)));
}

/// How the vendor's library names a type, and what a class is computed in.
cudaDataType library_type(Element type) {
  constexpr cudaDataType types[] = {CUDA_R_32F,     CUDA_R_64F, CUDA_R_16F, CUDA_R_16BF,
                                    CUDA_R_8F_E4M3, CUDA_R_8I,  CUDA_R_32I};
  return types[static_cast<int>(type)];
}
cublasComputeType_t library_arithmetic(Class of) {
  if (of == Class::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  const Element sums = traits(of).accumulator;
  return sums == Element::f64   ? CUBLAS_COMPUTE_64F
         : sums == Element::s32 ? CUBLAS_COMPUTE_32I
                                : CUBLAS_COMPUTE_32F;
}

cublasOperation_t library_operation(Transpose transpose) {
  return transpose == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T;
}

/// alpha or beta in the scalar's type.
union LibraryScalar {
  double f64;
  float f32;
  int s32;

  LibraryScalar(Class of, double value) : f64(value) {
    const Element type = traits(of).scalar;
    if (type == Element::f32) f32 = static_cast<float>(value);
    if (type == Element::s32) s32 = static_cast<int>(value);
  }
};

/// Owns a cuBLAS object, made by the function `create`, whose name is `call`.
template <class T>
std::shared_ptr<std::remove_pointer_t<T>> make(cublasStatus_t (*destroy)(T), const char* call,
                                               auto create, auto... values) {
  T object = nullptr;
  check_cublas(create(&object, values...), call);
  return {object, destroy};
}

/// A product as either call of the library takes it.
struct LibraryProduct {
  LibraryProduct(Context& context, const Operands& operands, const char* workspace_name)
      : arguments(operands.arguments()),
        workspace(context.buffers().output(workspace_name, library_workspace_bytes)),
        stream(context.stream()) {}

  Arguments arguments;
  Buffer workspace;
  cudaStream_t stream;
  const ClassTraits& types = traits(arguments.problem.of);
  cudaDataType input = library_type(types.input), output = library_type(types.output);
  cublasComputeType_t arithmetic = library_arithmetic(types.of);
  LibraryScalar alpha{types.of, arguments.problem.alpha}, beta{types.of, arguments.problem.beta};
};

/// The library as its users call it, on these operands: cublasGemmEx.
std::function<void()> default_call(const LibraryProduct& q) {
  const auto handle = make(library.cublasDestroy, "cublasCreate", library.cublasCreate);
  check_cublas(library.cublasSetStream(handle.get(), q.stream), "cublasSetStream");
  // Its own would be allocated while a stream is captured.
  check_cublas(library.cublasSetWorkspace(handle.get(), q.workspace.data, q.workspace.bytes),
               "cublasSetWorkspace");
  return [=] {
    const Problem& p = q.arguments.problem;
    check_cublas(
        library.cublasGemmEx_64(handle.get(), library_operation(p.transa),
                                library_operation(p.transb), p.m, p.n, p.k, &q.alpha, q.arguments.a,
                                q.input, p.lda, q.arguments.b, q.input, p.ldb, &q.beta,
                                q.arguments.c, q.output, p.ldc, q.arithmetic, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  };
}

/// cublasLtMatmul with any of the algorithms that its heuristic names.
struct TunedCall {
  int algorithms;
  std::function<cublasStatus_t(std::size_t algorithm)> try_launch;
};

TunedCall tuned_call(const LibraryProduct& q, bool fast_sums) {
  const Problem& p = q.arguments.problem;
  const auto handle = make(library.cublasLtDestroy, "cublasLtCreate", library.cublasLtCreate);
  const auto description =
      make(library.cublasLtMatmulDescDestroy, "cublasLtMatmulDescCreate",
           library.cublasLtMatmulDescCreate, q.arithmetic, library_type(q.types.scalar));
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    check_cublas(
        library.cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, library_operation(p.transa));
  set(CUBLASLT_MATMUL_DESC_TRANSB, library_operation(p.transb));
  if (p.of == Class::fp8) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast_sums));
  const auto layout = [](cudaDataType type, std::int64_t rows, std::int64_t columns,
                         std::int64_t leading_dimension) {
    return make(library.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutCreate",
                library.cublasLtMatrixLayoutCreate, type, rows, columns, leading_dimension);
  };
  const auto a = layout(q.input, p.a_rows(), p.a_columns(), p.lda);
  const auto b = layout(q.input, p.b_rows(), p.b_columns(), p.ldb);
  const auto c = layout(q.output, p.m, p.n, p.ldc);
  const auto preference =
      make(library.cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceCreate",
           library.cublasLtMatmulPreferenceCreate);
  const std::uint64_t bytes = q.workspace.bytes;
  check_cublas(
      library.cublasLtMatmulPreferenceSetAttribute(
          preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
      "cublasLtMatmulPreferenceSetAttribute");
  std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> results{};
  int found = 0;
  check_cublas(library.cublasLtMatmulAlgoGetHeuristic(handle.get(), description.get(), a.get(),
                                                      b.get(), c.get(), c.get(), preference.get(),
                                                      most_algorithms, results.data(), &found),
               "cublasLtMatmulAlgoGetHeuristic");
  return {found, [=](std::size_t algorithm) {
            const Arguments& of = q.arguments;
            return library.cublasLtMatmul(handle.get(), description.get(), &q.alpha, of.a, a.get(),
                                          of.b, b.get(), &q.beta, of.c, c.get(), of.c, c.get(),
                                          &results[algorithm].algo, q.workspace.data,
                                          q.workspace.bytes, q.stream);
          }};
}

/// `algorithm`: what of the library's ways this is, in words.
Workload workload_of(std::function<void()> launch, std::shared_ptr<Operands> operands,
                     const std::string& algorithm, cudaStream_t stream) {
  Workload workload = verified_workload(std::move(launch), std::move(operands));
  workload.notes = [algorithm, launch = workload.launch, stream] {
    return std::map<std::string, std::string>{{"algorithm", algorithm},
                                              {"kernels", kernel_names(launch, stream)}};
  };
  return workload;
}

/// The fastest of cublasLtMatmul's algorithms on the product.
Workload tuned_workload(Context& context, const Problem& problem,
                        const std::shared_ptr<RunMemory>& memory, bool fast_sums) {
  const auto operands = std::make_shared<Operands>(context, memory, problem, cublaslt_name);
  const TunedCall call = tuned_call({context, *operands, "workspace of cuBLASLt"}, fast_sums);
  const auto launch = [call](std::size_t i) { check_cublas(call.try_launch(i), "cublasLtMatmul"); };
  const auto works = [&](std::size_t i) { return call.try_launch(i) == CUBLAS_STATUS_SUCCESS; };
  const auto chosen = find_fastest(context, memory->choices[choice_key(problem, fast_sums)],
                                   static_cast<std::size_t>(call.algorithms), works, launch);
  if (!chosen)
    throw Error(ExitCode::bad_input, "cuBLASLt has no algorithm for this product: choose another.");
  return workload_of(
      [launch, i = *chosen] { launch(i); }, operands,
      fmt::format("number {} of the {} that the heuristic names", *chosen + 1, call.algorithms),
      context.stream());
}

}  // namespace

const std::string& why_no_opponents() {
  static const std::string problem = load();
  return problem;
}

std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<RunMemory>& memory, bool fast_sums) {
  // Its descriptors have no matrices without elements, and nothing is to be won there.
  if (!why_no_opponents().empty() || problem.m == 0 || problem.n == 0 || problem.k == 0) return {};
  // The library multiplies fp8 with A transposed and B not, on columns that start on 16 bytes, and
  // nothing else (cuBLAS documentation, cublasLtMatmul, requirements of its FP8 kernels).
  const bool takes_fp8 = problem.transa == Transpose::yes && problem.transb == Transpose::no &&
                         columns_aligned(problem.lda, Element::e4m3, 16) &&
                         columns_aligned(problem.ldb, Element::e4m3, 16) &&
                         columns_aligned(problem.ldc, traits(problem.of).output, 16);
  if (problem.of == Class::fp8 && !takes_fp8) return {};
  // For int8, cuBLAS promises products whose m, k and leading dimensions are multiples of 4 (its
  // documentation, requirements of IMMA kernels). On an H200 it does only some of the others.
  const bool takes_int8 = problem.m % 4 == 0 && problem.k % 4 == 0 && problem.lda % 4 == 0 &&
                          problem.ldb % 4 == 0 && problem.ldc % 4 == 0;
  if (problem.of == Class::int8 && !takes_int8) return {};
  std::vector<OpponentCase> result;
  if (problem.of != Class::fp8) {  // which cublasGemmEx does not take
    result.push_back(
        {cublas_name, [problem, memory](Context& context) {
           const auto operands = std::make_shared<Operands>(context, memory, problem, cublas_name);
           return workload_of(default_call({context, *operands, "workspace of cuBLAS"}), operands,
                              "the library's default", context.stream());
         }});
  }
  result.push_back({cublaslt_name, [problem, memory, fast_sums](Context& context) {
                      return tuned_workload(context, problem, memory, fast_sums);
                    }});
  return result;
}

}  // namespace fathom::gemm

#else  // the toolkit that builds has no headers of cuBLAS

namespace fathom::gemm {

std::vector<OpponentCase> opponents(const Problem&, const std::shared_ptr<RunMemory>&, bool) {
  return {};
}

const std::string& why_no_opponents() {
  static const std::string sentence =
      "This build cannot compare with cuBLAS, since its toolkit has no cublasLt.h: install the "
      "toolkit's cuBLAS (package libcublas-dev) and build again.";
  return sentence;
}

}  // namespace fathom::gemm

#endif
