// How often the gate would fail suites of which nothing changed, and how small a slowdown it finds,
// by simulation on the noise of recordings. docs/gate/noise.md shows what it wrote.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "reports/markdown.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/statistics.h"
#include "results/text.h"
#include "studies/gate/simulation.h"
#include "studies/study_main.h"

namespace {

namespace fs = std::filesystem;
using namespace fathom;
using gate::RecordedNoise;
using gate::Share;
using gate::share_text;

struct Arguments {
  std::vector<std::string> recordings;
  std::size_t decisions = 10'000, trials = 1000;
  std::uint64_t seed = 1;
  std::string out;
};

constexpr double slowdowns[] = {0.0025, 0.005, 0.0075, 0.01, 0.0125, 0.015, 0.02,
                                0.025,  0.03,  0.04,   0.05, 0.07,   0.1};
constexpr double stored_slowdowns[] = {0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2};
/// As many results as ranks of so many runs need.
constexpr gate::StoredRuns stored_runs[] = {{5, 3}, {10, 2}, {30, 1}};

std::string words_of(const gate::StoredRuns& runs) {
  return fmt::format("{} earlier runs, {}", runs.earlier,
                     counted(runs.results, "result", "results"));
}

RecordedNoise read_noise(const Arguments& arguments) {
  std::vector<gate::RunMetrics> rounds;
  for (const std::string& file : arguments.recordings)
    rounds.push_back(gate::read_run_metrics(file));
  return RecordedNoise(rounds);
}

std::string noise_text(const RecordedNoise& noise) {
  std::vector<double> spreads;
  std::size_t quiet = 0;
  for (std::size_t i = 0; i < noise.metrics(); ++i) {
    spreads.push_back(noise.spread(i));
    quiet += spreads.back() <= 0.01 / 3;
  }
  return fmt::format(
      "{} metrics; standard deviation between rounds {} in the median, {} at the 90th "
      "percentile, of {} a third of 1 % at most.",
      noise.metrics(), format_percent(median(spreads)), format_percent(quantile(spreads, 0.9)),
      quiet);
}

int simulate(const Arguments& arguments) {
  const RecordedNoise noise = read_noise(arguments);
  const std::uint64_t seed = arguments.seed;
  const gate::Decide paired = gate::paired_decisions(noise);
  reports::Page page(false);
  page.heading(2, "Simulated error rates of the gate", "simulation");
  page.paragraph(reports::escape_text(fmt::format("Noise from {} recorded rounds: {}",
                                                  arguments.recordings.size(), noise_text(noise))));
  fmt::print("{}\n", noise_text(noise));

  reports::Table alarms({"Mode", ">Decisions", ">False alarms", ">Inconclusive"});
  const auto add_alarms = [&](const std::string& mode, const gate::Decide& decide) {
    const auto found = gate::simulate_false_alarms(decide, arguments.decisions, seed);
    alarms.add_row({mode, fmt::format("{}", found.regressions.trials),
                    share_text(found.regressions), share_text(found.inconclusive)});
    fmt::print("{}: {} false alarms in {} suites, {}; inconclusive {}\n", mode,
               found.regressions.hits, found.regressions.trials, share_text(found.regressions),
               share_text(found.inconclusive));
    std::fflush(stdout);
  };
  add_alarms("paired", paired);
  for (const gate::StoredRuns& runs : stored_runs)
    add_alarms("stored, " + words_of(runs), gate::stored_decisions(noise, runs));
  page.table("Suites of which nothing changed", alarms);

  reports::Table power({">Slowdown", ">Trials", ">Confirmed"});
  for (const double slower : slowdowns) {
    const Share caught = gate::simulate_power(noise, paired, slower, arguments.trials, seed);
    power.add_row({format_percent(slower), fmt::format("{}", caught.trials), share_text(caught)});
    fmt::print("slower by {}: confirmed in {} of {}, {}\n", format_percent(slower), caught.hits,
               caught.trials, share_text(caught));
    std::fflush(stdout);
  }
  std::vector<std::string> columns{">Slowdown"};
  for (const gate::StoredRuns& runs : stored_runs) columns.push_back(">" + words_of(runs));
  reports::Table stored_power(std::move(columns));
  for (const double slower : stored_slowdowns) {
    std::vector<std::string> row{format_percent(slower)};
    for (const gate::StoredRuns& runs : stored_runs) {
      const Share caught = gate::simulate_power(noise, gate::stored_decisions(noise, runs), slower,
                                                arguments.trials, seed);
      row.push_back(share_text(caught));
      fmt::print("stored, {}, slower by {}: found in {} of {}, {}\n", words_of(runs),
                 format_percent(slower), caught.hits, caught.trials, share_text(caught));
      std::fflush(stdout);
    }
    stored_power.add_row(std::move(row));
  }
  if (arguments.out.empty()) return 0;
  fs::create_directories(arguments.out);
  page.table("A slowdown of one metric, another one in each trial", power);
  page.table("The same in the stored mode: found", stored_power);
  write_file_atomically(fs::path(arguments.out) / "simulation.md", page.text());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The gate's error rates by simulation on the noise of recordings.", "gate_power");
  Arguments arguments;
  app.add_option("RESULT", arguments.recordings,
                 "At least three of the same suite, whose differences are the noise")
      ->required();
  number_flag(app, "--decisions", arguments.decisions, "Suites without a change", 10, 10'000'000)
      ->capture_default_str();
  number_flag(app, "--trials", arguments.trials, "Suites for each slowdown", 1, 10'000'000)
      ->capture_default_str();
  checked_flag(app, "--seed", arguments.seed, "Seed", whole_number(1), "N")->capture_default_str();
  app.add_option("--out", arguments.out, "Folder for simulation.md");
  app.footer(
      "Example:\n"
      "  gate_power rounds/round-*/result.json --decisions 10000\n");
  return run_study(app, argc, argv, [&] { return simulate(arguments); });
}
