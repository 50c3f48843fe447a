#include "gemm/bench/rung_workload.h"

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

/// How the vendor's library names a class's types.
struct LibraryTypes {
  Class of;
  cudaDataType input, output, scale;
  cublasComputeType_t compute;
};
constexpr LibraryTypes types[] = {
    {Class::fp32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {Class::fp32_3xtf32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {Class::tf32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {Class::fp64, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F},
    {Class::fp16, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {Class::bf16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {Class::fp8, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {Class::int8, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I}};

const LibraryTypes& library_types(Class of) {
  return *std::ranges::find(types, of, &LibraryTypes::of);
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

/// Owner of a cuBLAS object.
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

/// Makes one by the function `create`, whose name is `call`.
template <class T>
Owned<T> make(cublasStatus_t (*destroy)(T), const char* call, auto create, auto... values) {
  T object = nullptr;
  check_cublas(create(&object, values...), call);
  return {object, destroy};
}

Owned<cublasLtMatrixLayout_t> make_layout(cudaDataType type, std::int64_t rows,
                                          std::int64_t columns, std::int64_t leading_dimension) {
  return make(library.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutCreate",
              library.cublasLtMatrixLayoutCreate, type, rows, columns, leading_dimension);
}

/// A product as either call of the library takes it.
struct LibraryProduct {
  Arguments arguments;
  Buffer workspace;
  cudaStream_t stream;
  LibraryTypes types = library_types(arguments.problem.of);
  LibraryScalar alpha{arguments.problem.of, arguments.problem.alpha},
      beta{arguments.problem.of, arguments.problem.beta};
};

LibraryProduct library_product(Context& context, const Operands& operands, const char* workspace) {
  return {operands.arguments(), context.buffers().output(workspace, library_workspace_bytes),
          context.stream()};
}

/// The library as its users call it, on these operands: cublasGemmEx.
std::function<void()> default_call(Context& context, const Operands& operands) {
  const LibraryProduct q = library_product(context, operands, "workspace of cuBLAS");
  const std::shared_ptr<cublasContext> handle =
      make(library.cublasDestroy, "cublasCreate", library.cublasCreate);
  check_cublas(library.cublasSetStream(handle.get(), q.stream), "cublasSetStream");
  // Its own would be allocated while a stream is captured.
  check_cublas(library.cublasSetWorkspace(handle.get(), q.workspace.data, q.workspace.bytes),
               "cublasSetWorkspace");
  return [q, handle] {
    const Problem& p = q.arguments.problem;
    check_cublas(
        library.cublasGemmEx_64(
            handle.get(), library_operation(p.transa), library_operation(p.transb), p.m, p.n, p.k,
            &q.alpha, q.arguments.a, q.types.input, p.lda, q.arguments.b, q.types.input, p.ldb,
            &q.beta, q.arguments.c, q.types.output, p.ldc, q.types.compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  };
}

/// cublasLtMatmul with one of its algorithms.
class TunedCall {
 public:
  TunedCall(const LibraryProduct& product, bool fast_sums) : q_(product) {
    const Problem& p = q_.arguments.problem;
    handle_ = make(library.cublasLtDestroy, "cublasLtCreate", library.cublasLtCreate);
    description_ = make(library.cublasLtMatmulDescDestroy, "cublasLtMatmulDescCreate",
                        library.cublasLtMatmulDescCreate, q_.types.compute, q_.types.scale);
    set(CUBLASLT_MATMUL_DESC_TRANSA, library_operation(p.transa));
    set(CUBLASLT_MATMUL_DESC_TRANSB, library_operation(p.transb));
    if (p.of == Class::fp8)
      set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast_sums));
    a_ = make_layout(q_.types.input, p.a_rows(), p.a_columns(), p.lda);
    b_ = make_layout(q_.types.input, p.b_rows(), p.b_columns(), p.ldb);
    c_ = make_layout(q_.types.output, p.m, p.n, p.ldc);
    const Owned<cublasLtMatmulPreference_t> preference =
        make(library.cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceCreate",
             library.cublasLtMatmulPreferenceCreate);
    const std::uint64_t bytes = q_.workspace.bytes;
    check_cublas(
        library.cublasLtMatmulPreferenceSetAttribute(
            preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
        "cublasLtMatmulPreferenceSetAttribute");
    check_cublas(library.cublasLtMatmulAlgoGetHeuristic(
                     handle_.get(), description_.get(), a_.get(), b_.get(), c_.get(), c_.get(),
                     preference.get(), most_algorithms, results_.data(), &found_),
                 "cublasLtMatmulAlgoGetHeuristic");
  }

  std::size_t algorithms() const { return static_cast<std::size_t>(found_); }
  cublasStatus_t try_launch(std::size_t algorithm) const {
    const Arguments& of = q_.arguments;
    return library.cublasLtMatmul(handle_.get(), description_.get(), &q_.alpha, of.a, a_.get(),
                                  of.b, b_.get(), &q_.beta, of.c, c_.get(), of.c, c_.get(),
                                  &results_[algorithm].algo, q_.workspace.data, q_.workspace.bytes,
                                  q_.stream);
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_cublas(
        library.cublasLtMatmulDescSetAttribute(description_.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
  }

  LibraryProduct q_;
  Owned<cublasLtHandle_t> handle_{nullptr, nullptr};
  Owned<cublasLtMatmulDesc_t> description_{nullptr, nullptr};
  Owned<cublasLtMatrixLayout_t> a_{nullptr, nullptr}, b_{nullptr, nullptr}, c_{nullptr, nullptr};
  std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> results_{};
  int found_ = 0;
};

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
  const auto call = std::make_shared<TunedCall>(
      library_product(context, *operands, "workspace of cuBLASLt"), fast_sums);
  const auto launch = [call](std::size_t algorithm) {
    check_cublas(call->try_launch(algorithm), "cublasLtMatmul");
  };
  const auto works = [&](std::size_t i) { return call->try_launch(i) == CUBLAS_STATUS_SUCCESS; };
  auto& choices = memory->choices;
  const std::string key = choice_key(problem, fast_sums);
  if (!choices.contains(key)) {
    const auto found = find_fastest(context, call->algorithms(), works, launch);
    if (!found)
      throw Error(ExitCode::bad_input,
                  "cuBLASLt has no algorithm for this product: choose another.");
    choices[key] = *found;
  }
  const std::size_t chosen = choices[key];
  return workload_of(
      [launch, chosen] { launch(chosen); }, operands,
      fmt::format("number {} of the {} that the heuristic names", chosen + 1, call->algorithms()),
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
    result.push_back({cublas_name, [problem, memory](Context& context) {
                        const auto operands =
                            std::make_shared<Operands>(context, memory, problem, cublas_name);
                        return workload_of(default_call(context, *operands), operands,
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
