#pragma once

#include <chrono>
#include <string>

#include "results/error.h"

namespace fathom {

/// What a sample's timer is called that `host_seconds` took.
inline constexpr const char* host_timer_name = "steady_clock";

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds that `work` takes on the host, by its steady clock. For the costs of calls: what the GPU
/// does meanwhile counts only as far as `work` waits for it.
template <class Work>
double host_seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return seconds_since(start);
}

/// Asks `done` again and again, without sleeping, until it says yes. Throws Error(check_failed)
/// after `limit_s` seconds: a GPU that never answers must not hang the program.
template <class Done>
void spin_until(Done&& done, double limit_s) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    if (seconds_since(start) > limit_s) {
      throw Error(ExitCode::check_failed,
                  "The GPU did not answer within " + std::to_string(limit_s) + " seconds.");
    }
  }
}

}  // namespace fathom
