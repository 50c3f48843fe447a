#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::models {

/// A figure that somebody else measured or states, of one quantity of one chip. Every one was read
/// again, in the source that it names, when it was written down here (November 2026).
struct PublishedFigure {
  std::string_view fact;  ///< id of the fact that states the same: "l2.latency"
  double value = 0;
  std::string_view unit;  ///< of the fact: "cycles", "B", "B/s", "B/clk" (of one SM)
  std::string_view chip;  ///< on which it was measured, by gpu_table's name where it has one
  int major = 0, minor = 0;
  int date = 0;             ///< of the source: 100 x year + month; 0: undated
  std::string_view source;  ///< title, date, and the table or file in it
  /// Whether it may stand beside the same quantity of another architecture: dependent-issue
  /// latencies of arithmetic, which change little from one to the next.
  bool for_any_chip = false;
};

std::span<const PublishedFigure> published_figures();

/// What is published of a fact, best first: of the same product, of another chip of the same
/// compute capability, then what may stand beside any chip; among those equally close in the
/// table's order, where a closer relative comes first and of one chip the newer source. `gpu_name`
/// is the CUDA device's name or a short one. Only figures in the fact's own unit; empty where
/// nothing is known.
std::vector<const PublishedFigure*> find_published(std::string_view fact, std::string_view unit,
                                                   int major, int minor, std::string_view gpu_name);

/// The figure's source, with the chip where that is not the GPU itself.
std::string cited(const PublishedFigure& figure, std::string_view gpu_name);

}  // namespace fathom::models
