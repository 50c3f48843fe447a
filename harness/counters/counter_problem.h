#pragma once

#include <string>

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

/// Counters that cannot be had, for any reason but `none`. `what()` says in one sentence what is
/// wrong and what to do, with `detail` behind it.
class CounterError : public Error {
 public:
  explicit CounterError(CounterProblem problem, const std::string& detail = "");
};

}  // namespace fathom
