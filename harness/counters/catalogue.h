#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "results/error.h"

namespace fathom {

/// A hardware counter by what it means. Chips name the same thing differently, and some lack it, so
/// probes ask for roles and the catalogue says which of CUPTI's metrics answers on a chip.
struct Role {
  std::string name;  ///< "global_load_sectors"
  std::string unit;  ///< "sectors", "B", "%", "cycles", ...
  /// Whether the same launch gives the same count every time, so that an expectation may be tested
  /// for equality. False for anything that depends on cache state or on scheduling.
  bool exact = false;
  std::string metric;  ///< the usual one: unit__quantity_qualifiers.rollup
};

/// One counter of one launch.
struct CounterReading {
  std::string metric;             ///< "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
  std::string reason{};           ///< why there is no value; empty if there is
  std::optional<double> value{};  ///< in the role's unit
};

/// Every role, in the order in which a reader should see them. Those whose names begin with
/// "stall_" together break down what a warp does in each cycle between two issues.
std::span<const Role> roles();

/// The role of this name; throws Error(bad_input) for an unknown one.
const Role& role(std::string_view name);

/// What answers `role_name` on `chip`, by CUPTI's name of it, "GH100". The catalogue is of Turing
/// to Blackwell; a unit test holds it against CUPTI's list. What a chip lacks CUPTI rejects. Throws
/// Error(bad_input) for an unknown role.
std::string find_metric(std::string_view role_name, std::string_view chip);

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
