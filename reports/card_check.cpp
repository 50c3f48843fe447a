#include "reports/card_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "reports/sections.h"
#include "results/findings.h"
#include "results/statistics.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// Clocks closer together than this are the same: a step is 15 MHz.
constexpr double same_card_clock = 0.004;
constexpr double hotter_c = 8;

/// A headline figure of one document.
struct Headline {
  std::string name, unit;
  double value = 0;
  Better better = Better::higher;
  double noise = 0;              ///< standard deviation of the measurement, relative
  const Entry* entry = nullptr;  ///< that it is of; null: none is known
};

bool names_speed(const std::string& unit) {
  constexpr std::array units{"B/s", "FLOP/s", "op/s", "s", "cycles", "clocks"};
  return std::ranges::find(units, unit) != units.end();
}

double noise_of(double value, const std::optional<Interval>& interval, const Entry* entry) {
  // Half of a 95 % interval is 1.96 standard deviations.
  const double within = interval ? relative_half_width(*interval, value) / 1.96 : 0;
  return std::max(within, entry ? entry->repeatability.value_or(0) : 0);
}

/// What people rent a card for first: its memory and links.
constexpr std::array card_facts{"dram.bandwidth", "dram.latency",   "l2.bandwidth",
                                "l2.latency",     "host.bandwidth", "peer.bandwidth"};

const Entry* entry_of(const Document& document, const Fact& fact) {
  if (fact.evidence.empty()) return nullptr;
  const auto found = std::ranges::find(document.entries, fact.evidence.front(), &Entry::name);
  return found == document.entries.end() ? nullptr : &*found;
}

std::string text_axis(const Entry& entry, const std::string& name) {
  const AxisValue* value = find_axis(entry, name);
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : "";
}

/// The fastest rung of each type of a matrix-product ladder; of any other probe what `fathom run`
/// prints of it.
std::vector<std::pair<std::string, const Entry*>> entries_told(const Document& document,
                                                               const ProbeSummary& probe) {
  const EntryList entries = entries_of(document, probe.name);
  std::map<std::string, EntryList> types;
  for (const Entry* entry : entries)
    if (text_axis(*entry, "part") == "ladder") types[text_axis(*entry, "type")].push_back(entry);
  std::vector<std::pair<std::string, const Entry*>> told;
  for (const auto& [type, rungs] : types)
    told.emplace_back(fmt::format("{} {}", probe.name, type), best_figure(rungs));
  if (told.empty()) told.emplace_back(probe.name, headline_entry(probe, entries));
  return told;
}

std::vector<Headline> headlines_of(const Document& document) {
  std::vector<Headline> found;
  const auto add = [&](Headline headline) {
    if (names_speed(headline.unit) && std::isfinite(headline.value) && headline.value > 0 &&
        std::isfinite(headline.noise))
      found.push_back(std::move(headline));
  };
  for (const char* id : card_facts) {
    const auto fact = std::ranges::find(document.facts, id, &Fact::id);
    if (fact == document.facts.end() || !fact->value || *fact->value <= 0) continue;
    add({fact->id, fact->unit, *fact->value,
         fact->id.ends_with(".latency") ? Better::lower : Better::higher,
         noise_of(*fact->value, fact->interval, nullptr), entry_of(document, *fact)});
  }
  for (const ProbeSummary& probe : probes_of(document))
    for (const auto& [name, entry] : entries_told(document, probe)) {
      if (!entry || is_failure(entry->verdict.status)) continue;
      const double value = entry->metric.value.value_or(0);
      if (value > 0)
        add({name, entry->metric.unit, value, entry->metric.better,
             noise_of(value, entry->interval, entry), entry});
    }
  return found;
}

/// Larger is better, and differences are relative gaps.
double goodness(const Headline& headline) {
  return headline.better == Better::higher ? std::log(headline.value) : -std::log(headline.value);
}

/// What several cards' runs say of one figure. One card has one value: the median of its runs.
struct Others {
  std::vector<double> goodness;
  std::vector<const Entry*> entries;  ///< of every run
};

struct CardRun {
  const Document* document;
  std::vector<Headline> headlines;
};
using Runs = std::map<std::string, std::vector<CardRun>>;  ///< by card

Others others_of(const Headline& own, const Runs& cards) {
  Others others;
  for (const auto& [card, runs] : cards) {
    std::vector<double> values;
    for (const CardRun& run : runs)
      for (const Headline& headline : run.headlines) {
        if (headline.name != own.name || headline.unit != own.unit) continue;
        values.push_back(goodness(headline));
        if (headline.entry) others.entries.push_back(headline.entry);
      }
    if (!values.empty()) others.goodness.push_back(median(values));
  }
  return others;
}

/// The median of a telemetry figure over entries that have it.
template <typename Get>
std::optional<double> usual_of(const std::vector<const Entry*>& entries, Get get) {
  std::vector<double> values;
  for (const Entry* entry : entries)
    if (const std::optional<double> value = get(*entry)) values.push_back(*value);
  return median_or_none(values);
}

std::string beside(const char* what, double own, double usual, const char* unit) {
  return fmt::format("{} {}, usually {}", what, format_quantity(own, unit),
                     format_quantity(usual, unit));
}

void telemetry_causes(const Entry& own, const Others& others, std::vector<std::string>& found) {
  const auto memory = [](const Entry& e) { return e.telemetry.memory_clock_hz.median; };
  const auto heat = [](const Entry& e) { return e.telemetry.temperature_c.median; };
  const auto lower = [&](const char* what, const auto& get) {
    const auto value = get(own), usual = usual_of(others.entries, get);
    if (value && usual && *value < *usual * (1 - same_card_clock))
      found.push_back(beside(what, *value, *usual, "Hz"));
  };
  lower("SM clock", sm_clock_of);
  lower("memory clock", memory);
  std::vector<std::string> rare;  // what fewer than half of the others' runs had
  for (const std::string& reason : own.telemetry.throttle_reasons) {
    const auto had = std::ranges::count_if(others.entries, [&](const Entry* entry) {
      return std::ranges::count(entry->telemetry.throttle_reasons, reason) > 0;
    });
    if (2 * static_cast<std::size_t>(had) < others.entries.size()) rare.push_back(reason);
  }
  if (!rare.empty()) found.push_back(fmt::format("clocks held down by {}", fmt::join(rare, ", ")));
  const auto own_heat = heat(own), usual_heat = usual_of(others.entries, heat);
  if (own_heat && usual_heat && *own_heat >= *usual_heat + hotter_c)
    found.push_back(beside("temperature", *own_heat, *usual_heat, "C"));
  if (const int processes = own.telemetry.other_processes.value_or(0); processes > 0)
    found.push_back(fmt::format("{} on the GPU", counted(static_cast<std::size_t>(processes),
                                                         "other process", "other processes")));
}

/// Settings that most of the other cards have otherwise.
void setting_causes(const Document& own, const Runs& cards, std::vector<std::string>& found) {
  const auto text = [](const Document& d, std::size_t setting) -> std::string {
    const Fingerprint& f = d.fingerprint;
    if (setting == 0) return f.power_limit_w ? format_quantity(*f.power_limit_w, "W") : "";
    if (setting == 1) return f.ecc;
    if (setting == 2) return f.pcie_link;
    if (setting == 3) return f.driver;
    return fmt::format("{} ({})", d.fathom_version, d.fathom_commit.substr(0, 12));
  };
  constexpr std::array names{"power limit", "ECC", "PCIe", "driver", "Fathom"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::map<std::string, std::size_t> counts;
    for (const auto& [card, runs] : cards) ++counts[text(*runs.back().document, i)];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
    const std::string value = text(own, i);
    if (2 * most->second > cards.size() && !value.empty() && !most->first.empty() &&
        value != most->first)
      found.push_back(fmt::format("{} {}, usually {}", names[i], value, most->first));
  }
}

Runs cards_of(const Document& own, const std::vector<Document>& recorded) {
  Runs cards;
  const Fingerprint& mine = own.fingerprint;
  for (const Document& document : recorded) {
    const Fingerprint& f = document.fingerprint;
    if (document.source == Source::measured && document.suite == own.suite &&
        f.gpu_name == mine.gpu_name && f.sms == mine.sms && f.mig == mine.mig &&
        !f.gpu_uuid_hash.empty() && f.gpu_uuid_hash != mine.gpu_uuid_hash)
      cards[f.gpu_uuid_hash].push_back({&document, headlines_of(document)});
  }
  return cards;
}

std::string part_of(const CardFigure& figure) {
  std::string text = fmt::format("{} {} is {} worse than the {} of {} cards (normal down to {})",
                                 figure.name, format_quantity(figure.value, figure.unit),
                                 format_percent(std::round(figure.gap * 1e4) / 1e4),
                                 format_quantity(figure.usual, figure.unit), figure.cards,
                                 format_quantity(figure.limit, figure.unit));
  return text + (figure.causes.empty()
                     ? "; its telemetry shows no cause"
                     : fmt::format("; likely cause: {}", fmt::join(figure.causes, "; ")));
}

}  // namespace

double card_spread(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> kept(values.begin(), values.end());
  std::ranges::sort(kept, {}, [&](double value) { return std::abs(value - centre); });
  kept.resize(kept.size() - kept.size() / 10);
  const double count = static_cast<double>(kept.size());
  const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / count;
  double squares = 0;
  for (const double value : kept) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

double card_limit(std::size_t cards) {
  // By simulation of normal cards, which `card_check_simulate --limits` repeats: the k at which
  // P(figure < median - k x card_spread) is card_false_alarm, for 3, 4, ... 30 cards.
  constexpr std::array limits{25.77, 11.45, 7.88, 6.38, 5.59, 5.10, 4.79, 6.04, 5.61, 5.31,
                              5.07,  4.88,  4.73, 4.59, 4.49, 4.39, 4.31, 4.77, 4.67, 4.58,
                              4.51,  4.44,  4.37, 4.32, 4.27, 4.22, 4.18, 4.45};
  return limits.at(std::min(cards, limits.size() + 2) - 3);
}

CardCheck check_card(const Document& own, const std::vector<Document>& recorded) {
  const Runs cards = cards_of(own, recorded);
  CardCheck check{CardState::unknown, cards.size(), {}};
  for (const Headline& headline : headlines_of(own)) {
    if (check.figures.size() == most_card_figures) break;
    const Others others = others_of(headline, cards);
    if (others.goodness.size() < fewest_cards) continue;
    const double centre = median(others.goodness);
    // The spread is never taken for less than the noise of this very measurement.
    const double spread = std::hypot(card_spread(others.goodness), headline.noise);
    const double margin = std::max(card_limit(others.goodness.size()) * spread, least_card_gap);
    const double sign = headline.better == Better::higher ? 1 : -1;
    CardFigure figure;
    figure.name = headline.name;
    figure.entry = headline.entry ? headline.entry->name : "";
    figure.unit = headline.unit;
    figure.value = headline.value;
    figure.usual = std::exp(sign * centre);
    figure.limit = std::exp(sign * (centre - margin));
    figure.gap = sign * (1 - headline.value / figure.usual);
    figure.cards = others.goodness.size();
    figure.low = goodness(headline) < centre - margin;
    if (figure.low) {
      if (headline.entry) telemetry_causes(*headline.entry, others, figure.causes);
      setting_causes(own, cards, figure.causes);
    }
    check.figures.push_back(std::move(figure));
  }
  if (check.figures.empty()) return check;
  std::ranges::stable_sort(check.figures, [](const CardFigure& a, const CardFigure& b) {
    return std::pair(!a.low, -a.gap) < std::pair(!b.low, -b.gap);
  });
  check.state = check.figures.front().low ? CardState::low : CardState::normal;
  return check;
}

std::string card_sentence(const CardCheck& check) {
  if (check.state == CardState::unknown && check.cards >= fewest_cards)
    return fmt::format("unknown: no figure of this result is one that {} other cards have too",
                       fewest_cards);
  if (check.state == CardState::unknown)
    return fmt::format("unknown: {} of this model {} recorded with this suite, and {} are needed",
                       counted(check.cards, "other card"), check.cards == 1 ? "is" : "are",
                       fewest_cards);
  std::vector<std::string> low;
  for (const CardFigure& figure : check.figures)
    if (figure.low) low.push_back(part_of(figure));
  if (!low.empty()) return fmt::format("low: {}", fmt::join(low, ". "));
  const std::size_t figures = check.figures.size();
  const std::string normal =
      fmt::format("normal: {} {} within what {} other cards of this model do",
                  counted(figures, "figure"), figures == 1 ? "is" : "are", check.cards);
  const CardFigure& last = check.figures.front();
  const double gap = std::round(last.gap * 1e4) / 1e4;
  return gap > 0 ? fmt::format("{}; the furthest below them is {}, by {}", normal, last.name,
                               format_percent(gap))
                 : normal;
}

}  // namespace fathom::reports
