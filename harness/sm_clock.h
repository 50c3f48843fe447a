#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <span>

#include "harness/cuda_handles.h"
#include "harness/timing_kernels.h"

// The SM clock that some work ran at, from the counters of the SMs themselves: NVML's readings are
// too far apart for a launch of a millisecond, and lag behind it.

namespace fathom {

/// Cycles a second from stamps before to stamps after, by SM: the mean over the SMs that both have
/// met. Nothing where they are nearer than 50 us: the nanoseconds move in steps of up to one
/// microsecond.
std::optional<double> clock_between(std::span<const SmStamp> before,
                                    std::span<const SmStamp> after);

/// Stamps of both ends of something on a stream.
class SmClock {
 public:
  /// Loads the kernel: nothing of it has to be loaded behind work that waits.
  explicit SmClock(cudaStream_t stream);
  /// Not before what was stamped last has ended on the stream.
  void begin();
  void end();
  /// Between the two. Waits for the stream.
  std::optional<double> hertz() const;

 private:
  cudaStream_t stream_;
  PinnedMemory<SmStamp>
      stamps_;  ///< of the beginning, then of the end; without any copy or fill to queue
};

}  // namespace fathom
