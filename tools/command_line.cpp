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
#include <iterator>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom {
namespace {

const char* const* given_arguments = nullptr;  // of this program

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

/// Adds the command's flags and the commands below it. The command that the command line names
/// acts once all is parsed.
void add_to(CLI::App& app, const Command& command, ExitCode& code) {
  if (!command.footer.empty()) app.footer(command.footer);
  if (command.add)
    app.final_callback([act = command.add(app), &code] { code = act(); });
  else
    app.final_callback([&app] {
      if (app.get_subcommands().empty())
        fmt::print("{}", app.help(app.get_parent() ? "fathom" : ""));
    });
  for (const Command& below : command.commands)
    add_to(*app.add_subcommand(below.name, below.summary), below, code);
}

/// What is wrong with the command line, as one sentence.
[[noreturn]] void refuse(const CLI::App& app, const Command& root, const CLI::ParseError& error) {
  const CLI::App* at = &app;
  const Command* command = &root;
  std::string path = root.name;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    command = &*std::ranges::find(command->commands, at->get_name(), &Command::name);
    path += " " + command->name;
  }
  // What is missing, or where it should not be, may follow a misspelt word.
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with('-')) {
      const std::string flag = word.substr(0, word.find('='));
      fail(ExitCode::bad_input, "`{0}` has no flag {1}.{2} `{0} --help` shows them all.", path,
           flag, did_you_mean_flag(*at, flag));
    }
    if (at == &app && word == "test")
      throw Error(ExitCode::bad_input,
                  "The tests are started by the script in Fathom's source folder: ./fathom test.");
    if (!command->commands.empty()) {
      std::vector<std::string> names = names_of(command->commands);
      std::ranges::sort(names);
      fail(ExitCode::bad_input, "There is no {} `{}`.{} `{} --help` shows them all.", command->noun,
           word, did_you_mean(word, names), path);
    }
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
      fail(ExitCode::bad_input, "`{0}` takes no argument `{1}`: see `{0} --help`.", path, word);
  }
  fail(ExitCode::bad_input, "{}: see `{} --help`.", complaint(error), path);
}

/// The only values that it takes; empty if there are others.
std::vector<std::string> choices_of(CLI::Option& option) try {
  const std::string name = option.get_validator()->get_name(), start = one_of_words;
  std::istringstream words(name.starts_with(start) ? name.substr(start.size()) : "");
  return {std::istream_iterator<std::string>(words), {}};
} catch (const CLI::OptionNotFound&) {  // it has no validator
  return {};
}

/// What a shell may offer in place of the last of these words, of which those before it are
/// complete: lines of a word, a tab and what it means. Where there is none, a shell offers files.
/// bash makes three words of --flag=value.
std::string completions(CLI::App& root, std::span<const std::string> words) {
  CLI::App* command = &root;
  CLI::Option* flag = nullptr;  // whose value the last word is
  std::size_t positionals = 0;  // that are given
  const auto value_flag = [&](const std::string& name) {
    CLI::Option* option = name.starts_with('-') ? command->get_option_no_throw(name) : nullptr;
    return option && option->get_type_size() != 0 ? option : nullptr;
  };
  for (const std::string& word : words.first(words.size() - 1)) {
    if (word == "=") continue;
    const bool is_value = std::exchange(flag, value_flag(word)) != nullptr;
    const auto below = command->get_subcommands([&](auto* app) { return app->get_name() == word; });
    if (!below.empty())
      command = below.front();
    else if (!is_value && !word.starts_with('-'))
      ++positionals;
  }
  const std::string& last = words.back();
  std::string text;
  const auto offer = [&](const std::string& word, const std::string& meaning) {
    if (word.starts_with(last)) text += fmt::format("{}\t{}\n", word, meaning);
  };
  const auto offer_values = [&](CLI::Option& option) {
    for (const std::string& choice : choices_of(option)) offer(choice, "");
  };
  if (flag) {
    offer_values(*flag);
    return text;
  }
  for (const CLI::App* below : command->get_subcommands([](CLI::App*) { return true; }))
    offer(below->get_name(), below->get_description());
  for (CLI::Option* option : command->get_options()) {
    if (last.starts_with('-')) {
      for (const auto& name : option->get_snames()) offer("-" + name, option->get_description());
      for (const auto& name : option->get_lnames()) offer("--" + name, option->get_description());
    } else if (option->get_positional() && positionals-- == 0) {
      offer_values(*option);
    }
  }
  return text;
}

/// The program itself, with its commands.
Command root_command(std::vector<Command> commands) {
  return {
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
      .commands = std::move(commands)};
}

ExitCode understand_and_act(int argc, const char* const* argv,
                            const std::vector<Command>& commands) {
  const Command root = root_command(commands);
  ExitCode code = ExitCode::ok;
  CLI::App app(root.summary, root.name);
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", fmt::format("fathom {} ({})", version(), commit()));
  add_to(app, root, code);
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool complete = words.size() > 1 && words.front() == "--complete";  // tools/completions
  if (complete) words.erase(words.begin());
  const auto named = std::ranges::find_if(words, [](auto& word) { return !word.starts_with('-'); });
  // A shell asks the program that has the command once the word itself is complete.
  if (named != words.end() && !(complete && named + 1 == words.end())) {
    const auto elsewhere = std::ranges::find(commands, *named, &Command::name);
    if (elsewhere != commands.end() && !elsewhere->program.empty())
      hand_over(elsewhere->program, elsewhere->name);
  }
  if (complete) {
    print_out(completions(app, words));
    return ExitCode::ok;
  }
  std::erase(words, "--");      // it may stand before Google Benchmark's flags, and need not
  std::ranges::reverse(words);  // the order that CLI11 wants
  try {
    app.parse(words);
  } catch (const CLI::Success& wanted) {
    app.exit(wanted);  // prints the help or the version
  } catch (const CLI::ParseError& error) {
    refuse(app, root, error);
  }
  return code;
}

/// To standard error, of which the reader may have gone too: then nobody is told, where fmt::print
/// would throw. A sentence may quote arguments and files, which hold anything.
void tell(const std::string& sentence) {
  std::fputs(("fathom: " + clean(sentence) + "\n").c_str(), stderr);
}

}  // namespace

void hand_over(const std::string& program, const std::string& command) {
  const std::filesystem::path folder = executable_folder();
  const std::string path = (folder / program).string();
  execv(path.c_str(), const_cast<char* const*>(given_arguments));
  fail(ExitCode::setup_incomplete,
       "`fathom {0}` needs the program {1}, which cannot be started in {2} ({3}): in Fathom's "
       "source folder `./fathom {0}` builds it.",
       command, program, folder.string(), std::strerror(errno));
}

int run_program(int argc, const char* const* argv, const std::vector<Command>& commands,
                Error (*as_told)(const Error&)) {
  given_arguments = argv;
  open_standard_streams();
  end_on_interrupts();
  // A reader that goes away (`fathom run | head`) must not cost the measurement.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    ExitCode code = ExitCode::ok;
    try {
      code = understand_and_act(argc, argv, commands);
    } catch (const std::system_error&) {
      if (std::ferror(stdout) == 0) throw;  // else it is what fmt says of a full disk
    }
    // Any other code says more than this one.
    if (code == ExitCode::ok) require_written_output();
    return to_int(code);
  } catch (const Error& error) {
    const Error told = as_told ? as_told(error) : error;
    tell(told.what());
    return to_int(told.code());
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
