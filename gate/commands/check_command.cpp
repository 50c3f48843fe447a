#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "gate/baseline.h"
#include "gate/check.h"
#include "gate/commands/commands.h"
#include "gate/run_metrics.h"
#include "results/error.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {
using namespace gate;
namespace {

namespace fs = std::filesystem;

constexpr const char* step_summary = "GITHUB_STEP_SUMMARY";

/// A file in which the check writes what it found, beside the terminal; an empty path: none.
struct Output {
  const char* flag;
  const char* description;
  std::string (*text)(const CheckResult&);
  std::string path{};
};

struct CheckArguments {
  std::vector<std::string> results;
  std::string baseline, base, head, config, keep;
  PairedOptions options{.seed = 0};  ///< 0: from the clock
  std::string suite = "quick";
  std::array<Output, 3> outputs{{{"--markdown", "Write a summary in Markdown", markdown_summary},
                                 {"--junit", "Write JUnit XML", junit_xml},
                                 {"--json", "Write everything as JSON", decision_json}}};
  bool github = false, inconclusive_passes = false, ratios_only = false;

  bool is_paired() const { return !base.empty(); }
  /// GitHub collects what jobs append to this file; empty without it, or where nobody asked.
  std::string step_summary_file() const {
    const char* path = github ? std::getenv(step_summary) : nullptr;
    return path ? path : "";
  }
};

/// The outputs of one check, once its inputs are known to be others. Everything that writes throws
/// Error(output_unwritable) or Error(output_full).
class CheckReport {
 public:
  /// Opens what is no regular file, and puts into each file that the check has not ended: one that
  /// is killed leaves no earlier one's result, and what cannot be written is known before anything
  /// is measured.
  CheckReport(const CheckArguments& arguments, CheckResult check) : arguments_(arguments) {
    for (const Output& output : arguments.outputs)
      if (!output.path.empty()) files_.emplace_back(OutputFile(output.path), output.text);
    check.refusals = {"the check has not ended: it still runs, or something ended it"};
    for (auto& [file, text] : files_) {
      // What is printed is for people: not among what goes to standard output as a file.
      if (file.is_standard_output()) terminal_ = stderr;
      if (!file.is_stream()) file.write(text(check));
    }
    if (!step_summary_.empty()) append_to_file(step_summary_, "");
  }

  /// Writes what was found, to the terminal as well, which hears as an error why a check ended
  /// without a decision.
  void publish(const CheckResult& result) {
    if (!result.ended) print(terminal_table(result));
    for (auto& [file, text] : files_) file.write(text(result));
    if (arguments_.github) print(github_annotations(result));
    if (!step_summary_.empty()) append_to_file(step_summary_, markdown_summary(result) + "\n");
  }

 private:
  void print(const std::string& text) const {
    std::fputs(text.c_str(), terminal_);
    std::fflush(terminal_);
  }

  const CheckArguments& arguments_;
  const std::string step_summary_ = arguments_.step_summary_file();
  std::vector<std::pair<OutputFile, std::string (*)(const CheckResult&)>> files_;
  std::FILE* terminal_ = stdout;
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ExitCode::bad_input, why); }

CheckResult paired(const CheckArguments& arguments, const Rules& rules) {
  std::optional<TemporaryFolder> temporary;
  if (arguments.keep.empty()) temporary.emplace("give a folder with --keep");
  const fs::path folder = temporary ? temporary->path() : fs::path(arguments.keep);
  PairedOptions options = arguments.options;
  if (options.seed == 0)
    options.seed =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  ProcessRounds rounds({Side::base, arguments.base, arguments.suite},
                       {Side::head, arguments.head, arguments.suite}, fs::absolute(folder),
                       options.time_limit_s);
  CheckResult result = check_paired(rounds, options, rules);
  result.base = arguments.base;
  result.notes.push_back(fmt::format("the rounds' order has seed {}", options.seed));
  return result;
}

CheckResult stored(const CheckArguments& arguments, const Rules& rules) {
  const bool ratios = arguments.ratios_only;
  const auto compared = [&](RunMetrics run) {
    return ratios ? ratios_of(std::move(run)) : std::move(run);
  };
  std::vector<RunMetrics> head;
  std::set<fs::path> given;
  for (const std::string& file : arguments.results) {
    std::error_code unknown;
    if (!given.insert(fs::weakly_canonical(file, unknown)).second)
      refuse(file + " is given twice, and several results count as rounds of their own.");
    head.push_back(compared(read_run_metrics(file)));
    if (ratios && head.back().metrics.empty())
      refuse(file + " has no ratio to an opponent, and --ratios-only compares nothing else.");
  }
  const BaselineFolder folder(arguments.baseline);
  std::vector<RunMetrics> baseline =
      ratios ? folder.ratios_like(head.front()) : folder.runs_like(head.front());
  const std::size_t themselves = leave_out_themselves(baseline, head);
  CheckResult result = check_stored(baseline, head, rules);
  if (baseline.empty() && themselves == 0 && refusals_of(head, {}).empty()) {
    std::vector<RunMetrics> others = folder.newest_of_each();
    for (RunMetrics& run : others) run = compared(std::move(run));
    result.refusals =
        others.empty() ? std::vector{folder.why_empty()} : why_none_like(head.front(), others);
  }
  result.base =
      fmt::format("{} in {}", counted(baseline.size(), "earlier run"), arguments.baseline);
  if (themselves > 0)
    result.notes.push_back(
        fmt::format("the baseline holds what is checked here, which was left out ({})",
                    counted(themselves, "run")));
  return result;
}

/// No output may be what the check reads, or another output.
void require_distinct_files(const CheckArguments& arguments) {
  NamedFiles inputs, outputs;
  for (const Output& output : arguments.outputs) outputs.push_back({output.flag, output.path});
  outputs.push_back({step_summary, arguments.step_summary_file()});
  for (const std::string& file : arguments.results) inputs.push_back({"the result", file});
  if (!arguments.config.empty()) inputs.push_back({"--config", arguments.config});
  for (const std::string& side : {arguments.base, arguments.head})
    if (!side.empty())
      for (const fs::path& program : programs_of_build(side))
        inputs.push_back({"the program", program});
  try {
    if (!arguments.is_paired())
      for (const auto& [identity, files] : BaselineFolder(arguments.baseline).groups())
        for (const fs::path& file : files) inputs.push_back({"a run of the baseline", file});
  } catch (const Error&) {
    // Whoever reads it says why it cannot be read.
  }
  require_distinct(inputs, outputs);
}

/// A misspelt rule would go unnoticed.
void name_useless_rules(const Rules& rules, CheckResult& result) {
  if (result.metrics.empty()) return;
  std::set<const Rule*> used;
  for (const auto& metric : result.metrics) used.insert(find_rule(rules, metric.name));
  for (const Rule& rule : rules)
    if (!used.contains(&rule))
      result.notes.push_back(fmt::format("the rule for `{}` fits no metric", rule.pattern));
}

ExitCode check(const CheckArguments& arguments) {
  if (!arguments.is_paired() && arguments.results.empty())
    refuse("`fathom check` compares --base and --head, or RESULT with --baseline: see its --help.");
  require_distinct_files(arguments);
  const auto now = [] { return utc_time(std::chrono::system_clock::now()); };
  const auto start = std::chrono::steady_clock::now();
  const bool pair = arguments.is_paired();
  CheckResult result{
      .mode = pair ? "paired" : "stored",
      .base = pair ? arguments.base : arguments.baseline,
      .head = pair ? arguments.head : fmt::format("{}", fmt::join(arguments.results, ", ")),
      .date = now()};
  CheckReport report(arguments, result);
  try {
    const Rules rules = arguments.config.empty() ? Rules{} : read_rules(arguments.config);
    CheckResult found = pair ? paired(arguments, rules) : stored(arguments, rules);
    name_useless_rules(rules, found);
    found.head = result.head;
    found.date = now();
    result = std::move(found);
  } catch (const Error& error) {
    const Error why = gate_error(error);
    result.refusals = {why.what()};
    result.elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // A round that failed leaves nothing to decide on, which is a result.
    if (why.code() != ExitCode::inconclusive) result.ended = why.code();
  }
  try {
    report.publish(result);
  } catch (const Error&) {
    if (!result.ended) throw;  // else what ended the check is the news
  }
  if (result.ended) throw Error(*result.ended, result.refusals.front());
  const ExitCode code = exit_code(result);
  return code == ExitCode::inconclusive && arguments.inconclusive_passes ? ExitCode::ok : code;
}

void add_paired_flags(CLI::App& app, CheckArguments& arguments) {
  const char* side = "BUILD_OR_COMMAND";
  PairedOptions& options = arguments.options;
  CLI::Option* const base =
      app.add_option(
             "--base", arguments.base,
             "Folder of a build of Fathom, or a shell command that writes its result to {out}")
          ->type_name(side)
          ->excludes(app.get_option("--baseline"));
  const auto flags = {
      app.add_option("--head", arguments.head, "The build or command under test")->type_name(side),
      word_flag(app, "--suite", arguments.suite, "What builds of Fathom run", names_of(run_suites)),
      checked_flag(app, "--time-limit", options.time_limit_s,
                   "Seconds of the whole check: no round begins that would last beyond it, and "
                   "suspects that are not settled by then are inconclusive",
                   seconds(), "SECONDS"),
      checked_flag(app, "--seed", options.seed,
                   "Seed of the rounds' order (default: from the clock)", whole_number(1), "N"),
      path_flag(app, "--keep", arguments.keep, "Folder in which the rounds' results and logs stay",
                "DIR")};
  base->needs(*flags.begin())->group("Paired: two builds or commands on this machine");
  for (CLI::Option* flag : flags) flag->needs(base)->group(base->get_group());
}

void add_check_flags(CLI::App& app, CheckArguments& arguments) {
  const char* group = "Stored: a result against earlier ones";
  CLI::Option* const results =
      app.add_option("RESULT", arguments.results,
                     "Result document or another tool's file; several of the same thing count as "
                     "its rounds")
          ->check(not_empty())
          ->group(group);
  CLI::Option* const baseline = path_flag(app, "--baseline", arguments.baseline,
                                          "Folder made by `fathom baseline add`", "DIR")
                                    ->needs(results)
                                    ->group(group);
  results->needs(baseline);
  app.add_flag("--ratios-only", arguments.ratios_only,
               "Compare the ratios to opponents alone, with runs of other machines of the same GPU "
               "model and toolkit as well")
      ->needs(baseline)
      ->group(group);
  add_paired_flags(app, arguments);
  path_flag(app, "--config", arguments.config, "Rules for single metrics, TOML (docs/gate.md)");
  for (Output& output : arguments.outputs)
    path_flag(app, output.flag, output.path, output.description);
  app.add_flag("--github", arguments.github,
               "Print GitHub's annotations, and add the summary to GITHUB_STEP_SUMMARY");
  app.add_flag("--inconclusive-passes", arguments.inconclusive_passes,
               "End with 0 instead of 3, for a job that cannot tell exit codes apart; all that is "
               "written still says inconclusive");
  app.footer(
      "Exit codes: 0 pass, 1 a regression (with --base and --head: confirmed by fresh rounds),\n"
      "2 bad input, 3 inconclusive or not comparable, 4 a metric of the baseline is missing.\n\n"
      "Examples:\n"
      "  fathom check --base build-main --head build\n"
      "  fathom check --base './bench-old --benchmark_out={out} --benchmark_filter={filter}' \\\n"
      "               --head './bench-new --benchmark_out={out} --benchmark_filter={filter}'\n"
      "  fathom check --base \"hyperfine -n sort --export-json {out} './sort-old data'\" \\\n"
      "               --head \"hyperfine -n sort --export-json {out} './sort-new data'\"\n"
      "  fathom check results/result.json --baseline baselines --junit check.xml --github\n");
}

}  // namespace

std::function<ExitCode()> add_check(CLI::App& app) {
  return with_arguments(add_check_flags, check)(app);
}

}  // namespace fathom
