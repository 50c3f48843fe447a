#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gemm/bench/reference_kernels.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/tolerance.h"
#include "harness/cuda_handles.h"
#include "harness/probe.h"

// What is asked of a ladder, the cases that it makes of that, and what they run and check.

namespace fathom::gemm {

// probe.cpp, cases.cpp

/// What the command line asks of the ladder.
struct Request {
  std::vector<std::string> rungs;  ///< identifiers; empty: all
  std::optional<Class> of;         ///< only this class
  /// One product in place of the sweep's; its class is set for each ladder that is asked for.
  std::optional<Problem> problem;
  std::vector<std::string> notes;  ///< on names and flags of earlier versions

  bool wants(const Rung& rung) const;
  /// Those that it asks for and this GPU runs, in order. Throws Error(bad_input) for one that was
  /// named and does not run on it, and where none is left.
  std::vector<const Rung*> rungs_on(const DeviceFacts& device) const;
};

/// What an id of an earlier version is called now, or who does its products; empty for others.
std::string current_id(const std::string& former_id);

/// Reads them; Error(bad_input) says what to give for unknown rungs, types and no products.
Request read_request(const OptionValues& values);

/// The ladders' cases on this GPU: every rung that it can run, or those requested, without products
/// that it is too small or too slow for (gemm/bench/shapes.h). Their axis `part` says what they are
/// for: "ladder" (every rung at one size), "contest" (contenders where they are to beat the
/// library), "sizes" and "tiles" (the top rung over sizes, and around multiples of a tile),
/// "layouts" (the last contenders in the other transpositions), "sustained" (the last of each kind
/// of sums under lasting load), "claim" (what a claim speaks of), "request" (the command line's
/// product). Throws Error(bad_input) for rungs or a type that were asked for and do not run here.
std::vector<Case> ladder_cases(const DeviceFacts& device, const Request& request);

/// The ladder's product of `size`³: a lesson's in a layout that its own kernel takes.
Problem ladder_problem(const Rung& rung, std::int64_t size);

// verification.cpp

/// How far a product was from the reference.
struct Accuracy {
  double relative_frobenius = 0;
  double worst = 0;  ///< largest error of an element against what is allowed for it
};

/// What is wrong with such a product: the one place that says so. What is no number is wrong.
std::optional<std::string> judge(const Problem& problem, const Tolerance& tolerance,
                                 const Deviation& deviation, Accuracy& accuracy);

/// A way that was found fastest; nothing as long as none was.
using Choice = std::optional<std::size_t>;

/// What the cases of one run share.
struct RunMemory {
  /// The reference of this product, whose `c` is the old C (not read where beta is 0). The last one
  /// is kept, since many rungs in a row compute the same product. All of one program's operands of
  /// a class are the same random data, wherever they are.
  Reference reference_of(const Arguments& arguments, cudaStream_t stream);

  std::optional<Problem> problem;  ///< of the reference; none: nothing is computed
  DeviceMemory<double> values, magnitudes;
  /// By whose they are and for which product.
  std::map<std::string, Choice> choices;
};

/// The matrices of a product on the GPU, of random normal data, with its reference in fp64, which
/// is computed once for all who compute the same product from the same data.
class Operands {
 public:
  /// `owner` names whoever computes: each has a C of its own. `promoted`: as of a rung
  /// (gemm/bench/rung.h), which is held to more for it.
  Operands(Context& context, std::shared_ptr<RunMemory> memory, const Problem& problem,
           const std::string& owner, bool promoted = false);

  const Arguments& arguments() const { return arguments_; }
  /// Makes C what it has to be before a launch that is verified: 0xFF bytes all over (NaN in every
  /// floating-point type), and where beta is not 0 the old C between the gaps. Asynchronous.
  void reset_c() const;
  /// Compares C with the reference: what is wrong with it, or nothing.
  std::optional<std::string> verify();
  /// How far C was then.
  const Accuracy& accuracy() const { return accuracy_; }

 private:
  Context* context_;
  std::shared_ptr<RunMemory> memory_;
  Arguments arguments_;
  bool promoted_;
  Buffer c_;
  const void* old_c_ = nullptr;  ///< null where beta is 0
  Accuracy accuracy_;
};

/// A launch on these operands that is held against the reference.
Workload verified_workload(std::function<void()> launch, std::shared_ptr<Operands> operands);

/// Columns of C that are compared: every so many that the reference takes less than half a second
/// on a fast GPU. A prime, so that over the columns every place in a tile is met.
int reference_column_step(const Problem& problem);

// rung_workload.cpp, opponents.cpp

/// A rung's product on the GPU, ready to be verified and timed: in the fastest variant, where the
/// rung has some, each held against the reference first: throws Error(check_failed) where its
/// product is wrong. Extras say registers, shared memory, warps and waves of the kernel that
/// multiplied, and how accurate C was; notes say which variant and which kernel ran.
Workload rung_workload(Context& context, const Rung& rung, const Problem& problem,
                       const std::shared_ptr<RunMemory>& memory);

/// What the product's size loses to whole tiles and waves (models/waves.h), as extras:
/// "waves" and "tile_efficiency", of whole tiles alone where the last wave is shared equally.
/// Nothing for kernels without a tile, and for products too small for one.
std::map<std::string, double> tile_losses(const RungKernel& kernel, const Problem& problem,
                                          int blocks_per_sm, int sms);

/// The fastest of several ways to do a product, by the conditions in which it then meets others:
/// bursts of short launches in rows. Ways that single launches leave in question meet in turn.
/// Products of 20 ms a launch take three seconds, most others less than half of one.
///
/// `works` launches a way, and is false where that cannot do the product; `launch` throws there.
/// Nothing if none works. A `choice` that was made before is returned without trying anything, so
/// that later rounds take the same way and all rungs meet one opponent.
Choice find_fastest(Context& context, Choice& choice, std::size_t ways,
                    const std::function<bool(std::size_t)>& works,
                    const std::function<void(std::size_t)>& launch);

/// Indices of the ways that single launches leave in question, fastest first, eight at most: those
/// within half of the lowest time of all and the few microseconds that launches differ by. Ties go
/// to the earlier one. A way that failed has an infinite time.
std::vector<std::size_t> finalists(std::span<const double> lowest_seconds);

/// A kernel's name for people: demangled, without return type, arguments and our own namespaces:
/// "fp32::warp_specialised_product<fp32::Tile<false, false, ...".
std::string readable_name(const std::string& mangled);
/// The same of a kernel of this program.
std::string kernel_name(const void* function);

/// The kernels that `launch` puts on the stream, in the order of the driver's nodes of its capture:
/// "ampere_sgemm_128x128_nn, splitKreduce_kernel". Nothing of it runs; its kernels have run before,
/// since loading a module is forbidden in a capture. Says why where a launch cannot be captured,
/// and where the driver cannot tell (it names kernels since CUDA 12.3).
std::string kernel_names(const std::function<void()>& launch, cudaStream_t stream);

inline constexpr const char* cublas_name = "cuBLAS";
inline constexpr const char* cublaslt_name = "cuBLASLt, best of 32";

/// Room for the library's scratch data, and most of its algorithms that are tried.
inline constexpr std::size_t library_workspace_bytes = std::size_t{64} << 20;
inline constexpr int most_algorithms = 32;

/// By which the choice among cublasLtMatmul's algorithms is known.
inline std::string choice_key(const Problem& problem, bool fast_sums) {
  return std::string(cublaslt_name) + (fast_sums ? " " : " kept ") + problem.describe();
}

/// The vendor's library on the same product, as its users have it (cublasGemmEx with the default
/// algorithm) and as whoever tunes it has it (cublasLtMatmul with the fastest of the algorithms
/// that its heuristic names, each timed): none where there is no library or it does not take the
/// product (of fp8 and int8 some layouts and sizes), and for fp8 the second alone. fp32 is computed
/// in real fp32, with neither TF32 nor emulation.
///
/// `fast_sums`: fp8 is accumulated as fast as the tensor cores can; else all bits are kept.
std::vector<OpponentCase> opponents(const Problem& problem,
                                    const std::shared_ptr<RunMemory>& memory, bool fast_sums);

/// Why there are none, in one sentence that says what to do; empty where there are.
const std::string& why_no_opponents();

}  // namespace fathom::gemm
