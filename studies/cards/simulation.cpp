#include "studies/cards/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "reports/card_check.h"
#include "results/statistics.h"

namespace fathom::cards {
namespace {

/// Only what the check reads of a default suite: the entry of each of its figures.
Document checked_only(const Document& recording) {
  std::vector<Document> others(reports::fewest_cards, recording);
  for (std::size_t i = 0; i < others.size(); ++i)
    others[i].fingerprint.gpu_uuid_hash = fmt::format("other{}", i);
  Document bare;
  bare.suite = recording.suite;
  bare.fingerprint = recording.fingerprint;
  for (const reports::CardFigure& figure : reports::check_card(recording, others).figures) {
    Entry entry = *std::ranges::find(recording.entries, figure.entry, &Entry::name);
    entry.samples.clear();
    entry.counters.clear();
    entry.opponents.clear();
    bare.entries.push_back(std::move(entry));
  }
  return bare;
}

/// Worse by `loss`, which lowers what is better higher and raises the rest.
void worsen(Entry& entry, double loss) {
  const double factor = entry.metric.better == Better::higher ? 1 - loss : 1 / (1 - loss);
  entry.metric.value = *entry.metric.value * factor;
  if (entry.interval) {
    entry.interval->low *= factor;
    entry.interval->high *= factor;
  }
}

}  // namespace

CardTrials simulate_cards(const Document& recording, const SimulatedCards& options) {
  const Document bare = checked_only(recording);
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal;
  const double deviation = std::hypot(options.spread, options.noise);
  const auto card = [&](std::size_t number) {
    Document made = bare;
    made.fingerprint.gpu_uuid_hash = fmt::format("{:016x}", number + 1);
    for (Entry& entry : made.entries) worsen(entry, deviation * normal(random));
    return made;
  };
  CardTrials counted;
  for (; counted.trials < options.trials; ++counted.trials) {
    std::vector<Document> recorded;
    for (std::size_t i = 0; i < options.recorded; ++i) {
      recorded.push_back(card(i));
      if (i < options.slow_recorded)
        for (Entry& entry : recorded.back().entries) worsen(entry, 0.05);
    }
    Document own = card(options.recorded);
    Entry& planted = own.entries.at(counted.trials % own.entries.size());
    if (options.gap > 0) worsen(planted, options.gap);
    const reports::CardCheck check = reports::check_card(own, recorded);
    counted.low += check.state == reports::CardState::low;
    counted.found += std::ranges::any_of(check.figures, [&](const reports::CardFigure& figure) {
      return figure.low && figure.entry == planted.name;
    });
  }
  return counted;
}

double false_alarm(std::size_t cards, double limit, std::size_t trials, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(cards);
  double sum = 0;
  for (std::size_t i = 0; i < trials; ++i) {
    for (double& value : values) value = normal(random);
    // The chance of a normal deviate to be above the limit, exact for each set of cards: less noise
    // than to draw the card as well.
    const double x = limit * reports::card_spread(values) - median(values);
    sum += std::erfc(x / std::numbers::sqrt2) / 2;
  }
  return sum / static_cast<double>(trials);
}

}  // namespace fathom::cards
