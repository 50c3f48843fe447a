// The gate's error rates as measured: whole runs of `fathom check` with a known truth, each judged
// and kept in a journal, and what several journals come to. docs/gate/noise.md has it.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "gate/check.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "studies/gate/trials/decide.h"
#include "studies/gate/trials/summary.h"
#include "studies/study_main.h"
#include "tools/programs.h"

namespace {

using namespace fathom;
using namespace fathom::gate;
namespace fs = std::filesystem;

struct RunArguments {
  std::string kind, journal, base, head, suite, device, keep;
  std::string fathom, victim, load;
  std::size_t decisions = 60, slowed = 0;
  std::vector<double> sizes_percent{0.25, 0.4, 0.5, 1, 1.5, 2, 3, 5};
  std::vector<std::string> patterns{"once", "bursts", "sides", "head"};
  double time_limit_s = 1e6, expected_s = 20;
  std::uint64_t seed = 1;
  bool resume = false;
};

void refuse_mixtures(const RunArguments& arguments, TrialKind kind) {
  const auto refuse_if = [](bool wrong, const char* why) {
    if (wrong) throw Error(ExitCode::bad_input, why);
  };
  const bool sides = !arguments.base.empty() || !arguments.head.empty();
  refuse_if(sides && (arguments.base.empty() || arguments.head.empty()),
            "--base and --head belong together.");
  refuse_if(sides && (kind == TrialKind::slowed || kind == TrialKind::faults),
            "Faults are planted in the victim: --base and --head are for unchanged and disturbed.");
  refuse_if(!arguments.suite.empty() && !sides, "--suite is of builds: give --base and --head.");
}

TrialOptions options_of(const RunArguments& arguments, TrialKind kind) {
  TrialOptions options{.kind = kind, .seed = arguments.seed, .slowed = arguments.slowed};
  for (const double percent : arguments.sizes_percent) options.sizes.push_back(percent / 100);
  for (const std::string& pattern : arguments.patterns)
    options.patterns.push_back(load_pattern(pattern));
  return options;
}

JournalHeader header_of(const RunArguments& arguments, TrialKind kind, std::string tool) {
  std::string how = arguments.base.empty()
                        ? "the victim"
                        : fmt::format("{} against {}", arguments.head, arguments.base);
  if (kind == TrialKind::slowed)
    how += fmt::format(", {} metrics a decision slowed by {} %",
                       arguments.slowed == 0 ? "a third of the" : std::to_string(arguments.slowed),
                       fmt::join(arguments.sizes_percent, ", "));
  if (kind == TrialKind::disturbed)
    how += fmt::format(", load {}", fmt::join(arguments.patterns, ", "));
  const bool builds = !arguments.base.empty() && fs::is_directory(arguments.base);
  return {kind, arguments.seed, builds && arguments.suite.empty() ? "quick" : arguments.suite,
          std::move(how), std::move(tool)};
}

TrialSetup setup_of(const RunArguments& arguments) {
  const auto program = [](const std::string& given, const char* name) {
    return fs::absolute(given.empty() ? program_folder() / name : fs::path(given));
  };
  return {program(arguments.fathom, "fathom"),
          program(arguments.victim, "gate_victim"),
          program(arguments.load, "gate_load"),
          arguments.base,
          arguments.head,
          arguments.suite,
          arguments.keep.empty() ? fs::path() : fs::absolute(arguments.keep),
          arguments.resume};
}

/// So many decisions in a row without a metric: this machine measures nothing, and no more are
/// made.
constexpr int most_empty_decisions = 3;

int run(const RunArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const TrialKind kind = trial_kind(arguments.kind);
  refuse_mixtures(arguments, kind);
  if (!arguments.device.empty()) setenv("CUDA_VISIBLE_DEVICES", arguments.device.c_str(), 1);
  const TrialOptions options = options_of(arguments, kind);
  const TrialSetup setup = setup_of(arguments);
  Journal journal(arguments.journal, header_of(arguments, kind, tool_of(setup)), arguments.resume);
  std::vector<std::string> metrics;
  if (kind == TrialKind::slowed || kind == TrialKind::faults) metrics = victim_metrics(setup);
  std::vector<double> seconds;
  for (const TrialRecord& record : journal.records()) seconds.push_back(record.seconds);
  int empty = 0;
  for (std::size_t index = 0; index < arguments.decisions; ++index) {
    if (journal.has(index)) continue;
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    if (gone.count() >= arguments.time_limit_s) {
      fmt::print("The time is over; go on with --resume.\n");
      break;
    }
    // The shortest so far, so that the other load begins while there is something to disturb.
    const double expected = seconds.empty() ? arguments.expected_s : std::ranges::min(seconds);
    const auto record = decide(setup, plan_trial(options, metrics, index), expected);
    if (!record) return to_int(ExitCode::interrupted);
    journal.add(*record);
    seconds.push_back(record->seconds);
    fmt::print("{} {} of {}: {:.1f} s, exit code {}, {}\n", arguments.kind, index + 1,
               arguments.decisions, record->seconds, record->exit_code, log_text(record->headline));
    std::fflush(stdout);
    empty = record->metrics == 0 ? empty + 1 : 0;
    if (empty == most_empty_decisions)
      fail(ExitCode::setup_incomplete, "{} decisions in a row measured nothing; the last said: {}",
           empty, log_text(record->headline));
  }
  return 0;
}

int report(const std::vector<std::string>& files, const std::string& out) {
  std::vector<JournalText> journals;
  for (const std::string& file : files) journals.push_back(read_journal(file));
  fmt::print("{}", write_trial_summary(journals, out));
  return 0;
}

void add_run_flags(CLI::App& app, RunArguments& arguments) {
  word_flag(app, "--kind", arguments.kind, "unchanged, slowed, faults or disturbed",
            {"unchanged", "slowed", "faults", "disturbed"}, "KIND")
      ->required();
  app.add_option("--journal", arguments.journal, "File for the decisions, a line each")
      ->type_name("FILE")
      ->required();
  app.add_flag("--resume", arguments.resume, "Go on with a journal that is there");
  number_flag(app, "--decisions", arguments.decisions, "How many in all", 1, 1'000'000)
      ->capture_default_str();
  checked_flag(app, "--time-limit", arguments.time_limit_s, "Seconds after which none begins",
               seconds(), "SECONDS");
  number_flag(app, "--seed", arguments.seed, "Of what is planted where; another for each journal",
              1, 1'000'000'000)
      ->capture_default_str();
  number_flag(app, "--slowed", arguments.slowed, "Metrics slowed in a decision (default: a third)",
              1, 10'000);
  checked_flag(app, "--sizes", arguments.sizes_percent, "By how many percent, each equally often",
               positive_number(), "LIST")
      ->check(CLI::Range(0.0, 100.0))
      ->delimiter(',')
      ->capture_default_str();
  word_flag(app, "--patterns", arguments.patterns,
            "When the other load runs: once, bursts, sides, head",
            {"once", "bursts", "sides", "head"}, "LIST")
      ->delimiter(',')
      ->capture_default_str();
  checked_flag(app, "--expected", arguments.expected_s,
               "About how many seconds the first decision takes, for the other load", seconds(),
               "SECONDS")
      ->capture_default_str();
  const auto text = [&](const char* flag, std::string& value, const char* description,
                        const char* kind) {
    app.add_option(flag, value, description)->type_name(kind);
  };
  text("--device", arguments.device, "The GPU, as in CUDA_VISIBLE_DEVICES", "GPU");
  text("--base", arguments.base, "Instead of the victim: as of `fathom check`", "BUILD_OR_COMMAND");
  text("--head", arguments.head, "The same; may be the same build", "BUILD_OR_COMMAND");
  text("--suite", arguments.suite, "What builds run (default: quick)", "NAME");
  text("--keep", arguments.keep, "Folder in which all rounds' results stay", "DIR");
  text("--fathom", arguments.fathom, "Instead of the one beside this program", "PROGRAM");
  text("--victim", arguments.victim, "The same, of gate_victim", "PROGRAM");
  text("--load", arguments.load, "The same, of gate_load", "PROGRAM");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The gate's error rates as measured on a GPU.", "gate_trials");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  gate_trials run --kind unchanged --base build --head build --journal unchanged.jsonl\n"
      "  gate_trials run --kind slowed --decisions 70 --journal slowed-1.jsonl --seed 1 --device "
      "0\n"
      "  gate_trials report *.jsonl --out trials\n");
  RunArguments arguments;
  std::vector<std::string> journals;
  std::string out;
  CLI::App* running = app.add_subcommand("run", "Makes decisions and keeps them in a journal");
  add_run_flags(*running, arguments);
  CLI::App* reporting = app.add_subcommand("report", "What journals come to, as Markdown");
  reporting->add_option("JOURNAL", journals, "Journals of `gate_trials run`")->required();
  reporting->add_option("--out", out, "Folder for trials.md")->type_name("DIR")->required();
  return run_study(app, argc, argv,
                   [&] { return running->parsed() ? run(arguments) : report(journals, out); });
}
