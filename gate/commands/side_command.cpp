#include "gate/commands/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/files.h"
#include "results/text.h"
#include "tools/programs.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* out_word = "{out}";
constexpr const char* filter_word = "{filter}";
constexpr const char* together_flag = "--start-together";

/// The words in one pass: a name in the filter may have "{out}" in it.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& words) {
  std::string result;
  while (!text.empty()) {
    const auto word = std::ranges::find_if(
        words, [&](const auto& entry) { return text.starts_with(entry.first); });
    const std::string_view here = word == words.end() ? text.substr(0, 1) : word->first;
    result += word == words.end() ? here : word->second;
    text.remove_prefix(here.size());
  }
  return result;
}

/// Whether a word stands between quotes of the command's own.
bool is_quoted(std::string_view command, std::string_view word) {
  char quote = '\0';
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char c = command[at];
    if (quote != '\0' && command.substr(at).starts_with(word)) return true;
    if (c == '#' && quote == '\0' &&
        (at == 0 || std::isspace(static_cast<unsigned char>(command[at - 1])) != 0)) {
      at = std::min(command.find('\n', at), command.size() - 1);
      continue;
    }
    if (c == '\\' && quote != '\'')
      ++at;
    else if (quote == '\0' && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = '\0';
  }
  return false;
}

/// Whether its result is worth reading: of a build also where parts failed, whose metrics are then
/// missing.
bool is_usable(const SideCommand& side, const ProcessEnd& end) {
  static const std::set usable{ExitCode::check_failed, ExitCode::incomplete,
                               ExitCode::counters_unavailable, ExitCode::probe_crashed,
                               ExitCode::probe_timed_out};
  if (end.signal != 0) return false;
  return end.status == 0 || (side.is_build() && usable.contains(static_cast<ExitCode>(end.status)));
}

/// Whether it is a build that knows `fathom run --start-together`.
bool can_start_together(const SideCommand& side) {
  if (!side.is_build()) return false;
  const auto help = run_and_capture(side.program, {"run", "--help"}, std::chrono::seconds(10));
  return help.output.find(together_flag) != std::string::npos;
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  return "'" + filled(text, {{"'", "'\\''"}}) + "'";
}

std::string filter_for(const std::vector<std::string>& names) {
  if (names.empty()) return ".";
  std::set<std::string> wanted(names.begin(), names.end());
  for (const std::string& name : names)
    if (const auto opponent = name.rfind(" vs "); opponent != std::string::npos)
      wanted.insert(name.substr(0, opponent));
  std::string filter;
  for (const std::string& name : wanted) {
    filter += filter.empty() ? "^(" : "|";
    for (const char c : name) {
      // Closing brackets need no escape, and POSIX knows none for them.
      if (std::string_view("\\^$.|?*+()[{").find(c) != std::string_view::npos) filter += '\\';
      filter += c;
    }
  }
  return filter + ")(/|$)";
}

std::vector<fs::path> programs_of_build(const fs::path& build) {
  std::vector<fs::path> programs{build / "bin" / "fathom", build / "fathom"};
  std::erase_if(programs, [](const fs::path& program) {
    std::error_code ignored;
    return !fs::is_regular_file(program, ignored) || access(program.c_str(), X_OK) != 0;
  });
  return programs;
}

SideCommand::SideCommand(Side side, std::string build_or_command, std::string suite)
    : side(side), command(std::move(build_or_command)), suite(std::move(suite)) {
  std::error_code ignored;
  if (fs::is_directory(command, ignored)) {
    const auto programs = programs_of_build(command);
    if (programs.empty())
      fail(ExitCode::bad_input,
           "--{} {} is a folder without bin/fathom: give a build of Fathom, or a command that "
           "writes its result to {{out}}.",
           to_string(side), command);
    program = fs::absolute(programs.front());
    return;
  }
  for (const char* word : {out_word, filter_word})
    if (is_quoted(command, word))
      fail(ExitCode::bad_input,
           "--{} has {} between quotes: it is quoted already, so write it without.",
           to_string(side), word);
}

bool SideCommand::can_select() const {
  return is_build() || command.find(filter_word) != std::string::npos ||
         command.find("FATHOM_CHECK_FILTER") != std::string::npos;
}

ChildStart SideCommand::start(const fs::path& result, const std::vector<std::string>& only) const {
  const std::string filter = filter_for(only), out = result.string();
  ChildStart start;
  if (!is_build()) {
    start.program = "/bin/sh";
    start.arguments = {"-c", filled(command, {{filter_word, shell_quoted(filter)},
                                              {out_word, shell_quoted(out)}})};
    start.environment = {{"FATHOM_CHECK_OUT", out},
                         {"FATHOM_CHECK_FILTER", filter},
                         {"FATHOM_CHECK_SIDE", std::string(to_string(side))}};
    return start;
  }
  start.program = program;
  start.arguments = {"run",           "--suite",       suite,         "--out", result.parent_path(),
                     "--require-gpu", "--no-counters", "--no-report", "--wait"};
  if (start_together) start.arguments.push_back(together_flag);
  start.environment = {{timed_only_variable, "1"}, {sampling_limit_variable, "0.1"}};
  std::set<std::string> probes;  // "copy_bandwidth" of "copy_bandwidth/type:float4/..."
  for (const std::string& name : only) probes.insert(name.substr(0, name.find('/')));
  for (const std::string& probe : probes)
    start.arguments.insert(start.arguments.end(), {"--probe", probe});
  if (!only.empty()) start.arguments.push_back("--benchmark_filter=" + filter);
  return start;
}

ProcessRounds::ProcessRounds(SideCommand base, SideCommand head, fs::path folder, double limit_s)
    : base_(std::move(base)),
      head_(std::move(head)),
      folder_(std::move(folder)),
      limit_s_(limit_s) {
  base_.start_together = head_.start_together =
      can_start_together(base_) && can_start_together(head_);
  std::error_code unknown;
  for (const char* round : {"round-001-base", "round-001-head"})
    if (fs::exists(folder_ / round, unknown))
      fail(
          ExitCode::bad_input,
          "{} holds rounds of an earlier check: choose another folder with --keep, or remove them.",
          folder_.string());
}

double ProcessRounds::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

RunMetrics ProcessRounds::round(Side side, const std::vector<std::string>& only) {
  const SideCommand& command = side == Side::base ? base_ : head_;
  const fs::path place = folder_ / fmt::format("round-{:03}-{}", ++rounds_, to_string(side));
  make_folder(place);
  const fs::path result = place / "result.json", log_path = place / "log.txt";
  ChildStart start = command.start(result, only);
  const double began = elapsed_s();
  ProcessEnd end;
  {
    SignalInbox inbox(SignalInbox::Interrupts::collect);
    const FileDescriptor log = create_file(log_path);
    start.output = start.errors = log.get();
    ChildProcess child(start);
    end = supervise(child, inbox,
                    {.limit = std::chrono::ceil<std::chrono::milliseconds>(
                         std::chrono::duration<double>(limit_s_))});
  }
  fmt::print(stderr, "round {} ({}{}): {:.1f} s\n", rounds_, to_string(side),
             only.empty() ? "" : fmt::format(", {} again", counted(only.size(), "metric")),
             elapsed_s() - began);
  if (end.stopped == Stopped::interrupt)
    throw Error(ExitCode::interrupted, "Interrupted; nothing was decided.");
  const std::string which = fmt::format("Round {} of --{}", rounds_, to_string(side));
  std::string said = last_line_of(log_path);
  while (said.ends_with('.')) said.pop_back();  // what follows ends the sentence
  said = said.empty() ? "it said nothing" : "its last words: " + said;
  if (end.stopped == Stopped::time_limit)
    fail(ExitCode::inconclusive,
         "{} was ended after {}, the whole --time-limit: raise it, or see why the command takes so "
         "long; {}.",
         which, format_time(limit_s_), said);
  if (!is_usable(command, end)) {
    // A POSIX shell's status where there is no such command, and where it may not run it.
    const bool not_found = end.signal == 0 && !command.is_build() &&
                           (end.status == 127 || end.status == 126) && rounds_ <= 2;
    fail(not_found ? ExitCode::bad_input : ExitCode::inconclusive, "{} ended with {}; {}.", which,
         end.describe(), said);
  }
  // Nor may it be a pipe, on which a reader waits for as long as nobody writes. Criterion leaves a
  // folder.
  if (!fs::is_regular_file(result) && !fs::is_directory(result))
    fail(ExitCode::bad_input,
         "{} left no result: the command must write one to the path that stands for {{out}} in "
         "it, or in FATHOM_CHECK_OUT.",
         which);
  return read_run_metrics(result);
}

}  // namespace fathom::gate
