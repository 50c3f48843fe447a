#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gemm/rung.h"
#include "gemm/verification.h"
#include "harness/probe.h"

// Kernels that could take the place of a rung's, and the vendor's library, on one product: what the
// tuning programs share.

namespace fathom::gemm {

struct Trial {
  std::string name;
  std::function<std::size_t(const Problem&, int sms)> workspace_bytes;
  std::function<void(const Arguments&, const Workspace&, cudaStream_t)> launch;
  /// Whether it is made for the product; else it is left out.
  std::function<bool(const Problem&)> takes = [](const Problem&) { return true; };
};

struct Comparison {
  bool sustained = false;  ///< each kept under load for 1.2 s; else bursts, in turn
  bool opponents = true;   ///< the vendor's library too
  int rounds = 15;         ///< of bursts
};

/// Holds a trial against the reference on a product, whether it is made for it or not: what is wrong
/// with its result, or nothing.
std::optional<std::string> wrong_with(Context& context, const Trial& trial,
                                      const std::shared_ptr<Operands>& operands);

/// Holds every variant against the reference, times all, forth and back in turn, and prints a
/// table: median time, rates, the ratio to the faster of the library's, and what is wrong with
/// the result. Returns whether every result was right.
bool compare(Context& context, const Problem& problem, std::span<const Trial> variants,
             const Comparison& how);

}  // namespace fathom::gemm
