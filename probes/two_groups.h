#pragma once

#include <span>

namespace fathom {

/// Latencies of single loads in two groups, as near and far parts of a cache would give them.
struct TwoGroups {
  double low = 0, high = 0;  ///< mean of each group
  double high_share = 0;     ///< of the loads that are in the upper one
  /// Share of the variance that is between the groups, at the cut where it is largest (Otsu, "A
  /// threshold selection method from gray-level histograms", 1979). 0.64 for one normal
  /// distribution and 0.75 for a uniform one, however wide; towards 1 for two narrow ones.
  double separation = 0;
};

/// From this separation on, two groups are taken to be there.
inline constexpr double bimodal_separation = 0.8;

/// Leaves out the lowest and the highest 1 %: refreshes and the like are no group. Throws
/// std::invalid_argument for an empty span. All alike: one group, separation 0.
TwoGroups two_groups(std::span<const double> latencies);

}  // namespace fathom
