#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::gemm {

/// A type's products around multiples of a tile, by m, and what a model makes of them: a product
/// pays for whole tiles in whole waves, each kernel at its own speed (the median of its entries).
class TileSweep {
 public:
  /// Takes those of the type's entries that have a figure and a model.
  TileSweep(std::span<const Entry> entries, const std::string& type);

  const std::vector<const Entry*>& entries() const { return entries_; }
  /// Whether what a product takes is counted in cycles, its time by the SM clock of its samples:
  /// neighbours are timed at whatever clock power leaves each. In seconds where one has no such
  /// clock.
  bool in_cycles() const { return in_cycles_; }
  double taken(const Entry& entry) const;
  double modelled(const Entry& entry) const;
  /// Largest relative distance of an entry from the model.
  double farthest() const;

 private:
  std::vector<const Entry*> entries_;
  bool in_cycles_ = false;
  std::map<std::string, double> taken_per_flop_;  ///< by kernel
};

/// An entry's m, and the FLOP it pays for: what whole tiles in whole waves could do.
double swept_m(const Entry& entry);
double paid_flop(const Entry& entry);
/// Whether both are known to have run one and the same kernel.
bool same_kernel(const Entry& a, const Entry& b);
/// Whether its kernel is known at all.
bool knows_kernel(const Entry& entry);

}  // namespace fathom::gemm
