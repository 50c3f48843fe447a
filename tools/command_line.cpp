#include "tools/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <system_error>

#include "results/error.h"
#include "results/flag_checks.h"
#include "results/standard_streams.h"
#include "results/suggestion.h"
#include "results/version.h"
#include "tools/fleet/fleet_commands.h"
#include "tools/gate/gate_commands.h"
#include "tools/predict/predict_command.h"
#include "tools/suites.h"

namespace fathom {
namespace {

/// Google Benchmark's flags that make sense for a whole run; --out and `probe_X
/// --benchmark_list_tests` do what the others are for.
const std::vector<std::string> benchmark_flag_names{
    "--benchmark_filter",           "--benchmark_repetitions",
    "--benchmark_min_time",         "--benchmark_min_warmup_time",
    "--benchmark_format",           "--benchmark_color",
    "--benchmark_context",          "--benchmark_time_unit",
    "--benchmark_counters_tabular", "--benchmark_enable_random_interleaving"};

std::string without_value(const std::string& flag) { return flag.substr(0, flag.find('=')); }

void check_benchmark_flag(const std::string& flag) {
  const std::string name = without_value(flag);
  if (std::find(benchmark_flag_names.begin(), benchmark_flag_names.end(), name) !=
      benchmark_flag_names.end())
    return;
  if (name.starts_with("--benchmark_out"))
    throw Error(ExitCode::bad_input, fmt::format("{} is not for a whole run, whose document goes "
                                                 "into the folder of --out.",
                                                 name));
  if (name.starts_with("--benchmark_list"))
    throw Error(
        ExitCode::bad_input,
        fmt::format("{} is a flag of the single probes: probe_copy_bandwidth {}.", name, name));
  throw Error(ExitCode::bad_input,
              fmt::format("Unknown flag {}.{} `fathom run --help` shows them all.", name,
                          did_you_mean(name, benchmark_flag_names)));
}

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const auto& [name, command] : commands) names.push_back(name);
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

void add_run(CLI::App& app, RunArguments& options) {
  app.add_option(
         "--suite", options.suite,
         "quick (under a minute), default (under three minutes), or another of `fathom list`")
      ->check(one_of(suite_names()))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--probe", options.probes,
                 "Only this probe, of whichever group; may be given several times")
      ->type_name("NAME");
  app.add_option("--out", options.out,
                 "Folder for document, report, pictures and logs; what an earlier run left there "
                 "is overwritten (default: fathom-<gpu>-<UTC time>)")
      ->check(not_empty())
      ->type_name("DIR");
  app.add_option("--device", options.device, "CUDA device ordinal")
      ->check(ordinal())
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* no_counters =
      app.add_flag("--no-counters", options.no_counters, "Do not collect hardware counters");
  app.add_option("--counters-of", options.counters_of,
                 "Only this probe collects hardware counters, and the others leave out the cases "
                 "that only counters can decide; may be given several times")
      ->excludes(no_counters)
      ->type_name("NAME");
  app.add_flag("--require-gpu", options.require_gpu,
               "Fail with exit code 3 where there is no GPU, instead of replaying a recording");
  app.add_flag("--replay", options.replay, "Replay the recording even if there is a GPU");
  app.add_flag("--wait", options.wait, "Wait if another Fathom holds the GPU");
  // Profilers of several processes get into each other's way, even of those that wait.
  app.add_flag("--start-together", options.start_together,
               "Start all probes at once, as far as the GPU's memory has room for them; they still "
               "measure one after the other, and a short run ends sooner (with --no-counters)")
      ->needs(no_counters);
  app.add_flag("--no-report", options.no_report, "Write the document only");
  app.add_option("--seed", options.seed, "Seed of the random data")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--time-limit", options.time_limit_s,
                 "Seconds after which a probe is ended (default: 120 in quick suites, 600 in gemm, "
                 "else 300)")
      ->check(seconds())
      ->type_name("SECONDS");
  app.footer(
      "Google Benchmark's flags go to every probe: --benchmark_filter=REGEX, "
      "--benchmark_repetitions=N, ...\n\n"
      "Examples:\n"
      "  fathom run                                   everything, about three minutes\n"
      "  fathom run --suite quick --out results       under a minute, into ./results\n"
      "  fathom run --suite atlas                     the memory hierarchy, level by level\n"
      "  fathom run --probe bank_conflicts            one probe\n"
      "  fathom run --benchmark_filter=1GiB           only the cases with 1GiB in their name\n"
      "  fathom run --require-gpu                     for CI: no replay where there is no GPU\n");
}

void add_report(CLI::App& app, ReportArguments& options) {
  app.add_option("FILE", options.documents, "Result document of a run; with --html also several")
      ->check(not_empty())
      ->required();
  app.add_option("--out", options.out,
                 "Folder of the report, or with --html the page (default: report or "
                 "report/index.html, beside FILE)")
      ->check(not_empty())
      ->type_name("PATH");
  app.add_flag("--html", options.html,
               "Only the HTML page: one file that shows all documents over each other");
  app.add_flag("--conclude", options.conclude,
               "With what today's probes conclude from it, instead of what they concluded when it "
               "was measured");
  app.footer(
      "Examples:\n"
      "  fathom report fathom-h200-20260131T120000Z/result.json\n"
      "  fathom report recordings/h200/result.json --conclude --out /tmp/h200\n"
      "  fathom report --html before/result.json after/result.json --out page.html\n");
}

void add_compare(CLI::App& app, CompareArguments& options) {
  app.add_option("A", options.a, "Result document of a run")->check(not_empty())->required();
  app.add_option("B", options.b, "Result document of another run")->check(not_empty())->required();
  app.add_option("--markdown", options.markdown, "Write it as Markdown into this file")
      ->check(not_empty())
      ->type_name("FILE");
  app.add_option("--json", options.json, "Write every figure that both have into this file")
      ->check(not_empty())
      ->type_name("FILE");
  app.footer(
      "The two may come from any GPUs, drivers, commits or dates. The exit code is 0 whatever\n"
      "differs, and 5 if they share no figure; `fathom check` decides about a regression.\n\n"
      "Examples:\n"
      "  fathom compare before/result.json after/result.json\n"
      "  fathom compare h100/result.json h200/result.json --markdown h100-h200.md\n");
}

void add_doctor(CLI::App& app, DoctorArguments& options) {
  app.add_option("--device", options.device, "Only this GPU, by CUDA device ordinal (default: all)")
      ->check(ordinal())
      ->type_name("N");
  app.add_flag("--json", options.json, "Print the checks as JSON");
  app.footer(
      "Examples:\n"
      "  fathom doctor\n"
      "  fathom doctor --device 1 --json\n");
}

/// CLI11's help without the list of flags that each flag excludes: the errors say that.
class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) {
      text = " " + option->get_type_name();
      if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
      if (option->get_expected_max() > 1) text += " ...";
    }
    return option->get_required() ? text + " REQUIRED" : text;
  }
};

/// The word for which there is no meaning, as one sentence.
[[noreturn]] void refuse_extra(const std::string& word, const std::string& command,
                               const CLI::App& app) {
  const std::string program = command.empty() ? "fathom" : "fathom " + command;
  if (!word.starts_with('-'))
    throw Error(ExitCode::bad_input,
                fmt::format("`{0}` has no use for `{1}`: see `{0} --help`.", program, word));
  const std::string flag = without_value(word);
  throw Error(ExitCode::bad_input,
              fmt::format("`{0}` has no flag {1}.{2} `{0} --help` shows them all.", program, flag,
                          did_you_mean(flag, flags_of(app))));
}

void refuse_unknown_command(const std::string& word, const Commands& commands) {
  if (commands.contains(word)) return;
  if (word == "test")
    throw Error(ExitCode::bad_input,
                "The tests are started by the script in Fathom's source folder: ./fathom test.");
  throw Error(ExitCode::bad_input,
              fmt::format("There is no command `{}`.{} `fathom --help` shows them all.", word,
                          did_you_mean(word, names_of(commands))));
}

/// The words that may follow a command, and what such a word is called.
struct Subcommands {
  const char* noun;
  Commands commands;
};

void refuse_unknown_subcommand(const std::string& command, const std::string& word,
                               const Subcommands& known) {
  if (known.commands.contains(word)) return;
  throw Error(ExitCode::bad_input,
              fmt::format("There is no {} `{}`.{} `fathom {} --help` shows them all.", known.noun,
                          word, did_you_mean(word, names_of(known.commands)), command));
}

ExitCode understand_and_act(int argc, const char* const* argv,
                            const std::function<void(CLI::App&)>& describe) {
  CLI::App app("Measures one NVIDIA GPU: what it promises, what it does, and why the two differ.",
               "fathom");
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", fmt::format("fathom {} ({})", version(), commit()));
  app.footer(
      "Examples:\n"
      "  fathom run                 measure this machine's GPU, write a report\n"
      "  fathom run --suite quick   the same in under a minute\n"
      "  fathom doctor              is everything in place, and what to do if not\n"
      "  fathom list                the probes and the questions they answer\n"
      "  fathom compare A B         two result documents side by side\n"
      "  fathom predict --help      what should happen, computed without a GPU\n"
      "  fathom check --help        did a commit, compiler or driver make something slower\n"
      "  fathom fleet --help        many GPUs and hosts: which one is slow\n"
      "`fathom COMMAND --help` says more.\n");

  RunArguments run;
  DoctorArguments doctor;
  ReportArguments report;
  CompareArguments compare;
  Commands commands{
      {"run",
       {app.add_subcommand("run", "Measure the GPU and write document and report"),
        [&run] { return run_command(run); }}},
      {"list",
       {app.add_subcommand("list", "Show the probes, their questions and claims"),
        [] { return list_command(); }}},
      {"doctor",
       {app.add_subcommand("doctor", "Check driver, permissions and tools"),
        [&doctor] { return doctor_command(doctor); }}},
      {"report",
       {app.add_subcommand("report", "Make the report of a result document"),
        [&report] { return report_command(report); }}},
      {"compare",
       {app.add_subcommand("compare", "Two result documents side by side, of any GPUs"),
        [&compare] { return compare_command(compare); }}},
      {"predict",
       {app.add_subcommand("predict", "Predict counters, occupancy, ... without a GPU"), {}}},
      {"check",
       {app.add_subcommand("check", "Fail if something got slower: two builds, or a result"), {}}},
      {"baseline",
       {app.add_subcommand("baseline", "Keep earlier results that `check` compares with"), {}}},
      {"history",
       {app.add_subcommand("history", "Find what changed over many earlier results"), {}}},
      {"fleet",
       {app.add_subcommand("fleet", "Many GPUs: which one is slow, and what their links carry"),
        {}}}};
  add_run(*commands.at("run").app, run);
  add_compare(*commands.at("compare").app, compare);
  add_doctor(*commands.at("doctor").app, doctor);
  add_report(*commands.at("report").app, report);
  commands.at("list").app->footer("Example:\n  fathom list\n");
  commands.at("check").act = add_check(*commands.at("check").app);
  commands.at("history").act = add_history(*commands.at("history").app);
  const std::map<std::string, Subcommands> subcommands{
      {"predict", {"prediction", add_predict(*commands.at("predict").app)}},
      {"baseline", {"baseline command", add_baseline(*commands.at("baseline").app)}},
      {"fleet", {"fleet command", add_fleet(*commands.at("fleet").app)}}};
  if (describe) {
    describe(app);
    return ExitCode::ok;
  }

  // Google Benchmark's flags are no options of ours, and `--` before them is allowed, not needed.
  std::vector<std::string> words;
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    if (word.starts_with("--benchmark_"))
      run.benchmark_flags.push_back(word);
    else if (word != "--")
      words.push_back(word);
  }
  const auto is_name = [](const std::string& word) { return !word.starts_with('-'); };
  const auto first = std::find_if(words.begin(), words.end(), is_name);
  std::string command = first == words.end() ? "" : *first;
  if (!command.empty()) refuse_unknown_command(command, commands);
  const Command* chosen = command.empty() ? nullptr : &commands.at(command);
  if (const auto nested = subcommands.find(command); nested != subcommands.end()) {
    const auto second = std::find_if(first + 1, words.end(), is_name);
    if (second != words.end()) {
      refuse_unknown_subcommand(command, *second, nested->second);
      command += " " + *second;
      chosen = &nested->second.commands.at(*second);
    }
  }
  if (!run.benchmark_flags.empty() && command != "run")
    refuse_extra(run.benchmark_flags.front(), command, app);
  for (const auto& flag : run.benchmark_flags) check_benchmark_flag(flag);

  try {
    std::reverse(words.begin(), words.end());  // the order that CLI11 wants
    app.parse(words);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);  // prints the help or the version
    return ExitCode::ok;
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining(true);
    refuse_extra(extras.empty() ? "" : extras.front(), command, chosen ? *chosen->app : app);
  } catch (const CLI::ParseError& error) {
    // What is missing, or where it should not be, may follow a misspelt flag.
    for (const std::string& word : app.remaining(true))
      if (word.starts_with('-')) refuse_extra(word, command, chosen ? *chosen->app : app);
    throw Error(ExitCode::bad_input,
                fmt::format("{}: see `fathom {} --help`.", complaint(error), command));
  }
  if (!chosen || !chosen->act) {
    fmt::print("{}", chosen ? chosen->app->help("fathom") : app.help());
    return ExitCode::ok;
  }
  return chosen->act();
}

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv,
                          const std::function<void(CLI::App&)>& describe) {
  ExitCode code = ExitCode::ok;
  try {
    code = understand_and_act(argc, argv, describe);
  } catch (const std::system_error&) {
    if (std::ferror(stdout) == 0) throw;  // else it is what fmt says of a full disk
  }
  // Any other code says more than this one.
  if (code == ExitCode::ok) require_written_output();
  return code;
}

}  // namespace fathom
