#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "probes/copy_bandwidth/cases.h"

namespace fathom::copy_bandwidth {

std::string why_no_access(const std::string& compute_mode, const char* mps_pipe) {
  if (compute_mode.starts_with("exclusive"))
    return fmt::format(
        "the misaligned access needs a second process, and compute mode \"{}\" lets none use the "
        "GPU",
        compute_mode);
  if (mps_pipe != nullptr && *mps_pipe != '\0')
    return "the misaligned access was not made: under MPS (CUDA_MPS_PIPE_DIRECTORY is set) its "
           "fault would end other programs' work";
  return "";
}

AccessOutcome outcome_of(int wait_status) {
  const std::string process = "the process that makes the misaligned access ";
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    if (signal == SIGALRM)
      return {{}, fmt::format("{}did not end within {} s", process, misaligned_limit_s)};
    return {{}, fmt::format("{}was ended by signal {} ({})", process, signal, strsignal(signal))};
  }
  if (!WIFEXITED(wait_status)) return {{}, process + "ended in a way that is not known"};
  const int code = WEXITSTATUS(wait_status);
  if (code == to_int(ExitCode::check_failed)) return {1, ""};
  if (code == to_int(ExitCode::ok)) return {0, ""};
  return {{}, fmt::format("{}ended with exit code {}", process, code)};
}

void report(const AccessOutcome& outcome, Entry& entry) {
  if (!outcome.faults) {  // a counter says why it has no value, and claims take it from there
    Counter faults;
    faults.role = "faults";
    faults.unit = entry.metric.unit;
    faults.reason = outcome.reason;
    faults.expected = 1;
    entry.counters.push_back(std::move(faults));
    return;
  }
  const double faults = *outcome.faults;
  entry.extras["faults"] = faults;
  entry.metric.value = faults;
  entry.samples = {faults};
  entry.interval = Interval{faults, faults, 1, "a count is exact"};
}

}  // namespace fathom::copy_bandwidth
