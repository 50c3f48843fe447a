#include "tools/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/flag_checks.h"
#include "results/standard_streams.h"
#include "results/suggestion.h"
#include "results/version.h"
#include "tools/probe_binaries.h"

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
  if (std::ranges::count(benchmark_flag_names, name) > 0) return;
  if (name.starts_with("--benchmark_out"))
    fail(ExitCode::bad_input,
         "{} is not for a whole run, whose document goes into the folder of --out.", name);
  fail(ExitCode::bad_input, "Unknown flag {}.{} `fathom run --help` shows them all.", name,
       did_you_mean(name, benchmark_flag_names));
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// CLI11's help without the list of flags that each flag excludes: the errors say that.
class Help : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) {
      text = " " + option->get_type_name();
      const std::string value = option->get_required() ? "" : option->get_default_str();
      if (!value.empty()) text += "=" + value;
      if (option->get_expected_max() > 1) text += " ...";
    }
    return option->get_required() ? text + " REQUIRED" : text;
  }
};

/// The word for which there is no meaning, as one sentence.
[[noreturn]] void refuse_extra(const std::string& word, const std::string& path,
                               const CLI::App& app) {
  const std::string program = "fathom" + path;
  if (!word.starts_with('-'))
    fail(ExitCode::bad_input, "`{0}` has no use for `{1}`: see `{0} --help`.", program, word);
  const std::string flag = without_value(word);
  fail(ExitCode::bad_input, "`{0}` has no flag {1}.{2} `{0} --help` shows them all.", program, flag,
       did_you_mean(flag, flags_of(app)));
}

/// What the commands do that have something to do.
using Acts = std::map<const Command*, std::function<ExitCode()>>;

/// Adds the command's flags and the commands below it.
void add_to(CLI::App& app, const Command& command, Acts& acts) {
  if (command.add) acts[&command] = command.add(app);
  if (!command.footer.empty()) app.footer(command.footer);
  for (const Command& below : command.commands)
    add_to(*app.add_subcommand(below.name, below.summary), below, acts);
}

/// The command of that name below the one that `path` names, " predict".
const Command& named(const std::string& word, const Command& above, const std::string& path) {
  const auto found = std::ranges::find(above.commands, word, &Command::name);
  if (found != above.commands.end()) return *found;
  if (path.empty() && word == "test")
    throw Error(ExitCode::bad_input,
                "The tests are started by the script in Fathom's source folder: ./fathom test.");
  std::vector<std::string> names;
  for (const Command& known : above.commands) names.push_back(known.name);
  std::ranges::sort(names);
  fail(ExitCode::bad_input, "There is no {} `{}`.{} `fathom{} --help` shows them all.", above.noun,
       word, did_you_mean(word, names), path);
}

/// For a shell (tools/completions). Behind a command are the words of the program that has it.
void complete(CLI::App& app, const std::vector<std::string>& words,
              const std::vector<Command>& commands, const char* const* argv) {
  const auto elsewhere = std::ranges::find(commands, words.front(), &Command::name);
  if (words.size() > 1 && elsewhere != commands.end() && !elsewhere->program.empty())
    hand_over(elsewhere->program, elsewhere->name, argv);
  print_out(completions(app, words));
}

ExitCode understand_and_act(int argc, const char* const* argv, const std::vector<Command>& commands,
                            const std::function<void(CLI::App&)>& describe) {
  const Command root{
      .name = "fathom",
      .summary = "Measures one NVIDIA GPU: what it promises, what it does, and why the two differ.",
      .noun = "command",
      .footer =
          "Examples:\n"
          "  fathom run                 measure this machine's GPU, write a report\n"
          "  fathom run --suite quick   the same in under a minute\n"
          "  fathom doctor              is everything in place, and what to do if not\n"
          "  fathom list                the probes and the questions they answer\n"
          "  fathom compare A B         two result documents side by side\n"
          "  fathom predict --help      what should happen, computed without a GPU\n"
          "  fathom check --help        did a commit, compiler or driver make something slower\n"
          "  fathom fleet --help        many GPUs and hosts: which one is slow\n"
          "`fathom COMMAND --help` says more.\n",
      .commands = commands};
  CLI::App app(root.summary, root.name);
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", fmt::format("fathom {} ({})", version(), commit()));
  Acts acts;
  add_to(app, root, acts);
  if (describe) {
    describe(app);
    return ExitCode::ok;
  }

  if (argc > 2 && argv[1] == std::string_view("--complete")) {
    complete(app, {argv + 2, argv + argc}, commands, argv);
    return ExitCode::ok;
  }

  // Google Benchmark's flags are no options of ours, and `--` before them is allowed, not needed.
  std::vector<std::string> words, benchmark_flags;
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    if (word.starts_with("--benchmark_"))
      benchmark_flags.push_back(word);
    else if (word != "--")
      words.push_back(word);
  }
  const Command* chosen = &root;
  const CLI::App* at = &app;  // that command in the app
  std::string path;
  for (const std::string& word : words) {
    if (word.starts_with('-') || chosen->commands.empty()) continue;
    chosen = &named(word, *chosen, path);
    at = at->get_subcommand(word);
    path += " " + word;
    if (!chosen->program.empty()) hand_over(chosen->program, word, argv);
  }
  if (!benchmark_flags.empty() && !chosen->benchmark_flags)
    refuse_extra(benchmark_flags.front(), path, app);
  for (const auto& flag : benchmark_flags) check_benchmark_flag(flag);
  if (auto* taken = chosen->benchmark_flags) *taken = std::move(benchmark_flags);

  try {
    std::ranges::reverse(words);  // the order that CLI11 wants
    app.parse(words);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);  // prints the help or the version
    return ExitCode::ok;
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining(true);
    refuse_extra(extras.empty() ? "" : extras.front(), path, *at);
  } catch (const CLI::ParseError& error) {
    // What is missing, or where it should not be, may follow a misspelt flag.
    for (const std::string& word : app.remaining(true))
      if (word.starts_with('-')) refuse_extra(word, path, *at);
    fail(ExitCode::bad_input, "{}: see `fathom{} --help`.", complaint(error), path);
  }
  if (const auto act = acts.find(chosen); act != acts.end()) return act->second();
  fmt::print("{}", at->help(path.empty() ? "" : "fathom"));
  return ExitCode::ok;
}

/// To standard error, of which the reader may have gone too: then nobody is told, where fmt::print
/// would throw. A sentence may quote arguments and files, which hold anything.
void tell(const std::string& sentence) {
  std::fputs(("fathom: " + clean(sentence) + "\n").c_str(), stderr);
}

}  // namespace

void hand_over(const std::string& program, const std::string& command, const char* const* argv) {
  const std::filesystem::path folder = executable_folder();
  const std::string path = (folder / program).string();
  execv(path.c_str(), const_cast<char* const*>(argv));
  fail(ExitCode::setup_incomplete,
       "`fathom {0}` needs the program {1}, which cannot be started in {2} ({3}): in Fathom's "
       "source folder `./fathom {0}` builds it.",
       command, program, folder.string(), std::strerror(errno));
}

ExitCode run_command_line(int argc, const char* const* argv, const std::vector<Command>& commands,
                          const std::function<void(CLI::App&)>& describe) {
  ExitCode code = ExitCode::ok;
  try {
    code = understand_and_act(argc, argv, commands, describe);
  } catch (const std::system_error&) {
    if (std::ferror(stdout) == 0) throw;  // else it is what fmt says of a full disk
  }
  // Any other code says more than this one.
  if (code == ExitCode::ok) require_written_output();
  return code;
}

int run_program(int argc, const char* const* argv, const std::vector<Command>& commands) {
  open_standard_streams();
  end_on_interrupts();
  // A reader that goes away (`fathom run | head`) must not cost the measurement.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return to_int(run_command_line(argc, argv, commands));
  } catch (const Error& error) {
    tell(error.what());
    return to_int(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const bool full = error.code() == std::errc::no_space_on_device;
    tell(fmt::format("{}: choose another folder with --out.", error.what()));
    return to_int(full ? ExitCode::output_full : ExitCode::output_unwritable);
  } catch (const std::exception& error) {
    tell(fmt::format("This is a defect in Fathom, please report it: {}", error.what()));
    return to_int(ExitCode::incomplete);
  }
}

}  // namespace fathom
