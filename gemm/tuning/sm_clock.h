#pragma once

#include <cuda_runtime.h>

#include <memory>

// The SM clock that a launch ran at, from the counters of the SMs themselves: NVML's readings are
// too far apart for a launch of a millisecond.

namespace fathom::gemm {

/// Stamps of both ends of something on a stream: on every SM that a small kernel meets, its cycles
/// and the nanoseconds that all SMs share.
class SmClock {
 public:
  explicit SmClock(cudaStream_t stream);
  ~SmClock();
  void begin();
  void end();
  /// Cycles a second between the two: the mean over the SMs that both stamps met. Waits for the
  /// stream. 0 if there is none.
  double hertz() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::gemm
