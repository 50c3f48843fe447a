#include "explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <ranges>
#include <regex>

#include "reports/recordings.h"
#include "results/document_io.h"
#include "results/files.h"
#include "results/flag_checks.h"
#include "results/text.h"
#include "tools/child_process.h"
#include "tools/command_line.h"
#include "tools/programs.h"

namespace fathom::explain {
namespace {

namespace fs = std::filesystem;

constexpr char injection_variable[] = "CUDA_INJECTION64_PATH";

void require_tools(const Tools& tools, bool counters) {
  if (const char* const other = std::getenv(injection_variable); other != nullptr && *other != '\0')
    fail(ExitCode::bad_input, "{} is set ({}): one tool at a time can be in a program; unset it.",
         injection_variable, other);
  if (!fs::exists(tools.injection))
    throw Error(ExitCode::setup_incomplete,
                "This Fathom was built without Compute Sanitizer's headers: install the toolkit's "
                "part cuda-sanitizer (or the wheel nvidia-cuda-sanitizer-api) and build again.");
  const auto require = [](const fs::path& found, const char* name, const char* part,
                          const char* variable) {
    if (found.empty())
      fail(ExitCode::setup_incomplete,
           "There is no {}: install the toolkit's part {}, or let {} name the folder that has it.",
           name, part, variable);
  };
  require(tools.sanitizer, "libsanitizer-public.so", "cuda-sanitizer", "FATHOM_SANITIZER_DIR");
  if (counters) require(tools.cupti, "libcupti.so for --counters", "CUPTI", "FATHOM_CUPTI_DIR");
}

void require_regex(const std::string& kernel) {
  try {
    std::regex{kernel};
  } catch (const std::regex_error& error) {
    fail(ExitCode::bad_input, "--kernel {} is no regular expression: {}.", kernel, error.what());
  }
}

/// Runs the program as a shell does: with the same streams and group. While it runs Ctrl-C is the
/// program's alone, and what is sent to this process goes on to it.
ProcessEnd run_as_shell(std::vector<std::string> words, std::vector<std::string> settings) {
  static pid_t running;
  for (char** variable = environ; *variable != nullptr; ++variable) settings.push_back(*variable);
  std::map<int, void (*)(int)> before;  // what signals did
  for (const int signal : {SIGINT, SIGQUIT}) before[signal] = std::signal(signal, SIG_IGN);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&running, words[0].c_str(), nullptr, &attributes,
                                 pointers_to(words).data(), pointers_to(settings).data());
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (error == 0) {
    for (const int signal : {SIGTERM, SIGHUP})
      before[signal] = std::signal(signal, [](int number) { kill(running, number); });
    while (waitpid(running, &status, 0) < 0 && errno == EINTR) {
    }
  }
  for (const auto& [signal, action] : before) std::signal(signal, action);
  if (error != 0) fail(ExitCode::bad_input, "Cannot start {}: {}.", words[0], std::strerror(error));
  return WIFSIGNALED(status) ? ProcessEnd{0, WTERMSIG(status)} : ProcessEnd{WEXITSTATUS(status), 0};
}

ProcessEnd run_program(const ExplainArguments& arguments, const fs::path& library,
                       const fs::path& folder, std::vector<std::string> settings) {
  settings.push_back(fmt::format("{}={}", injection_variable, fs::absolute(library).string()));
  settings.push_back("FATHOM_EXPLAIN_FOLDER=" + folder.string());
  settings.push_back("FATHOM_EXPLAIN_KERNEL=" + arguments.kernel);
  settings.push_back(fmt::format("FATHOM_EXPLAIN_LAUNCHES={}", arguments.launches));
  return run_as_shell(arguments.program, std::move(settings));
}

/// Why there is nothing to explain.
Error nothing_recorded(const ExplainArguments& arguments, const Trace& trace) {
  const std::string& program = arguments.program.front();
  if (!trace.notes.empty())
    return {ExitCode::setup_incomplete,
            fmt::format("Nothing was recorded: {}.", clean(trace.notes.front()))};
  if (trace.processes == 0)
    return {
        ExitCode::incomplete,
        fmt::format("{} did not use CUDA, or found no GPU: there is nothing to explain.", program)};
  if (trace.totals.empty())
    return {ExitCode::incomplete, fmt::format("{} launched no kernel to its end.", program)};
  std::vector<std::string> functions;
  constexpr std::size_t most = 5;
  for (const auto& [function, launches] : trace.totals | std::views::take(most))
    functions.push_back(quotable(source_name(function), longest_name));
  return {ExitCode::incomplete,
          fmt::format("No kernel matches --kernel {}; {} launched {}, for example.",
                      arguments.kernel, program, fmt::join(functions, ", "))};
}

/// From the recording of the first GPU that was measured and has one.
Bounds recorded_bounds(const std::vector<std::string>& gpus) {
  for (const std::string& gpu : gpus) {
    const fs::path recorded = reports::document_in(
        reports::Recordings(executable_folder() / "../share/fathom/recordings", gpu, "atlas")
            .first);
    if (!recorded.empty())
      return bounds_of(read_document(recorded), recorded.lexically_normal().string());
  }
  return {};
}

}  // namespace

ExitCode explain_command(const ExplainArguments& arguments, const Tools& tools) {
  if (arguments.program.empty() || arguments.program.front().empty())
    throw Error(ExitCode::bad_input,
                "Name a program: `fathom explain [FLAGS] -- ./app ARGUMENTS`.");
  require_regex(arguments.kernel);
  require_tools(tools, arguments.counters);
  Bounds bounds;
  if (!arguments.bounds.empty())
    bounds = bounds_of(read_document(arguments.bounds), arguments.bounds.string());
  std::optional<OutputFile> out = writable_output(arguments.out);
  const TemporaryFolder folder("let TMPDIR name one that can be written");
  const auto start = std::chrono::steady_clock::now();
  ProcessEnd end = run_program(arguments, tools.injection, folder.path(),
                               {"FATHOM_EXPLAIN_SANITIZER=" + tools.sanitizer.string(),
                                fmt::format("FATHOM_EXPLAIN_BLOCKS={}", arguments.blocks)});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (arguments.counters && end.signal == 0 && !fs::is_empty(folder.path()))
    for (const char* const what : {"counters", "stalls"}) {
      const ProcessEnd again = run_program(arguments, tools.measure, folder.path(),
                                           {"FATHOM_CUPTI_DIR=" + tools.cupti.string(),
                                            fmt::format("FATHOM_EXPLAIN_MEASURE={}", what)});
      if (again.signal == 0) continue;
      end = again;  // Ctrl-C ends all runs
      break;
    }

  Trace trace;
  for (const fs::directory_entry& file : fs::directory_iterator(folder.path()))
    read_trace(file.path(), trace);
  if (bounds.source.empty() && !trace.launches.empty()) bounds = recorded_bounds(trace.gpus);
  Explanation explanation = explain(trace, tools.find_line, bounds);
  const auto own = static_cast<ExitCode>(end.signal != 0 ? 128 + end.signal : end.status);
  if (explanation.kernels.empty()) {
    const Error why = nothing_recorded(arguments, trace);
    if (own == ExitCode::ok) throw why;
    throw Error(own, fmt::format("{} ended with {}. {}", arguments.program.front(), end.describe(),
                                 why.what()));
  }
  explanation.command = fmt::format("{}", fmt::join(arguments.program, " "));
  explanation.seconds = took.count();
  explanation.end = end.describe();
  const std::string page = page_of(explanation, bounds.source, arguments.format);
  if (out)
    out->write(page);
  else
    std::fputs(page.c_str(), stderr);
  return own;
}

std::vector<Command> explain_commands(const Tools& tools, const std::vector<std::string>& program) {
  const auto add = [tools, program](CLI::App& app) {
    const auto arguments = std::make_shared<ExplainArguments>();
    app.add_option("PROGRAM", arguments->program,
                   "The program, if it needs no flags: else after --");
    checked_flag(app, "--kernel", arguments->kernel,
                 "Only kernels in whose name this regular expression is found",
                 not_empty("a regular expression"), "REGEX");
    checked_flag(app, "--launches", arguments->launches,
                 "Launches of each kernel to record, the first", whole_number(1), "N");
    checked_flag(app, "--blocks", arguments->blocks,
                 "Blocks of each launch to record, spread over its grid; 0: all", whole_number(0),
                 "N");
    app.add_flag("--counters", arguments->counters,
                 "Run the program twice more, for hardware counters and for where its warps wait");
    checked_flag(
        app, "--bounds", arguments->bounds,
        "What this GPU can move, for --counters: a result of `fathom run --suite atlas` (default: "
        "the recording of such a GPU)",
        CLI::ExistingFile, "RESULT")
        ->needs("--counters");
    word_flag(app, "--format", arguments->format, "text, md or json", {"text", "md", "json"});
    path_flag(app, "--out", arguments->out,
              "File for the answer (default: standard error, after what the program wrote)");
    app.footer(
        "Records the addresses of a program's loads and stores, and says by source line what they\n"
        "cost in sectors and wavefronts, and what would cost less. No counters are needed, but\n"
        "Compute Sanitizer's library, and line information (nvcc -lineinfo). With --counters the\n"
        "hardware's own counts stand beside. The exit code is the program's own.\n\n"
        "Examples:\n"
        "  fathom explain ./app\n"
        "  fathom explain --kernel transpose --blocks 0 --format json --out why.json -- ./app -n "
        "4096\n");
    return [arguments, tools, program] {
      arguments->program.insert(arguments->program.end(), program.begin(), program.end());
      return explain_command(*arguments, tools);
    };
  };
  return {{.name = fathom::explain_command.name,
           .summary = fathom::explain_command.summary,
           .add = add}};
}

}  // namespace fathom::explain
