#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

// Is this card normal for its model? Each headline figure is held against the same figure of other
// cards of that model, measured with the same suite.

enum class CardState { normal, low, unknown };
FATHOM_WORDS(CardState, "normal", "low", "unknown")

/// A figure is called low of a normal card with this chance at most, of at most so many figures:
/// one card in a hundred is called low without reason. Gaps below `least_card_gap` are called
/// nothing.
inline constexpr double card_false_alarm = 0.001;
inline constexpr std::size_t most_card_figures = 10;
inline constexpr std::size_t fewest_cards = 3;
inline constexpr double least_card_gap = 0.01;

/// One figure beside the recorded cards' figures.
struct CardFigure {
  std::string name;   ///< the probe, or the fact's id
  std::string entry;  ///< that it is of; may be empty
  std::string unit;
  double value = 0;
  double usual = 0;       ///< median of the cards
  double limit = 0;       ///< the worst value that is normal
  double gap = 0;         ///< relative, above 0 is worse than usual
  std::size_t cards = 0;  ///< that have this figure
  bool low = false;
  std::vector<std::string> causes;  ///< likely ones, where it is low
};

struct CardCheck {
  CardState state = CardState::unknown;
  std::size_t cards = 0;            ///< other cards of this model that are recorded for this suite
  std::vector<CardFigure> figures;  ///< the furthest beyond its limit first
};

/// How many spreads below the cards' median a normal card's figure lies with chance
/// `card_false_alarm`, where the spread is card_spread of so many cards (three at least).
double card_limit(std::size_t cards);

/// Standard deviation without the tenth of the values that is furthest from their median (rounded
/// down, so all of fewer than ten).
double card_spread(std::span<const double> values);

/// `recorded`: of any cards. Those of another model, suite or MIG state do not count, nor this
/// card's own, and several of one card count as one.
CardCheck check_card(const Document& own, const std::vector<Document>& recorded);

/// One sentence, or one for each low figure: "normal: 5 figures are ...".
std::string card_sentence(const CardCheck& check);

}  // namespace fathom::reports
