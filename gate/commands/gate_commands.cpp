#include "gate/commands/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <nlohmann/json.hpp>

#include "gate/baseline.h"
#include "gate/check.h"
#include "gate/history.h"
#include "reports/page/page.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/commands.h"

// `fathom baseline` and `fathom history`, which work on a folder of earlier runs, and `fathom
// compare` of two files of another tool, which `fathom` hands over.

namespace fathom {
using namespace gate;
namespace {

struct BaselineArguments {
  std::string folder, out;
  std::vector<std::string> results;
  std::uint64_t max_age_days = 0;
  BaselineFolder::Pruning pruning{};
};

/// Prints a line, whatever documents say in it.
template <typename... Args>
void say(fmt::format_string<Args...> line, Args&&... args) {
  fmt::print("{}\n", log_text(fmt::format(line, std::forward<Args>(args)...)));
}

ExitCode add(const BaselineArguments& arguments) {
  const BaselineFolder folder(arguments.folder);
  // All are read before the first is kept: a bad one among them leaves the folder as it was.
  std::vector<RunMetrics> runs;
  for (const std::string& file : arguments.results) runs.push_back(read_run_metrics(file));
  for (const RunMetrics& run : runs) {
    const auto file = folder.add(run);
    const std::size_t there = folder.groups()[file.parent_path()].size();
    const auto kept = static_cast<std::size_t>(
        std::ranges::count_if(run.metrics, &std::string::empty, &MetricValue::problem));
    const std::string needed = fmt::format(", {} are needed", fewest_baseline_runs);
    say("{}: {}; {} of this identity{}", file.string(), counted(kept, "metric"),
        counted(there, "run"), there < fewest_baseline_runs ? needed : "");
  }
  return ExitCode::ok;
}

/// Runs of one identity, oldest first; says which files hold none.
std::vector<RunMetrics> runs_of(const std::vector<std::filesystem::path>& files) {
  ReadRuns read = read_runs(files);
  for (const auto& [file, error] : read.unreadable) say("left out: {}", error.what());
  return std::move(read.runs);
}

ExitCode list(const BaselineArguments& arguments) {
  const BaselineFolder folder(arguments.folder);
  const auto groups = folder.groups();
  if (groups.empty()) say("{}.", folder.why_empty());
  for (const auto& [identity, files] : groups) {
    const auto runs = runs_of(files);
    if (runs.empty()) continue;
    const RunMetrics& newest = runs.back();
    say("{}: {} from {} to {}, {} in the newest", identity.filename().string(),
        counted(runs.size(), "run"), runs.front().date, newest.date,
        counted(newest.metrics.size(), "metric"));
    if (!newest.suite.empty()) say("  suite: {}", newest.suite);
    for (const auto& [name, value] : newest.identity)
      if (!value.empty()) say("  {}: {}", name, value);
  }
  return ExitCode::ok;
}

ExitCode prune(const BaselineArguments& arguments) {
  BaselineFolder::Pruning pruning = arguments.pruning;
  if (arguments.max_age_days > 0)
    pruning.older_than = utc_time(std::chrono::system_clock::now() -
                                  std::chrono::hours(24 * arguments.max_age_days));
  const auto [gone, unreadable] = BaselineFolder(arguments.folder).prune(pruning);
  for (const std::string& why : unreadable) say("no run: {}", why);
  for (const auto& file : gone)
    say("{} {}", pruning.dry_run ? "would remove" : "removed", file.string());
  say("{} {}", counted(gone.size(), "file"), pruning.dry_run ? "would go" : "removed");
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

/// The run as a result document: its metrics are entries, and the program is in place of a GPU.
Document document_of(const RunMetrics& run) {
  Document document;
  document.date = run.date;
  document.fathom_commit = run.commit;
  document.suite = run.suite;
  const std::string program = fact_of(run, "program");
  document.fingerprint.gpu_name = run.fathom ? fact_of(run, "gpu_name")
                                             : (program.empty() ? "google-benchmark" : program) +
                                                   " on " + fact_of(run, "host_name");
  document.fingerprint.driver = fact_of(run, "driver");
  document.fingerprint.toolkit = fact_of(run, "toolkit");
  for (const auto& [name, unit, better, value, elapsed_s, state, problem, interval] : run.metrics) {
    Entry& entry = document.entries.emplace_back();
    entry.name = name;
    entry.probe = name.substr(0, name.find('/'));
    entry.metric = {"value", unit, better, {}};
    if (problem.empty()) entry.metric.value = value;
    entry.interval = interval;
    entry.timing.sm_clock_hz = entry.telemetry.sm_clock_hz.median = state.sm_clock_hz;
    entry.telemetry.power_w.median = state.power_w;
    entry.telemetry.throttle_reasons = state.throttle_reasons;
    if (entry.interval) judge_entry(entry);
  }
  return document;
}

/// The HTML page with every metric of the newest runs by its date.
std::string history_page(std::vector<RunMetrics> runs) {
  constexpr std::size_t most_runs = 100;  // some 60 KB each of 230 metrics
  std::ranges::stable_sort(runs, {}, &RunMetrics::date);
  if (runs.size() > most_runs) runs.erase(runs.begin(), runs.end() - most_runs);
  std::deque<Document> documents;
  std::vector<reports::ShownDocument> shown;
  for (const RunMetrics& run : runs)
    shown.push_back({&documents.emplace_back(document_of(run)),
                     std::filesystem::path(run.origin).filename().string()});
  return reports::html_page(shown, {});
}

ExitCode history(const BaselineArguments& arguments) {
  std::vector<RunMetrics> runs;
  const BaselineFolder folder(arguments.folder);
  for (const auto& [identity, files] : folder.groups())
    std::ranges::move(runs_of(files), std::back_inserter(runs));
  if (runs.empty()) {
    say("{}.", folder.why_empty());
    return ExitCode::ok;
  }
  print_out(history_text(runs));
  if (!arguments.out.empty()) {
    const auto page = std::filesystem::path(arguments.out) / "index.html";
    std::error_code error;
    std::filesystem::create_directories(arguments.out, error);
    write_file_atomically(page, history_page(std::move(runs)));
    say("Page: {}", page.string());
  }
  return ExitCode::ok;
}

void add_history_flags(CLI::App& app, BaselineArguments& arguments) {
  app.add_option("DIR", arguments.folder, "Folder of the baseline")->check(not_empty())->required();
  path_flag(app, "--out", arguments.out,
            "Write index.html, which draws every metric by date, into this folder", "DIR");
  app.footer(
      "Steps and drifts over all the runs of each machine, whatever its software; advisory.\n\n"
      "Example:\n  fathom history baselines --out history\n");
}

reports::Comparison comparison_of(const CompareArguments& arguments) {
  const RunMetrics a = read_run_metrics(arguments.a, true), b = read_run_metrics(arguments.b, true);
  const auto differences = differences_of(a, b);
  // Machines may differ, as of Fathom's documents, but not what a value is: another tool's, or a
  // mean instead of a median.
  for (const Difference& difference : differences)
    if (difference.fact == "program" || difference.fact == "statistic")
      fail(ExitCode::inconclusive, "{} and {} cannot be compared: different {}.", a.origin,
           b.origin, difference.words());
  reports::Comparison comparison =
      reports::compare(document_of(a), document_of(b), a.origin, b.origin);
  comparison.machine.clear();
  for (const auto& [fact, in_a, in_b] : differences)
    comparison.machine.push_back({fact, in_a, in_b});
  comparison.same_properties = std::max(a.identity.size(), differences.size()) - differences.size();
  for (reports::ComparedFigure& figure : comparison.figures)
    figure.headline = figure.reason.empty();
  return comparison;
}

ExitCode compare(const CompareArguments& arguments) {
  return tell_comparison(arguments, [&] { return comparison_of(arguments); });
}

}  // namespace

Error gate_error(const Error& error) {
  const bool document =
      error.code() == ExitCode::document_malformed || error.code() == ExitCode::document_version;
  return {document ? ExitCode::bad_input : error.code(), log_text(error.what())};
}

std::vector<Command> gate_commands() {
  return {{.name = check_command.name, .summary = check_command.summary, .add = add_check},
          {.name = baseline_command.name,
           .summary = baseline_command.summary,
           .noun = "baseline command",
           .footer = "Examples:\n"
                     "  fathom baseline add results/result.json --baseline baselines\n"
                     "  fathom baseline list --baseline baselines\n"
                     "  fathom baseline prune --baseline baselines --keep 50\n"
                     "  fathom baseline prune --baseline baselines            (files that hold no "
                     "run alone)\n",
           .commands = {{.name = "add",
                         .summary = "Keep results as earlier runs to compare with",
                         .add = with_arguments(add_add_flags, add)},
                        {.name = "list",
                         .summary = "Show what runs there are, by identity",
                         .add = with_arguments(add_baseline_flag, list)},
                        {.name = "prune",
                         .summary = "Remove files that hold no run, and with a flag old runs",
                         .add = with_arguments(add_prune_flags, prune)}}},
          {.name = history_command.name,
           .summary = history_command.summary,
           .add = with_arguments(add_history_flags, history)},
          compare_command(compare)};
}

}  // namespace fathom
