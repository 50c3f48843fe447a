#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "harness/energy.h"
#include "harness/host_timer.h"
#include "harness/telemetry.h"

namespace fathom {

/// A step of the energy counter is seen up to this late by who polls as often.
constexpr auto step_poll_period = std::chrono::microseconds(500);

/// The steps of the energy counter as they come, in seconds since a start.
class StepWatch {
 public:
  StepWatch(const TelemetrySampler& telemetry, std::chrono::steady_clock::time_point start)
      : telemetry_(telemetry), start_(start), last_(telemetry.energy_j()) {}

  /// Whether the GPU has such a counter; without one there are no steps.
  bool counts() const { return last_.has_value(); }

  void poll() {
    if (!counts()) return;
    const double before = seconds_since(start_);
    const std::optional<double> joules = telemetry_.energy_j();
    if (!joules || *joules == *last_) return;
    last_ = joules;
    // The counter had moved when the answer was made, which was in the middle of the call at a
    // guess.
    steps_.push_back({(before + seconds_since(start_)) / 2, *joules});
  }

  const std::vector<EnergyStep>& steps() const { return steps_; }

 private:
  const TelemetrySampler& telemetry_;
  std::chrono::steady_clock::time_point start_;
  std::optional<double> last_;
  std::vector<EnergyStep> steps_;
};

}  // namespace fathom
