#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gemm/bench/reference_kernels.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/tolerance.h"
#include "harness/cuda_handles.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// How far a product was from the reference.
struct Accuracy {
  double relative_frobenius = 0;
  double worst = 0;  ///< largest error of an element against what is allowed for it
};

/// What is wrong with such a product: the one place that says so. What is no number is wrong.
std::optional<std::string> judge(const Problem& problem, const Tolerance& tolerance,
                                 const Deviation& deviation, Accuracy& accuracy);

/// Keeps the last reference computed, since many rungs in a row compute the same product. All of
/// one program's operands of a class are the same random data, wherever they are.
class ReferenceStore {
 public:
  /// The reference of this product, whose `c` is the old C (not read where beta is 0).
  Reference of(const Arguments& arguments, cudaStream_t stream);

 private:
  std::optional<Problem> problem_;  ///< none: nothing is computed
  DeviceMemory<double> values_, magnitudes_;
};

/// What the cases of one run share.
struct RunMemory {
  ReferenceStore references;
  /// The fastest ways found (find_fastest), by whose they are and for which product:
  /// each is tried once, so that later rounds take the same one and all rungs meet one opponent.
  std::map<std::string, std::size_t> choices;
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

}  // namespace fathom::gemm
