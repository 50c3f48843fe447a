#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/counters/catalogue.h"

struct CUpti_Profiler_Host_Object;

namespace fathom {

/// The half of CUPTI that needs no GPU: it knows each chip's metrics, schedules them into passes
/// and evaluates what the passes brought. All calls throw CounterError.
class MetricHost {
 public:
  /// `availability` is the device's counter availability image; empty without a GPU, for a chip
  /// that this CUPTI knew when it was released.
  explicit MetricHost(const std::string& chip, std::vector<std::uint8_t> availability = {})
      : chip_(chip), availability_(std::move(availability)) {}

  /// Schedules metrics, each "unit__quantity.rollup", in place of those scheduled before. Returns
  /// those that the chip does not have; the others are scheduled. All in one call, since CUPTI
  /// gives every call passes of its own: one by one, 57 metrics of GH100 take 58 passes instead
  /// of 10.
  std::vector<std::string> schedule(const std::vector<std::string>& metrics);

  /// Metrics scheduled, in the order given.
  const std::vector<std::string>& metrics() const { return metrics_; }

  /// The schedule, as the range profiler takes it. Not for an empty list.
  std::vector<std::uint8_t> config_image() const;
  /// How many times the work must run for such a schedule.
  static std::size_t passes(std::span<const std::uint8_t> config_image);

  /// Values by metric in the range at `position` of a decoded counter data image. A metric that
  /// divides by a zero count gives NaN or infinity.
  std::map<std::string, double> evaluate(std::span<const std::uint8_t> counter_data,
                                         std::size_t position) const;

 private:
  struct Deleter {
    void operator()(CUpti_Profiler_Host_Object* object) const;
  };
  int add(const std::vector<std::string>& metrics);

  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::unique_ptr<CUpti_Profiler_Host_Object, Deleter> object_;
  std::vector<std::string> metrics_;
};

/// Collects one set of counters over any number of launches on one device.
///
/// While a session is alive, `counters_active()` is true and nothing may be timed. At most one
/// session (of this kind or of PcSampler) may be alive. Making one costs milliseconds, since it
/// schedules the counters and takes the profiler; `collect` may then be called as often as wanted,
/// so cases that ask for the same roles should share a session.
class CounterSession {
 public:
  using Readings = std::map<std::string, CounterReading>;  ///< one launch's, by role

  /// Tries everything that reading a counter needs, without a launch. What is wrong and what to do,
  /// or nothing. Throws only what is not about counters (no GPU, lost GPU).
  static std::string problem_on(int device);

  /// `roles` are names from the catalogue. A role that the chip lacks costs nothing and comes back
  /// with its reason. Throws CounterError, and Error(bad_input) for an unknown role.
  CounterSession(int device, std::span<const std::string> roles);
  ~CounterSession();

  /// Counts what the GPU does in `launch`, which must be idempotent: it runs `passes()` times, each
  /// with some of the counters. `prepare` runs before each pass and is not counted: it must leave
  /// the caches in the same state each time (flushed or warm); it may be empty. Both may be
  /// asynchronous: the device is synchronised after each. Gives a reading for every role, by name.
  /// Throws CounterError, and whatever the two functions throw.
  Readings collect(const std::function<void()>& prepare, const std::function<void()>& launch);

  /// The same for `count` launches, each counted for itself: `launch(i)` is the i-th, and so is its
  /// element of the result; `prepare(i)` runs before it, uncounted. Many share the cost of starting
  /// and stopping a pass, which is nearly all that `collect` costs. They run in groups of
  /// `largest_batch()`: a pass runs a whole group, in order.
  using Step = std::function<void(std::size_t)>;
  std::vector<Readings> collect_batch(const Step& prepare, std::size_t count, const Step& launch);

  /// The same for one kernel that is launched once, between the two calls, and may change what it
  /// reads: CUPTI runs it once a pass and puts the memory back. Needs a role that the chip has.
  void begin_kernel();
  Readings end_kernel();

  /// Launches that share a pass; 0 if the chip has none of the roles.
  std::size_t largest_batch() const;

  /// How often each is launched; 0 if the chip has none of the roles.
  std::size_t passes() const;

 private:
  struct State;
  CountersActive active_;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
