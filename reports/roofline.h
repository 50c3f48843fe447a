#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

/// What a kernel does at one level of memory.
struct LevelUse {
  double bytes = 0;
  double intensity = 0;  ///< FLOP per byte
  bool counted = true;   ///< by the hardware counters; else the view's other figure
};

/// A kernel under its roofs: an entry of a view of kind roofline.
struct RooflineRow {
  const Entry* entry = nullptr;
  std::string name;
  double flops_per_second = 0;
  std::vector<std::optional<LevelUse>> levels;  ///< as the view's `memory`
  std::optional<double> attainable;             ///< FLOP/s that the roofs known of allow
  std::string bound_by;                         ///< the roof that is lowest there
};

/// The roof of a level among the run's bounds, B/s; nothing where none is known.
std::optional<double> roof_of(const MemoryLevel& level, std::span<const DeviceBound> bounds);

/// Every entry that has a metric in FLOP/s and work, in order; those without any bytes too. The entries are
/// those that the view shows.
std::vector<RooflineRow> roofline_rows(const View& view, std::span<const Entry* const> entries,
                                       std::span<const DeviceBound> bounds);

}  // namespace fathom::reports
