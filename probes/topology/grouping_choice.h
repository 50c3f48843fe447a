#pragma once

#include <cstddef>

#include "probes/topology/clustering.h"

namespace fathom {

/// A grouping and what stood against it.
struct ChosenGrouping {
  Grouping grouping;
  int widest = 0;  ///< the number of groups with the widest silhouette
  double widest_silhouette = 0;
};

/// Groups of rows that rise and fall together: average linkage of `correlation_distances`, into
/// `least` to `most` groups. The number is the smallest that fits better than one fewer and one
/// more and whose silhouette falls short of the widest by no more than two standard errors of that
/// difference. Things grouped at two scales, such as SMs by side of the chip and again within each
/// side, have two numbers that fit about as well; the widest silhouette alone then goes with the
/// noise, and another run, or another choice of columns, gives other groups.
///
/// The columns are taken as a sample: standard errors are by the delete-a-group jackknife (Kott,
/// "The delete-a-group jackknife", 2001) over twelve groups of them, and the smallest model within
/// its error of the best is the rule of Breiman, Friedman, Olshen and Stone ("Classification and
/// regression trees", 1984) with two errors for one. Fewer columns than twelve have as many groups.
/// Throws std::invalid_argument as the functions of probes/topology/clustering.h do.
ChosenGrouping parsimonious_clusters(const Rows& rows, std::size_t least, std::size_t most);

}  // namespace fathom
