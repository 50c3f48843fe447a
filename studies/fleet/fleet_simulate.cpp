// fleet_simulate: a fleet made from a recording, with faults planted in some of its cards, and how
// well `fathom fleet collect` finds them. docs/fleet/measured.md's figures come from it.

#include <fmt/format.h>

#include <cstdio>

#include "fleet/fleet.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/flag_checks.h"
#include "studies/fleet/simulation.h"
#include "studies/study_main.h"

namespace {

using namespace fathom;

fleet::GpuSummary recorded_gpu(const std::string& recording) {
  fleet::GpuSummary recorded;
  fleet::add_document(recorded, read_document(recording), fleet::Phase::together);
  return recorded;
}

/// In memory: nothing is written.
int check(const fleet::GpuSummary& recorded, fleet::SimulatedFleet options, int repeats) {
  fmt::print("{:>6} {:>8} {:>6} {:>12} {:>14} {:>7}\n", "seed", "planted", "found", "false names",
             "healthy cards", "causes");
  for (int i = 0; i < repeats; ++i, ++options.seed) {
    fleet::Fleet made;
    const auto planted = fleet::planted_faults(options);
    for (std::size_t number = 0; number < options.gpus; ++number)
      made.add(fleet::simulated_gpu(recorded, options, planted, number));
    made.finish();
    const auto recall = fleet::recall_of(made, fleet::find_outliers(made, {}), options);
    fmt::print("{:>6} {:>8} {:>6} {:>12} {:>14} {:>3}/{}\n", options.seed, recall.planted,
               recall.found, recall.false_names, recall.healthy, recall.causes_right,
               recall.causes);
    for (const auto& missed : recall.missed) fmt::print("       missed: {}\n", missed);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes a fleet from a recording, with faults planted in some of its cards.",
               "fleet_simulate");
  fleet::SimulatedFleet options;
  std::string recording, out;
  int repeats = 0;
  double noise_percent = 100 * options.noise, gap_percent = 100 * options.gap;
  app.add_option("RECORDING", recording, "Result document to make the cards from")->required();
  app.add_option("--out", out, "Write each card's gpu.json below this folder")->type_name("DIR");
  const auto add = [&](const char* flag, auto& value, const char* description,
                       const CLI::Validator& check, const char* kind = "N") {
    return checked_flag(app, flag, value, description, check, kind)->capture_default_str();
  };
  checked_flag(app, "--check", repeats, "Make this many fleets, and say what of them is found",
               whole_number(1), "N");
  add("--gpus", options.gpus, "Cards of the fleet", whole_number(1));
  add("--gpus-per-host", options.gpus_per_host, "Of them on each host", whole_number(1, 64));
  add("--planted", options.planted, "Cards with a fault", whole_number());
  add("--noise", noise_percent, "Standard deviation of each figure of each card, in percent",
      positive_number(), "PERCENT");
  add("--gap", gap_percent, "What a fault costs, in percent", positive_number(), "PERCENT");
  add("--seed", options.seed, "Of the noise, and of which cards have a fault", whole_number());
  app.add_flag("--together-only", options.together_only,
               "One figure a metric, as a run with --alone none leaves it");
  app.footer(
      "Examples:\n"
      "  fleet_simulate recordings/h200/result.json --check 5\n"
      "  fleet_simulate recordings/h200/result.json --gpus 400 --out fleet\n");
  return run_study(app, argc, argv, [&] {
    if (out.empty() == (repeats == 0))
      throw Error(ExitCode::bad_input, "One of --out and --check is needed: see --help.");
    options.noise = noise_percent / 100;
    options.gap = gap_percent / 100;
    const fleet::GpuSummary recorded = recorded_gpu(recording);
    if (repeats > 0) return check(recorded, options, repeats);
    fleet::write_simulated_fleet(recorded, options, out);
    for (const auto& [number, fault] : fleet::planted_faults(options))
      fmt::print("{}: {}\n", card_name(options, number), fleet::to_string(fault));
    return 0;
  });
}
