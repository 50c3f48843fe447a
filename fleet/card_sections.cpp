#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fleet/sections.h"
#include "results/format.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t most_worst = 10;
constexpr std::size_t most_listed = 200;  ///< rows of a table of cards or files

/// What a table that ends early says.
void write_rest(FleetWriting& to, std::size_t all) {
  if (all > most_listed)
    to.page.paragraph(fmt::format("And {} more: all are in `fleet.json`.", all - most_listed));
}

std::vector<std::string> row_of(FleetWriting& to, const CardScore& card) {
  const Finding& finding = card.findings.empty() ? card.worst : card.findings.front();
  const MetricName& metric = to.fleet.metrics[finding.metric];
  const MetricFigures f = to.fleet.gpus[card.gpu].at(finding.metric);
  return {escape_text(name_of(to.fleet.gpus[card.gpu].summary)),
          code(metric.name),
          escape_text(kind_of(finding, f)),
          quantity((f.together ? f.together : f.alone).optional(), metric.unit),
          gap_text(finding.gap),
          fmt::format("{:.1f}", finding.score),
          fmt::format("{:.1f}", finding.limit),
          escape_text(cause_text(to.causes.of(card, finding))),
          std::to_string(card.findings.size())};
}

/// "node01 GPU 3", and for a list of many "node01 GPU 3, ... and 12 more".
std::string names_of(const Fleet& fleet, const std::vector<std::size_t>& gpus) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, gpus.size()); ++i)
    names.push_back(name_of(fleet.gpus[gpus[i]].summary));
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return gpus.size() > most ? fmt::format("{} and {} more", text, gpus.size() - most) : text;
}

}  // namespace

std::string gap_text(double gap) {
  if (!beyond_measured(gap)) return fmt::format("{:.2f} %", 100 * gap);
  return fmt::format("over 1,000 times{}", gap < 0 ? " better" : "");
}

std::string cause_text(const std::vector<std::string>& causes) {
  return causes.empty() ? "nothing in the telemetry" : fmt::format("{}", fmt::join(causes, "; "));
}

void write_worst(FleetWriting& to) {
  if (to.outliers.cards.empty()) return;
  to.page.heading(2, "The worst cards", "worst");
  const std::size_t named = to.outliers.named();
  Table table({left("Card"), left("Metric"), left("When"), right("Figure"), right("Worse by"),
               right("Score"), right("Named from"), left("Likely cause"), right("Metrics")});
  for (const CardScore& card : to.outliers.cards) {  // the named come first
    if (table.rows() == std::clamp(named, most_worst, most_listed)) break;
    if (card.worst.limit > 0) table.add_row(row_of(to, card));
  }
  to.page.paragraph(
      table.rows() == 0
          ? "Fewer than three cards of a kind: none can be held against the others."
          : "Each with the metric in which it stands out most, and the number of those that name "
            "it. A card is held against those of the same model and settings; score and limit are "
            "explained in docs/fleet.md. A score below its limit is within what chance makes of so "
            "many figures.");
  to.page.table("The ten worst, and all that are named", table);
  write_rest(to, named);
}

void write_problems(FleetWriting& to) {
  if (to.fleet.problems.empty()) return;
  to.page.heading(2, "Missing and incomplete", "missing");
  Table table({left("What"), left("Why"), right("Exit code")});
  for (const Problem& problem : to.fleet.problems) {
    if (table.rows() == most_listed) break;
    table.add_row({escape_text(problem.what), escape_text(problem.reason),
                   problem.exit_code == 0 ? "–" : std::to_string(problem.exit_code)});
  }
  to.page.table("What left no figures, or not all of them", table);
  write_rest(to, to.fleet.problems.size());
}

void write_settings(FleetWriting& to) {
  const auto differing = differing_settings(to.fleet);
  to.page.heading(2, "Settings that differ", "settings");
  if (differing.empty()) {
    to.page.paragraph(
        "None: all cards of a model have the same driver, ECC, power limit, MIG and clocks.");
    return;
  }
  Table table({left("Model"), left("Setting"), left("Value"), right("Cards"), left("Which")});
  for (const DifferingSetting& setting : differing)
    for (const auto& value : setting.values) {
      const bool most = &value == &setting.values.front();
      table.add_row({escape_text(setting.model), escape_text(setting.name),
                     escape_text(value.value), std::to_string(value.gpus.size()),
                     most ? "most" : escape_text(names_of(to.fleet, value.gpus))});
    }
  to.page.table("Of the cards of one model, the most frequent first", table);
}

void write_host(FleetWriting& to, const std::string& host) {
  const Fleet& fleet = to.fleet;
  std::vector<std::size_t> cards;
  for (std::size_t i = 0; i < fleet.gpus.size(); ++i)
    if (fleet.gpus[i].summary.host == host) cards.push_back(i);
  to.page.heading(1, escape_text("Host " + host), "host");
  Table health({left("Card"), left("Status"), right("SM clock"), right("Power"),
                right("Power limit"), right("Temperature"), left("Held down by"), left("PCIe"),
                right("ECC errors")});
  for (const std::size_t i : cards) {
    const GpuSummary& s = fleet.gpus[i].summary;
    const Health& h = s.health;
    health.add_row({escape_text(fmt::format("GPU {}, {}", s.gpu, s.gpu_name)),
                    escape_text(fmt::format("{}{}{}", to_string(s.status),
                                            s.reason.empty() ? "" : ": ", s.reason)),
                    quantity(h.sm_clock_hz, "Hz"), quantity(h.power_w, "W"),
                    quantity(h.power_limit_w, "W"), quantity(h.temperature_c, "C"),
                    escape_text(fmt::format("{}", fmt::join(h.throttle_reasons, ", "))),
                    h.pcie_generation && h.pcie_width
                        ? fmt::format("generation {:g}, x{:g}", *h.pcie_generation, *h.pcie_width)
                        : "–",
                    quantity(h.uncorrected_ecc_errors, "")});
  }
  to.page.table("State", health);
  std::vector<Table::Column> header{left("Metric")};
  for (const std::size_t i : cards)
    for (const char* state : {"alone", "together"})
      header.push_back(right(fmt::format("GPU {} {}", fleet.gpus[i].summary.gpu, state)));
  Table table(header);
  for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
    std::vector<std::string> row{code(fleet.metrics[metric].name)};
    bool any = false;
    for (const std::size_t i : cards) {
      const MetricFigures f = fleet.gpus[i].at(metric);
      for (const Reading& figure : {f.alone, f.together}) {
        any = any || figure;
        row.push_back(quantity(figure.optional(), fleet.metrics[metric].unit));
      }
    }
    if (any) table.add_row(std::move(row));
  }
  to.page.table("Figures", table);
}

}  // namespace fathom::fleet
