#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gate/check.h"
#include "results/error.h"
#include "tools/child_process.h"
#include "tools/command_line.h"

namespace fathom {

/// What the program fathom-gate has. Its errors are told as `gate_error` says.
std::vector<Command> gate_commands();

/// `check`: adds its flags to `app` and returns what it does.
std::function<ExitCode()> add_check(CLI::App& app);

/// The same as text for a log, since errors quote files and logs. A document that is malformed or
/// of another version is bad input: the exit codes of the gate are few.
Error gate_error(const Error& error);

namespace gate {

/// Those of `fathom` that a folder of a build holds, the one that is run first.
std::vector<std::filesystem::path> programs_of_build(const std::filesystem::path& build);

/// How a side of a paired check is run: a build of Fathom (the folder given to `cmake --build`, or
/// an installed prefix), or a shell command that writes a result for read_run_metrics to {out}.
/// {filter} is a regular expression of the names wanted, "." for all. Both are quoted for the
/// shell, and are also in the environment: FATHOM_CHECK_OUT, FATHOM_CHECK_FILTER, and
/// FATHOM_CHECK_SIDE ("base" or "head"). A build is run without counters, which the gate does not
/// read, with all probes started at once, and samples each case for a limited time, since rounds
/// differ by more than samples do.
struct SideCommand {
  /// `suite` is of a build only. Throws Error(bad_input) for a folder that holds no `fathom`, and
  /// for a command that has {out} or {filter} between quotes.
  SideCommand(Side side, std::string build_or_command, std::string suite = "quick");

  bool is_build() const { return !program.empty(); }
  /// Whether it runs less where less is asked for.
  bool can_select() const;
  /// What to start for one round, which leaves `result`.
  ChildStart start(const std::filesystem::path& result, const std::vector<std::string>& only) const;

  Side side;
  std::filesystem::path program;  ///< of a build
  std::string command, suite;
  bool start_together = false;
};

/// A regular expression (POSIX extended, ECMAScript or RE2 alike) that finds these names, with
/// what Google Benchmark appends, and the entries of ratios to opponents. "." for none.
std::string filter_for(const std::vector<std::string>& names);

/// A text as one word of a POSIX shell.
std::string shell_quoted(const std::string& text);

/// Rounds of two commands, one process after the other, each in its own folder with its log.
class ProcessRounds : public RoundSource {
 public:
  /// Throws Error(bad_input) for a folder that holds rounds already.
  ProcessRounds(SideCommand base, SideCommand head, std::filesystem::path folder, double limit_s);

  /// Throws, with the last words of its log: Error(interrupted), Error(inconclusive) for a round
  /// that ended badly or took too long, Error(bad_input) for no command or no result.
  RunMetrics round(Side side, const std::vector<std::string>& only) override;
  double elapsed_s() const override;
  bool can_select() const override { return base_.can_select() && head_.can_select(); }

 private:
  SideCommand base_, head_;
  std::filesystem::path folder_;
  double limit_s_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int rounds_ = 0;
};

}  // namespace gate
}  // namespace fathom
