#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "gate/baseline_folder.h"
#include "gate/commands/gate_commands.h"
#include "gate/history.h"
#include "gate/outputs.h"
#include "gate/stored.h"
#include "results/error.h"
#include "results/flag_checks.h"
#include "results/format.h"
#include "results/standard_streams.h"
#include "results/utc_time.h"

// `fathom baseline` and `fathom history`: what works on a folder of earlier runs.

namespace fathom {
using namespace gate;
namespace {

struct BaselineArguments {
  std::string folder;
  std::vector<std::string> results;
  std::uint64_t max_age_days = 0;
  BaselineFolder::Pruning pruning{};
};

ExitCode add(const BaselineArguments& arguments) {
  const BaselineFolder folder(arguments.folder);
  // All are read before the first is kept: a bad one among them leaves the folder as it was.
  std::vector<RunMetrics> runs;
  for (const std::string& file : arguments.results) runs.push_back(read_run_metrics(file));
  for (const RunMetrics& run : runs) {
    const auto file = folder.add(run);
    const std::size_t there = folder.files_like(run).size();
    const auto kept = static_cast<std::size_t>(
        std::ranges::count_if(run.metrics, &std::string::empty, &MetricValue::problem));
    const std::string needed = fmt::format(", {} are needed", fewest_baseline_runs);
    fmt::print("{}: {}; {} of this identity{}\n", log_text(file.string()), counted(kept, "metric"),
               counted(there, "run"), there < fewest_baseline_runs ? needed : "");
  }
  return ExitCode::ok;
}

/// A group's runs, oldest first; says which files hold none.
std::vector<RunMetrics> runs_of(const BaselineFolder::Group& group) {
  ReadRuns read = read_runs(group.files);
  for (const auto& [file, error] : read.unreadable)
    fmt::print("left out: {}\n", log_text(error.what()));
  return std::move(read.runs);
}

ExitCode list(const BaselineArguments& arguments) {
  const BaselineFolder folder(arguments.folder);
  const auto groups = folder.groups();
  if (groups.empty()) fmt::print("{}.\n", log_text(folder.why_empty()));
  for (const auto& group : groups) {
    const auto runs = runs_of(group);
    if (runs.empty()) continue;
    const RunMetrics& newest = runs.back();
    fmt::print("{}\n",
               log_text(fmt::format("{}: {} from {} to {}, {} in the newest",
                                    group.folder.filename().string(), counted(runs.size(), "run"),
                                    runs.front().date, newest.date,
                                    counted(newest.metrics.size(), "metric"))));
    if (!newest.suite.empty()) fmt::print("  suite: {}\n", log_text(newest.suite));
    for (const auto& [name, value] : newest.identity)
      if (!value.empty()) fmt::print("  {}\n", log_text(name + ": " + value));
  }
  return ExitCode::ok;
}

ExitCode prune(const BaselineArguments& arguments) {
  BaselineFolder::Pruning pruning = arguments.pruning;
  if (arguments.max_age_days > 0)
    pruning.older_than = utc_time(std::chrono::system_clock::now() -
                                  std::chrono::hours(24 * arguments.max_age_days));
  const auto [gone, unreadable] = BaselineFolder(arguments.folder).prune(pruning);
  for (const std::string& why : unreadable) fmt::print("no run: {}\n", log_text(why));
  for (const auto& file : gone)
    fmt::print("{} {}\n", pruning.dry_run ? "would remove" : "removed", log_text(file.string()));
  fmt::print("{} {}\n", counted(gone.size(), "file"), pruning.dry_run ? "would go" : "removed");
  return ExitCode::ok;
}

void add_baseline_flag(CLI::App& app, BaselineArguments& arguments) {
  path_flag(app, "--baseline", arguments.folder, "Folder of the baseline", "DIR")->required();
}

void add_add_flags(CLI::App& app, BaselineArguments& arguments) {
  add_baseline_flag(app, arguments);
  app.add_option("RESULT", arguments.results, "Result document or another tool's file")
      ->check(not_empty())
      ->required();
}

void add_prune_flags(CLI::App& app, BaselineArguments& arguments) {
  add_baseline_flag(app, arguments);
  checked_flag(app, "--keep", arguments.pruning.keep,
               "Newest runs of each identity that stay (default: all)", whole_number(1), "N");
  number_flag(app, "--max-age-days", arguments.max_age_days, "Older runs go (default: none)", 1,
              36500);
  app.add_flag("--dry-run", arguments.pruning.dry_run, "Only say what would go");
}

struct HistoryArguments {
  std::string folder, out;
};

ExitCode history(const HistoryArguments& arguments) {
  std::vector<RunMetrics> runs;
  const BaselineFolder folder(arguments.folder);
  for (const auto& group : folder.groups())
    std::ranges::move(runs_of(group), std::back_inserter(runs));
  if (runs.empty()) {
    fmt::print("{}.\n", log_text(folder.why_empty()));
    return ExitCode::ok;
  }
  const auto histories = history_of(runs);
  print_out(history_text(histories));
  if (!arguments.out.empty())
    fmt::print("Page: {}\n", write_history(histories, history_page(runs), arguments.out).string());
  return ExitCode::ok;
}

void add_history_flags(CLI::App& app, HistoryArguments& arguments) {
  app.add_option("DIR", arguments.folder, "Folder of the baseline")->check(not_empty())->required();
  path_flag(app, "--out", arguments.out,
            "Write README.md with the changes and index.html with all metrics into this folder",
            "DIR");
  app.footer(
      "Steps and drifts over all the runs of each machine, whatever its software; advisory.\n\n"
      "Example:\n  fathom history baselines --out history\n");
}

}  // namespace

std::function<ExitCode()> add_history(CLI::App& app) {
  return with_arguments(add_history_flags, history)(app);
}

std::vector<Command> baseline_commands() {
  return {{.name = "add",
           .summary = "Keep results as earlier runs to compare with",
           .add = with_arguments(add_add_flags, add)},
          {.name = "list",
           .summary = "Show what runs there are, by identity",
           .add = with_arguments(add_baseline_flag, list)},
          {.name = "prune",
           .summary = "Remove files that hold no run, and with a flag old runs",
           .add = with_arguments(add_prune_flags, prune)}};
}

}  // namespace fathom
