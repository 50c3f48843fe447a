#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explain/trace.h"
#include "harness/counters/source_line.h"
#include "results/document.h"

namespace fathom::explain {

struct KernelCost;

/// Where warps waited: a source line, or an instruction without one.
struct Waiting {
  std::optional<SourceLine> source;
  std::uint64_t offset = 0;
  std::uint64_t samples = 0;  ///< in which a warp waited there
  std::map<std::string, std::uint64_t> by_reason;
};

/// What CUPTI measured of a kernel, in further runs of the program.
struct Measured {
  std::uint64_t launches = 0;            ///< counted
  std::map<std::string, double> counts;  ///< by role, all launches together
  std::vector<Waiting> waits;            ///< most samples first
  std::uint64_t samples = 0;             ///< in which a warp waited
};

/// By the function's name.
std::map<std::string, Measured> measured_in(const std::vector<Trace>& traces);

/// What this GPU can move, in bytes a second, as a result of the suite atlas measured it.
struct Bounds {
  std::map<std::string, double> by_level;  ///< "DRAM", "L2", "shared memory"; absent: not measured
  std::string source;                      ///< the result's file
};
Bounds bounds_of(const Document& atlas, const std::string& source);

/// Adds what accesses cost to the counters that count them, by role.
void add_counts(std::map<std::string, double>& counts, Space space, Op op, std::uint64_t cost,
                std::uint64_t least);

/// Lines of the answer: time and bandwidths against the bounds, counters against the recording, and
/// where warps waited. Empty if nothing was measured.
std::vector<std::string> measured_lines(const KernelCost& kernel, const Bounds& bounds);
nlohmann::ordered_json measured_json(const KernelCost& kernel, const Bounds& bounds);

}  // namespace fathom::explain
