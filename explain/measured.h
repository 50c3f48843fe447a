#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explain/trace.h"
#include "results/document.h"

namespace fathom::explain {

struct KernelCost;

/// What this GPU can move, in bytes a second, as a result of the suite atlas measured it.
struct Bounds {
  std::map<std::string, double> by_level;  ///< "DRAM", "L2", "shared memory"; absent: not measured
  std::string source;                      ///< the result's file
};
Bounds bounds_of(const Document& atlas, const std::string& source);

/// "app.cu:12"; without a line "+0x0120".
std::string place(const std::optional<SourceLine>& source, std::uint64_t offset);
/// Its file, line and offset.
nlohmann::ordered_json place_json(const std::optional<SourceLine>& source, std::uint64_t offset);

/// Adds what accesses cost to the counters that count them, by role.
void add_counts(std::map<std::string, double>& counts, Space space, Op op, std::uint64_t cost,
                std::uint64_t least);

/// Lines of the answer: time and bandwidths against the bounds, counters against the recording, and
/// where warps waited. Empty if nothing was measured.
std::vector<std::string> measured_lines(const KernelCost& kernel, const Bounds& bounds);
nlohmann::ordered_json measured_json(const KernelCost& kernel, const Bounds& bounds);

}  // namespace fathom::explain
