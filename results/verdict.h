#pragma once

#include <string>

#include "results/document.h"

namespace fathom {

/// Medians of whole runs that are no further apart than this, relative to the median, are equal.
inline constexpr double equal_runs = 0.005;

/// An interval of the median wider than this to either side, relative to the median, is noise:
/// half of the difference between two runs that are still equal.
inline constexpr double noise_half_width = equal_runs / 2;

/// Medians of a run's three rounds that are further apart than this, relative to the median, are
/// noise. The range of three normal values is 1.69 standard deviations on average, that of ten runs
/// 3.08 (tables of the studentised range's d2), so rounds must keep to little more than half of what
/// runs may differ by. To 0.4 of it, since a range of three is itself known to half its size only,
/// and separate processes add what rounds of one do not see.
inline constexpr double noise_repeatability = 0.4 * equal_runs;

/// A clock whose lowest and highest reading differ by more than this, relative to the highest, has
/// moved. NVIDIA GPUs set their clocks in steps of 15 MHz, 0.8 % of 1980 MHz: one step is no
/// finding.
inline constexpr double clock_moved = 0.01;

/// Resolution of CUDA's event timer, in seconds (the runtime's documentation of
/// cudaEventElapsedTime says around half a microsecond).
inline constexpr double event_resolution_s = 0.5e-6;

/// How bad a finding is, for "the worst wins": ok, noisy, unexpected, counter_mismatch,
/// above_bound, wrong_output, failed.
int severity(VerdictStatus status);

/// Decides what an entry is worth, and writes it to `entry.verdict`, worst finding first:
/// - above_bound: its value is better than its bound, by however little;
/// - counter_mismatch: a counter differs from its expectation by more than its tolerance;
/// - unexpected: its value differs from the model's by more than the tolerance;
/// - noisy: its interval or the spread of its rounds is too wide, and why, as far as clocks,
/// throttle
///   reasons, the stopping rule and the timer tell.
/// A number that is missing never counts as right: `verdict.unchecked` lists it. A number that is
/// not finite counts as wrong. The status wrong_output and failed, which only the measurement
/// itself can know, stay as they are; everything else is decided anew, so judging twice changes
/// nothing.
void judge_entry(Entry& entry);

}  // namespace fathom
