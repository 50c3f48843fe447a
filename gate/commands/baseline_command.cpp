#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include "gate/baseline_folder.h"
#include "gate/commands/gate_commands.h"
#include "gate/identity.h"
#include "gate/outputs.h"
#include "gate/stored.h"
#include "results/error.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/utc_time.h"

namespace fathom {
namespace {

struct BaselineArguments {
  std::string folder;
  std::vector<std::string> results;
  std::uint64_t keep = 0, max_age_days = 0;
  bool dry_run = false;
};

ExitCode add(const BaselineArguments& arguments) {
  const gate::BaselineFolder folder(arguments.folder);
  // All are read before the first is kept: a bad one among them leaves the folder as it was.
  std::vector<gate::RunMetrics> runs;
  for (const std::string& file : arguments.results) runs.push_back(gate::read_run_metrics(file));
  for (const gate::RunMetrics& run : runs) {
    const auto file = folder.add(run);
    const std::size_t there = folder.files_like(run).size();
    const auto kept = static_cast<std::size_t>(
        std::ranges::count_if(run.metrics, &std::string::empty, &gate::MetricValue::problem));
    const std::size_t left_out = run.metrics.size() - kept;
    fmt::print(
        "{}: {}{}; {} of this identity{}\n", gate::log_text(file.string()), counted(kept, "metric"),
        left_out == 0 ? ""
                      : fmt::format(", {} left out without a usable value", format_count(left_out)),
        counted(there, "run"),
        there < gate::fewest_baseline_runs
            ? fmt::format(", {} are needed", gate::fewest_baseline_runs)
            : "");
  }
  return ExitCode::ok;
}

ExitCode list(const BaselineArguments& arguments) {
  const gate::BaselineFolder folder(arguments.folder);
  const auto groups = folder.groups();
  if (groups.empty()) fmt::print("{}.\n", gate::log_text(folder.why_empty()));
  for (const auto& group : groups) {
    const auto [runs, unreadable] = gate::read_runs(group.files);
    for (const auto& [file, error] : unreadable)
      fmt::print("left out: {}\n", gate::log_text(error.what()));
    if (runs.empty()) continue;
    const gate::RunMetrics& newest = runs.back();
    fmt::print("{}\n",
               gate::log_text(fmt::format("{}: {} from {} to {}, {} in the newest",
                                          group.folder.filename().string(),
                                          counted(runs.size(), "run"), runs.front().date,
                                          newest.date, counted(newest.metrics.size(), "metric"))));
    if (!newest.suite.empty()) fmt::print("  suite: {}\n", gate::log_text(newest.suite));
    for (const auto& [name, value] : newest.identity)
      if (!value.empty()) fmt::print("  {}\n", gate::log_text(name + ": " + value));
  }
  return ExitCode::ok;
}

ExitCode prune(const BaselineArguments& arguments) {
  gate::BaselineFolder::Pruning pruning;
  if (arguments.keep > 0) pruning.keep = arguments.keep;
  if (arguments.max_age_days > 0)
    pruning.older_than = utc_time(std::chrono::system_clock::now() -
                                  std::chrono::hours(24 * arguments.max_age_days));
  pruning.dry_run = arguments.dry_run;
  const auto [gone, unreadable] = gate::BaselineFolder(arguments.folder).prune(pruning);
  for (const std::string& why : unreadable) fmt::print("no run: {}\n", gate::log_text(why));
  for (const auto& file : gone)
    fmt::print("{} {}\n", arguments.dry_run ? "would remove" : "removed",
               gate::log_text(file.string()));
  fmt::print("{} {}\n", counted(gone.size(), "file"),
             arguments.dry_run  ? "would go"
             : gone.size() == 1 ? "is gone"
                                : "are gone");
  return ExitCode::ok;
}

}  // namespace

ExitCode with_gate_codes(const std::function<ExitCode()>& act) {
  try {
    return act();
  } catch (const Error& error) {
    const bool document =
        error.code() == ExitCode::document_malformed || error.code() == ExitCode::document_version;
    throw Error(document ? ExitCode::bad_input : error.code(), gate::log_text(error.what()));
  }
}

Commands add_baseline(CLI::App& app) {
  app.footer(
      "Examples:\n"
      "  fathom baseline add results/result.json --baseline baselines\n"
      "  fathom baseline list --baseline baselines\n"
      "  fathom baseline prune --baseline baselines --keep 50\n"
      "  fathom baseline prune --baseline baselines            (files that hold no run alone)\n");
  Commands commands;
  const auto arguments = std::make_shared<BaselineArguments>();
  const auto command = [&](const char* name, const char* description,
                           ExitCode (*act)(const BaselineArguments&)) {
    CLI::App* sub = app.add_subcommand(name, description);
    sub->add_option("--baseline", arguments->folder, "Folder of the baseline")
        ->check(not_empty())
        ->type_name("DIR")
        ->required();
    commands[name] = {sub, [=] { return with_gate_codes([&] { return act(*arguments); }); }};
    return sub;
  };
  CLI::App* adding = command("add", "Keep results as earlier runs to compare with", add);
  adding->add_option("RESULT", arguments->results, "Result document or another tool's file")
      ->check(not_empty())
      ->required();
  command("list", "Show what runs there are, by identity", list);
  CLI::App* pruning =
      command("prune", "Remove files that hold no run, and with a flag old runs", prune);
  pruning
      ->add_option("--keep", arguments->keep,
                   "Newest runs of each identity that stay (default: all)")
      ->check(whole_number(1))
      ->type_name("N");
  pruning->add_option("--max-age-days", arguments->max_age_days, "Older runs go (default: none)")
      ->check(whole_number(1, 36500))
      ->type_name("N");
  pruning->add_flag("--dry-run", arguments->dry_run, "Only say what would go");
  return commands;
}

}  // namespace fathom
