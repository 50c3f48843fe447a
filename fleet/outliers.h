#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace fathom::fleet {

/// Cards that are held against each other: of one model, and of the same settings where there are
/// enough of them.
struct Group {
  std::string model;
  std::string settings;              ///< those of most of its cards, as one text
  std::vector<std::size_t> members;  ///< places in Fleet::gpus
};

/// Every GPU with figures is in one group.
std::vector<Group> groups_of(const Fleet& fleet);

/// A setting in which cards of one model differ.
struct DifferingSetting {
  std::string model, name;
  struct Value {
    std::string value;
    std::vector<std::size_t> gpus;  ///< places in Fleet::gpus
  };
  std::vector<Value> values;  ///< the most frequent first
};

std::vector<DifferingSetting> differing_settings(const Fleet& fleet);

struct OutlierOptions {
  /// Chance that a card without a fault is named, over all metrics together. Half of what is
  /// promised (one in 1,000), for what real cards' figures have and normal ones have not.
  double false_names = 0.0005;
  double least_gap = 0.01;  ///< smaller gaps are nobody's trouble
  /// What cards of one model differ by, a relative standard deviation, before any were looked at: a
  /// few cards do not tell it.
  double card_noise = 0.005;
};

/// What of a metric is held against the others'.
enum class Compared {
  level,  ///< the figure; where there are two, alone and together, the mean of both gaps
  loss    ///< how much together is worse than alone
};

struct Finding {
  std::size_t metric = 0;  ///< place in Fleet::metrics
  Compared compared = Compared::level;
  double gap = 0;    ///< relative, above 0 is worse than the group's median
  double score = 0;  ///< gap over its standard deviation, robustly
  double limit = 0;  ///< score from which on a card is named
  /// What the card's telemetry and settings show against the others', likeliest first.
  std::vector<std::string> causes{};
};

/// What was found of one card.
struct CardScore {
  std::size_t gpu = 0;    ///< place in Fleet::gpus
  std::size_t group = 0;  ///< place in the groups
  Finding worst;          ///< of all its metrics, by score over limit
  std::vector<Finding>
      findings;  ///< beyond the limit and the least gap; worst first; empty: not named
};

/// One metric over one group.
struct Distribution {
  std::size_t group = 0, metric = 0;
  std::size_t cards = 0;
  double median = 0;              ///< of the figures together, else alone
  std::vector<double> quantiles;  ///< of the gap at distribution_points; below 0: better
  double spread = 0;              ///< relative standard deviation of the cards, robustly
};
inline constexpr double distribution_points[] = {0.001, 0.01, 0.05, 0.25, 0.5,
                                                 0.75,  0.95, 0.99, 0.999};

struct Outliers {
  std::vector<Group> groups;
  std::vector<CardScore> cards;  ///< every card of every group, the worst first
  std::vector<Distribution> distributions;
  std::size_t named() const;
};

/// The robust score of each card in each metric, among the cards of its group.
///
/// Gaps are logarithms over the group's median, oriented so that above 0 is worse. Their standard
/// deviation is the median absolute deviation times 1.4826, moderated where cards are few, as G. K.
/// Smyth moderates variances ("Linear models and empirical Bayes methods", 2004): 30 degrees of
/// freedom for what is assumed (`card_noise`, and the noise that the metric's own samples show),
/// 0.37 (the efficiency of that estimate) for each card but one. A card is named beyond Student's t
/// at `false_names` over the number of metrics tested (Bonferroni). Groups of fewer than three
/// cards name nobody.
Outliers find_outliers(const Fleet& fleet, const OutlierOptions& options);

/// Gives the findings of a group's cards their likely causes.
void add_causes(const Fleet& fleet, const Group& group, std::vector<CardScore>& cards);

/// No fault makes a card so much worse, or better, than its kind: it is the figure that is wrong.
bool beyond_measured(double gap);

/// A finding in words: in which state it shows ("alone and together"); "1.23 %" worse or "-0.4 %"
/// better, and what no fault makes of a card as such; the likely causes, or that there are none.
std::string kind_of(const Finding& finding, const MetricFigures& figures);
std::string gap_text(double gap);
std::string cause_text(const Finding& finding);

}  // namespace fathom::fleet
