#pragma once

namespace fathom {

/// Whether a profiler session is alive in this program. Nothing may be timed then: the profiler
/// fixes clocks, serialises kernels and adds work of its own to each launch.
bool counters_active();

/// Held by each profiler session for as long as it lives.
class CountersActive {
 public:
  CountersActive();
  ~CountersActive();
  CountersActive(const CountersActive&) = delete;
  CountersActive& operator=(const CountersActive&) = delete;
};

}  // namespace fathom
