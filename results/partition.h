#pragma once

#include <cstddef>
#include <vector>

namespace fathom {

/// Points first to last, inclusive, and what fits them: a constant, or a line in u.
struct Piece {
  std::size_t first = 0, last = 0;
  bool plateau = true;
  double first_y = 0, last_y = 0;  ///< of the fit, at its ends
};

/// The cut of a curve into pieces with the least penalised cost (criterion and sources:
/// results/segmentation.h). `u` ascends, `y` is above zero with a relative standard deviation of
/// `noise`, points that are not `used` cost nothing; all as long. Plateaus have at least
/// three used points, ramps too unless they join two plateaus; a curve of fewer is one
/// plateau.
std::vector<Piece> best_partition(const std::vector<double>& u, const std::vector<double>& y,
                                  const std::vector<bool>& used, double noise);

}  // namespace fathom
