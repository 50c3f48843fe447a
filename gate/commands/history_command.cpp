#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "gate/baseline_folder.h"
#include "gate/commands/gate_commands.h"
#include "gate/history.h"
#include "gate/outputs.h"
#include "results/flag_checks.h"
#include "results/standard_streams.h"

namespace fathom {
namespace {

struct HistoryArguments {
  std::string folder, out;
  double effect_percent = 1;
};

ExitCode history(const HistoryArguments& arguments) {
  std::vector<gate::RunMetrics> runs;
  const gate::BaselineFolder folder(arguments.folder);
  for (const auto& group : folder.groups()) {
    auto [of_group, unreadable] = gate::read_runs(group.files);
    for (const auto& [file, error] : unreadable)
      fmt::print("left out: {}\n", gate::log_text(error.what()));
    std::move(of_group.begin(), of_group.end(), std::back_inserter(runs));
  }
  if (runs.empty()) {
    fmt::print("{}.\n", gate::log_text(folder.why_empty()));
    return ExitCode::ok;
  }
  const auto histories = gate::history_of(runs, arguments.effect_percent / 100);
  print_out(gate::history_text(histories));
  if (!arguments.out.empty())
    fmt::print("Page: {}\n", gate::write_history(histories, runs, arguments.out).string());
  return ExitCode::ok;
}

}  // namespace

std::function<ExitCode()> add_history(CLI::App& app) {
  const auto arguments = std::make_shared<HistoryArguments>();
  app.add_option("DIR", arguments->folder, "Folder of the baseline")
      ->check(not_empty())
      ->required();
  app.add_option(
         "--out", arguments->out,
         "Write README.md with the changes and index.html with all metrics into this folder")
      ->check(not_empty())
      ->type_name("DIR");
  app.add_option("--effect", arguments->effect_percent, "Smallest change to report, in percent")
      ->check(positive_number())
      ->type_name("PERCENT")
      ->capture_default_str();
  app.footer(
      "Steps and drifts over all the runs of each machine, whatever its software; advisory.\n\n"
      "Example:\n  fathom history baselines --out history\n");
  return [arguments] { return with_gate_codes([&] { return history(*arguments); }); };
}

}  // namespace fathom
