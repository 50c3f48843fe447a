#pragma once

#include <stdexcept>
#include <string>

namespace fathom {

/// The one table of process exit codes; README.md lists the same rows for users.
enum class ExitCode : int {
  ok = 0,
  check_failed = 1,           ///< above its bound, wrong output, an exact counter off; a regression
  bad_input = 2,              ///< unknown probe, flag or value; an output that is also an input
  gpu_required = 3,           ///< --require-gpu, and there is none
  inconclusive = 3,           ///< `fathom check`: it cannot be decided, or the two differ too much
  metric_missing = 4,         ///< `fathom check`: a metric of the baseline is not there
  incomplete = 5,             ///< results are missing, for more than one reason
  output_unwritable = 10,     ///< the output folder cannot be created or written
  output_full = 11,           ///< the output file system is full, or that of standard output
  document_malformed = 12,    ///< not JSON, truncated, or not what the schema says
  document_version = 13,      ///< a result document of another schema version
  no_driver = 14,             ///< no NVIDIA driver, or no GPU behind it
  driver_too_old = 15,        ///< the driver cannot run this build's CUDA
  gpu_out_of_memory = 16,     ///< the GPU has too little free memory
  gpu_busy = 17,              ///< another Fathom, or a process in exclusive mode, holds the GPU
  counters_unavailable = 18,  ///< hardware counters not permitted or not there
  partitioned_gpu = 19,       ///< MIG or vGPU limits what was asked for
  probe_crashed = 20,         ///< a probe ended by a signal or without its results
  probe_timed_out = 21,       ///< a probe hit its time limit
  gpu_lost = 22,              ///< the GPU fell off the bus or needs a reset
  setup_incomplete = 23,      ///< set-up or build incomplete
  interrupted = 130,          ///< Ctrl-C, SIGTERM or SIGHUP
};

constexpr int to_int(ExitCode code) { return static_cast<int>(code); }

/// Every failure that a user can meet: one clear sentence that says what to do about it, and the
/// exit code with which a program ends on it. Programs catch it in `main`, print `what()` on
/// standard error, and return `code()`.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace fathom
