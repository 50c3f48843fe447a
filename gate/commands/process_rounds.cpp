#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gate/commands/side_command.h"
#include "results/atomic_file.h"
#include "results/fail.h"
#include "results/format.h"
#include "tools/output_folder.h"

namespace fathom::gate {
namespace {

namespace fs = std::filesystem;

/// How a run of Fathom ends whose document is worth reading: complete, or with parts that failed,
/// whose metrics are then missing.
constexpr std::array usable_ends{ExitCode::ok,
                                 ExitCode::check_failed,
                                 ExitCode::incomplete,
                                 ExitCode::counters_unavailable,
                                 ExitCode::probe_crashed,
                                 ExitCode::probe_timed_out};

std::string last_words(const fs::path& log) {
  std::string line = last_line_of(log);
  while (line.ends_with('.')) line.pop_back();  // what follows ends the sentence
  return line.empty() ? "it said nothing" : "its last words: " + line;
}

bool is_usable(const SideCommand& command, const ProcessEnd& end) {
  if (end.signal != 0) return false;
  if (!command.is_build()) return end.status == 0;
  return std::any_of(usable_ends.begin(), usable_ends.end(),
                     [&](ExitCode code) { return to_int(code) == end.status; });
}

/// Else the folder would hold a mixture of two checks.
void refuse_earlier_rounds(const fs::path& folder) {
  std::error_code none;
  for (fs::directory_iterator place(folder, none); !none && place != fs::directory_iterator();
       place.increment(none)) {
    if (place->path().filename().string().starts_with("round-"))
      fail(
          ExitCode::bad_input,
          "{} holds rounds of an earlier check: choose another folder with --keep, or remove them.",
          folder.string());
  }
}

}  // namespace

ProcessRounds::ProcessRounds(SideCommand base, SideCommand head, fs::path folder,
                             std::chrono::milliseconds limit)
    : base_(std::move(base)), head_(std::move(head)), folder_(std::move(folder)), limit_(limit) {
  refuse_earlier_rounds(folder_);
  if (!base_.can_start_together() || !head_.can_start_together()) return;
  base_.start_together();
  head_.start_together();
}

double ProcessRounds::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

RunMetrics ProcessRounds::round(Side side, const std::vector<std::string>& only) {
  const SideCommand& command = side == Side::base ? base_ : head_;
  const fs::path place = folder_ / fmt::format("round-{:03}-{}", ++rounds_, to_string(side));
  make_folder(place, "--keep");
  const fs::path result = place / "result.json", log_path = place / "log.txt";
  ChildStart start = command.start(result, only);
  const double began = elapsed_s();
  SupervisedEnd end;
  {
    SignalInbox inbox(SignalInbox::Interrupts::collect);
    const FileDescriptor log = create_file(log_path);
    start.output = start.errors = log.get();
    ChildProcess child(start);
    end = supervise(child, inbox, {.limit = limit_, .line = {}});
  }
  fmt::print(stderr, "round {} ({}{}): {:.1f} s\n", rounds_, to_string(side),
             only.empty() ? "" : fmt::format(", {} again", counted(only.size(), "metric")),
             elapsed_s() - began);
  if (end.stopped == Stopped::interrupt)
    throw Error(ExitCode::interrupted, "Interrupted; nothing was decided.");
  const std::string which = fmt::format("Round {} of --{} ", rounds_, to_string(side));
  if (end.stopped == Stopped::time_limit)
    throw Error(ExitCode::inconclusive,
                which + fmt::format("was ended after {}, the lesser of --round-limit and "
                                    "--time-limit: raise it, or see why the command takes so "
                                    "long; {}.",
                                    format_time(std::chrono::duration<double>(limit_).count()),
                                    last_words(log_path)));
  if (!is_usable(command, end.end)) {
    const bool not_found = command.was_not_found(end.end);
    const std::string why = fmt::format(
        "{}ended with {}; {}{}.", which, end.end.describe(), last_words(log_path),
        not_found && command.is_one_word() ? ", and there is no folder of that name either" : "");
    if (!ended_well_.contains(side) && not_found) throw Error(ExitCode::bad_input, why);
    throw RoundFailed(why);
  }
  ended_well_.insert(side);
  // Nor may it be a pipe, on which a reader waits for as long as nobody writes. Criterion leaves a
  // folder.
  if (!fs::is_regular_file(result) && !fs::is_directory(result))
    throw Error(ExitCode::bad_input,
                which +
                    "left no result: the command must write one to the path that stands for "
                    "{out} in it, or in FATHOM_CHECK_OUT.");
  try {
    return read_run_metrics(result);
  } catch (const Error& error) {
    // The path names a folder that may be gone by the time it is read.
    fail(error.code(), "{}left no usable result, in a folder that --keep DIR keeps: {}", which,
         error.what());
  }
}

}  // namespace fathom::gate
