#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "fleet/report.h"
#include "fleet/sections.h"
#include "results/clean_text.h"
#include "results/format.h"
#include "results/statistics.h"

namespace fathom::fleet {
namespace {

using Written = std::string (*)(std::string_view);

/// Each named card in a line: where it stands out most, by how much, and probably why.
std::vector<std::string> headlines_of(const Fleet& fleet, const Outliers& outliers,
                                      std::size_t most, const char* bold, Written text,
                                      Written code) {
  std::vector<std::string> lines;
  Causes causes(fleet, outliers);
  for (const CardScore& card : outliers.cards) {
    if (card.findings.empty() || lines.size() == most) break;  // the named come first
    const Finding& worst = card.findings.front();
    std::string also;
    if (card.findings.size() > 1) {
      // The one that stands out most is also the luckiest of many: the median tells the size.
      std::vector<double> gaps;
      for (const Finding& finding : card.findings) gaps.push_back(finding.gap);
      also = " " + text(fmt::format("({} metrics, by {} in the median)", gaps.size(),
                                    gap_text(median(gaps))));
    }
    lines.push_back(fmt::format("{0}{1}{0}: {2} worse in {3}{4}; {5}", bold,
                                text(name_of(fleet.gpus[card.gpu].summary)), gap_text(worst.gap),
                                code(fleet.metrics[worst.metric].name), also,
                                text(cause_text(causes.of(card, worst)))));
  }
  return lines;
}

std::string verdict_text(const Fleet& fleet, const Outliers& outliers) {
  const std::size_t compared = static_cast<std::size_t>(std::ranges::count_if(
      outliers.cards, [](const CardScore& card) { return card.worst.limit > 0; }));
  return fmt::format(
      "{} worse than their kind{}, {} missing or incomplete.", outliers.named(),
      compared == 0 && !fleet.gpus.empty()
          ? " (fewer than three of a kind: none is held against others)"
          : "",
      std::ranges::count_if(fleet.problems, [](const Problem& p) { return p.exit_code != 0; }));
}

}  // namespace

std::string counts_text(const Fleet& fleet) {
  return counted(fleet.gpus.size(), "GPU") + " on " + counted(fleet.hosts(), "host");
}

void write_headlines(FleetWriting& to) {
  const Fleet& fleet = to.fleet;
  const Outliers& outliers = to.outliers;
  reports::Page& page = to.page;
  constexpr std::size_t most = 5;
  page.paragraph(fmt::format("**{}**", verdict_text(fleet, outliers)));
  auto items = headlines_of(fleet, outliers, most, "**", escape_text, code);
  if (outliers.named() > most)
    items.push_back(fmt::format("and [{} more](#worst)", outliers.named() - most));
  if (!items.empty()) page.list(items);
}

std::string fleet_summary(const Fleet& fleet, const Outliers& outliers) {
  constexpr std::size_t most = 10;
  std::string text;
  if (fleet.replay()) text += "REPLAY: figures repeat a recording, or were made from one.\n";
  text += counts_text(fleet) + "; " + verdict_text(fleet, outliers) + "\n";
  for (const std::string& line : headlines_of(fleet, outliers, most, "", clean, clean))
    text += "  " + line + "\n";
  if (outliers.named() > most) text += fmt::format("  ... and {} more\n", outliers.named() - most);
  const std::size_t shown = std::min(most, fleet.problems.size());
  for (const Problem& problem : std::span(fleet.problems).first(shown))
    text += clean(fmt::format("  {}: {}", problem.what, problem.reason)) + "\n";
  if (fleet.problems.size() > most)
    text += fmt::format("  ... and {} more\n", fleet.problems.size() - most);
  return text;
}

}  // namespace fathom::fleet
