#pragma once

#include <atomic>

#include "results/error.h"

namespace fathom {

/// Hardware counters that cannot be had here: what is wrong and what to do, in one sentence.
class CounterError : public Error {
 public:
  using Error::Error;
};

/// Held by each profiler session for as long as it lives.
class CountersActive {
 public:
  CountersActive() { ++sessions; }
  ~CountersActive() { --sessions; }
  CountersActive(const CountersActive&) = delete;
  CountersActive& operator=(const CountersActive&) = delete;

  static inline std::atomic<int> sessions = 0;
};

/// Whether a profiler session is alive in this program. Nothing may be timed then: the profiler
/// fixes clocks, serialises kernels and adds work of its own to each launch.
inline bool counters_active() { return CountersActive::sessions.load() > 0; }

}  // namespace fathom
