#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "gemm/rung.h"
#include "harness/probe.h"

// Kernels that could take the place of a rung's, and the vendor's library, on one product: what the
// tuning programs share.

namespace fathom::gemm {

struct Trial {
  std::string name;
  std::function<std::size_t(const Problem&, int sms)> workspace_bytes;
  std::function<void(const Arguments&, const Workspace&, cudaStream_t)> launch;
  /// Whether it can do the product at all; else it is left out.
  std::function<bool(const Problem&)> takes = [](const Problem&) { return true; };
  /// Whether it is made for products of about this shape: others it does, but is not timed on.
  std::function<bool(const Problem&)> suits = [](const Problem&) { return true; };
  bool promoted = false;  ///< as of a rung (gemm/rung.h)
};

/// A rung as it is, to hold the others against.
Trial trial_of(const Rung& rung);

struct Comparison {
  bool sustained = false;  ///< under lasting load, in turn and back; else bursts
  bool opponents = true;   ///< the vendor's library too
  bool fast_sums = true;   ///< of fp8: the library may drop the bits that the tensor cores drop
  int rounds = 16;         ///< of bursts
};

/// Holds every variant that suits the product against the reference, times all, and prints a table:
/// median time, rates, the ratio to the faster of the library's, the SM clock of a burst in MHz and
/// the thousand cycles of a launch, or under lasting load its millijoules, how far the result is
/// from the reference, and what is wrong with it. Returns whether every result was right.
bool compare(Context& context, const Problem& problem, std::span<const Trial> variants,
             const Comparison& how);

/// Holds every variant against the reference on small products of a class: edges of tiles and
/// stages, all layouts, columns that start on 16 bytes and that do not; where the result does not
/// depend on what was there, after three launches one right after the other. Prints what is wrong,
/// and returns whether nothing was.
bool check_small_products(Context& context, Class of, std::span<const Trial> variants);

}  // namespace fathom::gemm
