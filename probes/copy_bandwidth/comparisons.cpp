#include <fmt/format.h>
#include <sys/wait.h>

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

void report_access(int wait_status, std::string why_not, Entry& entry) {
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  const bool faulted = code == to_int(ExitCode::check_failed);
  if (why_not.empty() && !faulted && code != to_int(ExitCode::ok))
    why_not =
        fmt::format("the process that makes the misaligned access ended with {} {}",
                    code < 0 ? "signal" : "exit code", code < 0 ? WTERMSIG(wait_status) : code);
  if (why_not.empty())
    entry.metric.value = entry.extras["faults"] = faulted ? 1 : 0;
  else  // a counter says why it has no value, and claims take it from there
    entry.counters.push_back({"faults", "", entry.metric.unit, {}, why_not, 1, 0, ""});
}

}  // namespace fathom::copy_bandwidth
