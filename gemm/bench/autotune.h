#pragma once

#include <string>
#include <vector>

#include "gemm/bench/variant.h"
#include "gemm/bench/verification.h"
#include "harness/probe.h"

namespace fathom::gemm {

/// The variant that was fastest at one product of one rung.
struct TunedChoice {
  std::string rung;     ///< "fp32/22_planned_tiles"
  std::string product;  ///< Problem::describe: "fp32 NN 4096x4096x4096"
  std::string variant;
  std::string default_variant;              ///< what the rung takes by itself
  double seconds = 0, default_seconds = 0;  ///< of one launch, timed alternately
  int tried = 0;                            ///< variants
};

/// Times every variant of a rung at one product, alternately, after holding each against the
/// reference, and says which is fastest. One that is not faster than the default, the first, by
/// more than `worth_it` is not preferred to it. Throws Error(check_failed) where a variant's
/// product is wrong.
TunedChoice autotune(Context& context, const Rung& rung, const std::vector<Variant>& variants,
                     const Operands& operands, const Workspace& workspace);

/// Relative: what two runs of the same kernel may differ by.
inline constexpr double worth_it = 0.005;

/// Index of the variant to take, by the median seconds of each; the first is the default.
std::size_t choose_variant(const std::vector<double>& median_seconds);

/// The choices of one run. Each product is tuned once, and its later rounds take the same variant.
class Autotuner {
 public:
  /// `enabled`: --autotune was given.
  explicit Autotuner(bool enabled = false) : enabled_(enabled) {}

  /// Whether it does so of this rung: also, without being asked to, of one whose idea it is.
  bool tunes(const Rung& rung) const;
  /// The choice for this product, or null: none was made yet. Until the next `keep`.
  const TunedChoice* find(const Rung& rung, const Problem& problem) const;
  void keep(const TunedChoice& choice) { choices_.push_back(choice); }
  /// What was chosen, or that nothing could be; nothing unless enabled.
  std::vector<std::string> notes() const;

 private:
  bool enabled_;
  std::vector<TunedChoice> choices_;
};

}  // namespace fathom::gemm
