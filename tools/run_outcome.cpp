#include "tools/run_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <set>

namespace fathom {
namespace {

/// What a probe program may end with; anything else is no answer of ours.
std::optional<ExitCode> known_code(int status) {
  for (const ExitCode code :
       {ExitCode::ok, ExitCode::check_failed, ExitCode::bad_input, ExitCode::output_unwritable,
        ExitCode::output_full, ExitCode::no_driver, ExitCode::driver_too_old,
        ExitCode::gpu_out_of_memory, ExitCode::gpu_busy, ExitCode::counters_unavailable,
        ExitCode::partitioned_gpu, ExitCode::probe_crashed, ExitCode::gpu_lost,
        ExitCode::interrupted})
    if (to_int(code) == status) return code;
  return std::nullopt;
}

std::string with_last_words(std::string reason, const std::string& last_words) {
  return last_words.empty() ? reason
                            : fmt::format("{}; the last line of its log: {}", reason, last_words);
}

}  // namespace

ProbeOutcome judge_probe(const SupervisedEnd& ended, const std::optional<Document>& left,
                         const std::string& last_words, std::chrono::seconds limit) {
  const auto& end = ended.end;
  const ProbeSummary* summary = left && !left->probes.empty() ? &left->probes.front() : nullptr;
  const bool finished = end.signal == 0 && summary && summary->status == ProbeStatus::complete;

  if (end.unkillable)
    return {ProbeStatus::timed_out,
            fmt::format("it hit its time limit of {} s and cannot be ended, since the driver holds "
                        "it: the GPU needs a reset",
                        limit.count()),
            ExitCode::gpu_lost};
  if (ended.stopped == Stopped::interrupt && !finished)
    return {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
  if (ended.stopped == Stopped::time_limit && !finished)
    return {
        ProbeStatus::timed_out,
        with_last_words(fmt::format("it hit its time limit of {} s (--time-limit)", limit.count()),
                        last_words),
        ExitCode::probe_timed_out};
  if (end.signal != 0)
    return {ProbeStatus::crashed, with_last_words("it was ended by " + end.describe(), last_words),
            ExitCode::probe_crashed};

  const auto code = known_code(end.status);
  if (!code || *code == ExitCode::probe_crashed)
    return {ProbeStatus::crashed, with_last_words("it ended with " + end.describe(), last_words),
            ExitCode::probe_crashed};
  if (finished) return {ProbeStatus::complete, "", *code};
  if (*code == ExitCode::ok || *code == ExitCode::check_failed)
    return {ProbeStatus::crashed,
            with_last_words("it ended without its complete results", last_words),
            ExitCode::probe_crashed};
  if (*code == ExitCode::interrupted)
    return {ProbeStatus::interrupted, "interrupted from outside", *code};
  return {left && !left->entries.empty() ? ProbeStatus::partial : ProbeStatus::failed,
          last_words.empty() ? "it ended with " + end.describe() : last_words, *code};
}

bool stops_the_run(ExitCode cause) {
  switch (cause) {
    case ExitCode::interrupted:
    case ExitCode::gpu_lost:
    case ExitCode::output_unwritable:
    case ExitCode::output_full:
    case ExitCode::no_driver:
    case ExitCode::driver_too_old:
      return true;
    default:
      return false;
  }
}

ExitCode combined_exit_code(const std::vector<ExitCode>& causes) {
  std::set<ExitCode> distinct(causes.begin(), causes.end());
  distinct.erase(ExitCode::ok);
  if (distinct.empty()) return ExitCode::ok;
  if (distinct.contains(ExitCode::interrupted)) return ExitCode::interrupted;
  // A figure that is wrong must not hide behind one that is missing.
  if (distinct.contains(ExitCode::check_failed)) return ExitCode::check_failed;
  return distinct.size() == 1 ? *distinct.begin() : ExitCode::incomplete;
}

}  // namespace fathom
