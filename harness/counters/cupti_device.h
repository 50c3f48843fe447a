#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/counters/counter_problem.h"

namespace fathom {

/// Makes `device` current, creates its context, and initialises CUPTI's profilers, in this order:
/// the other way round CUPTI fails and the next CUDA call crashes. Throws CounterError or Error.
void initialise_profilers(int device);

/// The current CUDA context of this thread.
CUcontext current_context();

/// The chip's name by CUPTI, "GH100".
std::string chip_name(int device);

/// Why `device`, by its kind and the driver's settings, has no counters, or `none`.
CounterProblem device_problem(int device);

/// Which counters the device has free, for MetricHost. Fails while a profiler is enabled on it.
std::vector<std::uint8_t> counter_availability();

}  // namespace fathom
