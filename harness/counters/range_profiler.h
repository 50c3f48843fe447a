#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/counters/catalogue.h"
#include "harness/counters/counters_active.h"

namespace fathom {

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
