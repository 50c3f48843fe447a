#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "studies/gate/simulation.h"

namespace fathom::gate {

/// Logarithms of how much worse each metric was, by run: the earlier runs, then the results of the
/// head.
using Deviations = std::vector<std::vector<double>>;

/// A kind of noise that a suite may have.
struct NoiseRow {
  std::string name;
  double gaussian;  ///< standard deviation of each metric in each run
  /// What comes on top.
  void (*more)(Deviations& runs, std::size_t first_of_head, std::mt19937_64& generator) = nullptr;
};

/// Those that docs/gate/noise.md has.
std::span<const NoiseRow> noise_rows();

struct NoiseStudy {
  std::size_t suites = 200, metrics = 40, earlier_runs = 5, head_results = 1;
  double slower = 0.05;  ///< of one metric, another one in each suite
  std::uint64_t seed = 1;
};

/// What check_stored said of suites with this noise: of the unchanged ones, and of the same with
/// one metric slower.
struct NoiseShares {
  Share false_alarms, inconclusive;  ///< of the unchanged
  Share found, undecided;            ///< of the slowed metrics; undecided: inconclusive
};

NoiseShares study_noise(const NoiseRow& row, const NoiseStudy& study);

}  // namespace fathom::gate
