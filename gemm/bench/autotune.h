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

/// Holds every variant of a rung at one product against the reference, and finds the fastest; one
/// that is not clearly faster is not preferred to the default, the first. Throws
/// Error(check_failed) where a variant's product is wrong.
TunedChoice autotune(Context& context, const Rung& rung, const std::vector<Variant>& variants,
                     const Operands& operands, const Workspace& workspace);

/// By more than two runs of the same kernel may differ.
bool clearly_faster(double seconds, double default_seconds);

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
