// How often a check fails suites of which nothing changed, and how often it finds a metric that is
// 5 % slower: the stored one on many kinds of noise, the paired one on noise that is always there.
// docs/gate/noise.md has its rows.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <vector>

#include "reports/markdown.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "studies/gate/noise_study.h"
#include "studies/study_main.h"

namespace {

using namespace fathom;
constexpr std::size_t earlier_runs[] = {5, 10, 30};

/// Twelve metrics that differ from round to round by `spread`; a round of all takes 2 s.
gate::RecordedNoise permanent_noise(double spread, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise(0, spread);
  std::vector<gate::RunMetrics> rounds(1000);
  for (gate::RunMetrics& round : rounds) {
    round.elapsed_s = 2;
    for (int i = 0; i < 12; ++i) {
      const double value = 1e-3 * std::exp(noise(generator));
      round.metrics.push_back(
          {fmt::format("benchmark_{}", i), "s", Better::lower, value, 0.1, {}, {}});
    }
  }
  return gate::RecordedNoise(rounds);
}

void study_paired(const gate::NoiseStudy& options, reports::Page& page) {
  constexpr std::size_t decisions = 300;
  reports::Table table({"Gaussian noise from round to round", ">False alarms",
                        ">Inconclusive, unchanged", ">Found"});
  for (const double spread : {0.003, 0.02, 0.05}) {
    const gate::RecordedNoise noise = permanent_noise(spread, options.seed);
    const gate::Decide paired = gate::paired_decisions(noise);
    const auto unchanged = gate::simulate_false_alarms(paired, decisions, options.seed);
    const gate::Share found =
        gate::simulate_power(noise, paired, options.slower, decisions, options.seed);
    const std::vector<std::string> row{format_percent(spread), share_text(unchanged.regressions),
                                       share_text(unchanged.inconclusive), share_text(found)};
    fmt::print("paired, {}\n", fmt::join(row, ", "));
    table.add_row(row);
  }
  page.table(
      fmt::format("Paired: {} checks a cell, of 12 metrics, in the default time limit", decisions),
      table);
}

void study(gate::NoiseStudy options, const std::string& out) {
  reports::Page page(false);
  page.heading(2, "The check on many kinds of noise", "noise");
  page.paragraph(
      fmt::format("`gate_noise --suites {} --metrics {} --seed {}`: shares of suites in %, each "
                  "with 5 / 10 / 30 "
                  "earlier runs. A slowed suite has one metric that is {} slower, another one in "
                  "each; undecided "
                  "is one that ended inconclusive.",
                  options.suites, options.metrics, options.seed, format_percent(options.slower)));
  for (const std::size_t results : {1, 3}) {
    reports::Table table({"Noise of a run", ">False alarms", ">Inconclusive, unchanged", ">Found",
                          ">Undecided, slowed"});
    options.head_results = results;
    for (const gate::NoiseRow& row : gate::noise_rows()) {
      // Each with one figure for each number of earlier runs: "0 / 0.5 / 1".
      std::vector<std::string> cells(5);
      cells[0] = row.name;
      for (const std::size_t runs : earlier_runs) {
        options.earlier_runs = runs;
        const auto [false_alarms, inconclusive, found, undecided] = gate::study_noise(row, options);
        std::size_t column = 0;
        for (const gate::Share& share : {false_alarms, inconclusive, found, undecided}) {
          std::string& cell = cells[++column];
          cell += (cell.empty() ? "" : " / ") + fmt::format("{:.3g}", 100 * share.value());
        }
      }
      fmt::print("{} of the head, {}: false alarms {}, inconclusive {}, found {}, undecided {}\n",
                 counted(results, "result", "results"), cells[0], cells[1], cells[2], cells[3],
                 cells[4]);
      std::fflush(stdout);
      table.add_row(std::move(cells));
    }
    page.table(fmt::format("{} of the head", counted(results, "result", "results")), table);
  }
  study_paired(options, page);
  if (out.empty()) return;
  std::filesystem::create_directories(out);
  write_file_atomically(std::filesystem::path(out) / "noise.md", page.text());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The stored check's error rates on many kinds of noise.", "gate_noise");
  gate::NoiseStudy options;
  std::string out;
  number_flag(app, "--suites", options.suites, "Suites of a cell", 1, 1'000'000)
      ->capture_default_str();
  number_flag(app, "--metrics", options.metrics, "Metrics of a suite", 1, 100'000)
      ->capture_default_str();
  checked_flag(app, "--seed", options.seed, "Seed", whole_number(1), "N")->capture_default_str();
  app.add_option("--out", out, "Folder for noise.md");
  return run_study(app, argc, argv, [&] {
    study(options, out);
    return 0;
  });
}
