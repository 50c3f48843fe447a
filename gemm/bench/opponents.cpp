#include "gemm/bench/opponents.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <library_types.h>
#include <algorithm>
#include <array>
#include <utility>

#include "gemm/bench/cublas_library.h"
#include "gemm/bench/fastest_way.h"
#include "gemm/bench/launched_kernels.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

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

Owned<cublasLtMatrixLayout_t> make_layout(cudaDataType type, std::int64_t rows,
                                          std::int64_t columns, std::int64_t leading_dimension) {
  cublasLtMatrixLayout_t layout = nullptr;
  check_cublas(cublas_library()->cublasLtMatrixLayoutCreate(
                   &layout, type, static_cast<std::uint64_t>(rows),
                   static_cast<std::uint64_t>(columns), leading_dimension),
               "cublasLtMatrixLayoutCreate");
  return {layout, cublas_library()->cublasLtMatrixLayoutDestroy};
}

/// Whether cublasGemmEx takes the class.
bool takes_default(Class of) { return of != Class::fp8; }

/// cublasGemmEx, ready to be called.
class DefaultCall {
 public:
  DefaultCall(const Arguments& arguments, const Buffer& workspace, cudaStream_t stream)
      : arguments_(arguments),
        types_(library_types(arguments.problem.of)),
        alpha_(arguments.problem.of, arguments.problem.alpha),
        beta_(arguments.problem.of, arguments.problem.beta) {
    const CublasLibrary& l = *cublas_library();
    cublasHandle_t handle = nullptr;
    check_cublas(l.cublasCreate(&handle), "cublasCreate");
    handle_ = {handle, l.cublasDestroy};
    check_cublas(l.cublasSetStream(handle, stream), "cublasSetStream");
    // Its own would be allocated while a stream is captured.
    check_cublas(l.cublasSetWorkspace(handle, workspace.data, workspace.bytes),
                 "cublasSetWorkspace");
    check_cublas(l.cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  }

  void launch() const {
    const Problem& p = arguments_.problem;
    check_cublas(
        cublas_library()->cublasGemmEx_64(
            handle_.get(), library_operation(p.transa), library_operation(p.transb), p.m, p.n, p.k,
            &alpha_, arguments_.a, types_.input, p.lda, arguments_.b, types_.input, p.ldb, &beta_,
            arguments_.c, types_.output, p.ldc, types_.compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

 private:
  Arguments arguments_;
  LibraryTypes types_;
  LibraryScalar alpha_, beta_;
  Owned<cublasHandle_t> handle_{nullptr, nullptr};
};

/// cublasLtMatmul with one of its algorithms.
class TunedCall {
 public:
  TunedCall(const Arguments& arguments, bool fast_sums, const Buffer& workspace,
            cudaStream_t stream)
      : arguments_(arguments),
        types_(library_types(arguments.problem.of)),
        alpha_(arguments.problem.of, arguments.problem.alpha),
        beta_(arguments.problem.of, arguments.problem.beta),
        workspace_(workspace),
        stream_(stream) {
    const CublasLibrary& l = *cublas_library();
    const Problem& p = arguments.problem;
    cublasLtHandle_t handle = nullptr;
    check_cublas(l.cublasLtCreate(&handle), "cublasLtCreate");
    handle_ = {handle, l.cublasLtDestroy};
    cublasLtMatmulDesc_t description = nullptr;
    check_cublas(l.cublasLtMatmulDescCreate(&description, types_.compute, types_.scale),
                 "cublasLtMatmulDescCreate");
    description_ = {description, l.cublasLtMatmulDescDestroy};
    set(CUBLASLT_MATMUL_DESC_TRANSA, library_operation(p.transa));
    set(CUBLASLT_MATMUL_DESC_TRANSB, library_operation(p.transb));
    if (p.of == Class::fp8)
      set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast_sums));
    a_ = make_layout(types_.input, p.a_rows(), p.a_columns(), p.lda);
    b_ = make_layout(types_.input, p.b_rows(), p.b_columns(), p.ldb);
    c_ = make_layout(types_.output, p.m, p.n, p.ldc);
    find_algorithms();
  }

  std::size_t algorithms() const { return static_cast<std::size_t>(found_); }
  cublasStatus_t try_launch(std::size_t algorithm) const {
    return cublas_library()->cublasLtMatmul(
        handle_.get(), description_.get(), &alpha_, arguments_.a, a_.get(), arguments_.b, b_.get(),
        &beta_, arguments_.c, c_.get(), arguments_.c, c_.get(), &results_[algorithm].algo,
        workspace_.data, workspace_.bytes, stream_);
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_cublas(cublas_library()->cublasLtMatmulDescSetAttribute(description_.get(), attribute,
                                                                  &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }

  void find_algorithms() {
    const CublasLibrary& l = *cublas_library();
    cublasLtMatmulPreference_t made = nullptr;
    check_cublas(l.cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    const Owned<cublasLtMatmulPreference_t> preference{made, l.cublasLtMatmulPreferenceDestroy};
    const std::uint64_t bytes = workspace_.bytes;
    check_cublas(l.cublasLtMatmulPreferenceSetAttribute(
                     made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
                 "cublasLtMatmulPreferenceSetAttribute");
    check_cublas(l.cublasLtMatmulAlgoGetHeuristic(handle_.get(), description_.get(), a_.get(),
                                                  b_.get(), c_.get(), c_.get(), made,
                                                  most_algorithms, results_.data(), &found_),
                 "cublasLtMatmulAlgoGetHeuristic");
  }

  Arguments arguments_;
  LibraryTypes types_;
  LibraryScalar alpha_, beta_;
  Buffer workspace_;
  cudaStream_t stream_;
  Owned<cublasLtHandle_t> handle_{nullptr, nullptr};
  Owned<cublasLtMatmulDesc_t> description_{nullptr, nullptr};
  Owned<cublasLtMatrixLayout_t> a_{nullptr, nullptr}, b_{nullptr, nullptr}, c_{nullptr, nullptr};
  std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> results_{};
  int found_ = 0;
};

/// `algorithm`: what of the library's ways this is, in words.
Workload workload_of(std::function<void()> launch, std::shared_ptr<Operands> operands,
                     const std::string& algorithm, cudaStream_t stream) {
  Workload workload = verified_workload(std::move(launch), operands, std::make_shared<Accuracy>());
  workload.notes = [algorithm, launch = workload.launch, stream] {
    return std::map<std::string, std::string>{{"algorithm", algorithm},
                                              {"kernels", kernel_names(launch, stream)}};
  };
  return workload;
}

/// The library as its users call it, on these operands.
DefaultCall default_call(Context& context, const Operands& operands) {
  return {operands.arguments(),
          context.buffers().output("workspace of cuBLAS", library_workspace_bytes),
          context.stream()};
}

AlgorithmChoice choose(Context& context, const Operands& operands, const TunedCall& call,
                       const std::function<void(std::size_t)>& launch) {
  std::function<void()> by_default;
  std::optional<DefaultCall> other;
  if (takes_default(operands.arguments().problem.of)) {
    other.emplace(default_call(context, operands));
    by_default = [&other] { other->launch(); };
  }
  const auto works = [&](std::size_t i) { return call.try_launch(i) == CUBLAS_STATUS_SUCCESS; };
  const auto found = find_fastest(context, call.algorithms(), works, launch, by_default);
  if (!found)
    throw Error(ExitCode::bad_input, "cuBLASLt has no algorithm for this product: choose another.");
  return {found->index, slower_than_default(found->seconds, found->default_seconds)};
}

}  // namespace

std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<ReferenceStore>& references,
                                    bool fast_sums, std::shared_ptr<AlgorithmChoices> choices) {
  // Its descriptors have no matrices without elements, and nothing is to be won there.
  if (cublas_library() == nullptr || problem.m == 0 || problem.n == 0 || problem.k == 0) return {};
  // The library multiplies 8-bit floating point with A transposed and B not, on columns that start
  // on 16 bytes, and nothing else (cuBLAS documentation, cublasLtMatmul, requirements of its FP8
  // kernels; it calls the rest "not supported" on an H200).
  const bool takes_fp8 = problem.transa == Transpose::yes && problem.transb == Transpose::no &&
                         columns_aligned(problem.lda, Element::e4m3, 16) &&
                         columns_aligned(problem.ldb, Element::e4m3, 16) &&
                         columns_aligned(problem.ldc, traits(problem.of).output, 16);
  if (problem.of == Class::fp8 && !takes_fp8) return {};
  // Of 8-bit integers it promises products with m, k and all leading dimensions on multiples of 4
  // (cuBLAS documentation, cublasLtMatmul, requirements of its IMMA kernels); of others an H200's
  // library does some, and calls the rest, 4095³ in every layout among them, "not supported".
  const bool takes_int8 = problem.m % 4 == 0 && problem.k % 4 == 0 && problem.lda % 4 == 0 &&
                          problem.ldb % 4 == 0 && problem.ldc % 4 == 0;
  if (problem.of == Class::int8 && !takes_int8) return {};
  std::vector<OpponentCase> result;
  if (takes_default(problem.of)) {
    result.push_back({cublas_name, [problem, references](Context& context) {
                        const auto operands =
                            std::make_shared<Operands>(context, references, problem, cublas_name);
                        const auto call =
                            std::make_shared<DefaultCall>(default_call(context, *operands));
                        return workload_of([call] { call->launch(); }, operands,
                                           "the library's default", context.stream());
                      }});
  }
  if (choices == nullptr) choices = std::make_shared<AlgorithmChoices>();
  result.push_back(
      {cublaslt_name, [problem, references, choices, fast_sums](Context& context) {
         const auto operands =
             std::make_shared<Operands>(context, references, problem, cublaslt_name);
         const auto call = std::make_shared<TunedCall>(
             operands->arguments(), fast_sums,
             context.buffers().output("workspace of cuBLASLt", library_workspace_bytes),
             context.stream());
         const auto launch = [call](std::size_t algorithm) {
           check_cublas(call->try_launch(algorithm), "cublasLtMatmul");
         };
         std::optional<AlgorithmChoice>& chosen = choices->of(problem, fast_sums);
         if (!chosen) chosen = choose(context, *operands, *call, launch);
         return workload_of([launch, algorithm = chosen->index] { launch(algorithm); }, operands,
                            fmt::format("number {} of the {} that the heuristic names{}",
                                        chosen->index + 1, call->algorithms(), chosen->remark),
                            context.stream());
       }});
  return result;
}

}  // namespace fathom::gemm
