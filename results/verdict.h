#pragma once

#include <string_view>

#include "results/document.h"

namespace fathom {

/// Medians of whole runs that are no further apart than this, relative to the median, are equal.
inline constexpr double equal_runs = 0.005;

/// An interval of the median wider than this to either side, relative to the median, is noise:
/// half of the difference between two runs that are still equal.
inline constexpr double noise_half_width = equal_runs / 2;

/// Medians of a run's three rounds that are further apart than this, relative to the median, are
/// noise. By the studentised range's d2 it would be 1.69/3.08 of what ten runs may differ by; 0.4,
/// since a range of three is known to half its size only and rounds share a process.
inline constexpr double noise_repeatability = 0.4 * equal_runs;

/// A clock whose readings differ by more than this, relative to the highest, has moved: NVIDIA GPUs
/// set clocks in steps of 15 MHz, and one step is no finding.
inline constexpr double clock_moved = 0.01;

/// Resolution of CUDA's event timer, in seconds (the runtime's documentation of
/// cudaEventElapsedTime says around half a microsecond).
inline constexpr double event_resolution_s = 0.5e-6;

/// Decides what an entry is worth, and writes it to `entry.verdict`, worst finding first:
/// - above_bound: its value is better than its bound, by however little;
/// - counter_mismatch: a counter differs from its expectation by more than its tolerance;
/// - unexpected: its value differs from the model's by more than the tolerance;
/// - noisy: its interval or the spread of its rounds is too wide, and why, as far as is known.
/// A number that is missing never counts as right: `verdict.unchecked` lists it. One that is not
/// finite counts as wrong. wrong_output and failed, which only the measurement knows, stay.
void judge_entry(Entry& entry);

/// Every throttle reason but two: the GPU does nothing, or it follows the clock that it was told.
inline bool holds_clocks_down(std::string_view reason) {
  return reason != "gpu_idle" && reason != "applications_clocks_setting";
}

}  // namespace fathom
