#pragma once

#include <string>
#include <string_view>

#include "results/error.h"

namespace fathom {

/// Why hardware counters cannot be had here, by what a user must do about it.
enum class CounterProblem {
  none,
  no_library,              ///< libcupti is not on this machine, or too old
  not_permitted,           ///< the driver reserves counters for administrators
  vgpu,                    ///< a virtual GPU that does not offer them, or not yet
  mig,                     ///< a MIG slice
  confidential_computing,  ///< the GPU runs in confidential computing mode
  mining_gpu,              ///< a CMP card
  sli,                     ///< an SLI group
  wsl,                     ///< Windows Subsystem for Linux
  unsupported_gpu,         ///< older than Turing, or a chip this CUPTI does not know
  busy,                    ///< another profiler has the counters
  driver_too_old,          ///< the driver is older than this CUPTI
  out_of_memory,
  failed,  ///< anything else
};

/// Short name for result documents and the doctor: "not_permitted".
std::string_view name(CounterProblem problem);

/// One sentence that says what is wrong and what to do; empty for `none`.
std::string sentence(CounterProblem problem);

/// The exit code of a program that was told to require counters; `ok` for `none`.
ExitCode exit_code(CounterProblem problem);

/// What a CUPTI result code means. Takes an int so that no header of Fathom's needs CUPTI's.
CounterProblem problem_of(int cupti_result);

/// A CUPTI call that failed. `what()` is the problem's sentence, with the call and its code added
/// where the problem is `failed`.
class CounterError : public Error {
 public:
  CounterError(CounterProblem problem, const std::string& detail = "");
  CounterProblem problem() const { return problem_; }

 private:
  CounterProblem problem_;
};

}  // namespace fathom
