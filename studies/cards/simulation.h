#pragma once

#include <cstddef>
#include <cstdint>

#include "results/document.h"

namespace fathom::cards {

/// Cards of one model, made from one recording: each figure of each card is scaled by a normal
/// factor, and one more card is checked against them.
struct SimulatedCards {
  std::size_t recorded = 10;
  double spread = 0.003;  ///< relative standard deviation between cards
  double noise = 0.0005;  ///< and of each measurement
  double gap = 0;         ///< how much worse the checked card's one planted figure is; 0: none
  std::size_t slow_recorded = 0;  ///< of the recorded cards, 5 % slow in every figure
  std::size_t trials = 1000;
  std::uint64_t seed = 1;
};

struct CardTrials {
  std::size_t trials = 0, low = 0;  ///< a card was called low, whichever figure
  std::size_t found = 0;            ///< the planted figure was
};

CardTrials simulate_cards(const Document& recording, const SimulatedCards& options);

/// Chance that a normal card's figure is called low at a limit of `limit` spreads, over so many
/// simulated sets of cards.
double false_alarm(std::size_t cards, double limit, std::size_t trials, std::uint64_t seed);

}  // namespace fathom::cards
