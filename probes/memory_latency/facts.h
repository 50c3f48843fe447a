#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/rows.h"
#include "results/segmentation.h"

namespace fathom::memory_latency {

/// Latency of every level in cycles and in seconds; the L2's near and far parts; distributed shared
/// memory by cluster size.
std::vector<FactRow> latency_rows(std::span<const Entry> entries);

/// Sizes from the curves of latency over working set: L1 by carve-out, L2 and its partition, the
/// reach of the TLBs and what a miss of theirs costs.
std::vector<Fact> size_facts(std::span<const Entry> entries);

/// The regimes of the curve of latency over working set that `curve` selects; nothing if it has too
/// few points.
std::optional<Segmentation> regimes_of(std::span<const Entry> entries, const AxisFilter& curve);

/// Sizes of the constant caches, and of the instruction caches with what an instruction from each
/// costs.
std::vector<Fact> code_and_constant_facts(std::span<const Entry> entries);

// Sizes that no chase has to find out, since the driver says them. The cases carry them as extras,
// in bytes, so that a recording states them too.

inline constexpr const char* register_bytes = "register_bytes_per_sm";
inline constexpr const char* shared_bytes = "shared_bytes_per_sm";
inline constexpr const char* memory_bytes = "memory_bytes";

/// registers.size, shared.size, dram.size.
std::vector<Fact> driver_size_facts(std::span<const Entry> entries);

/// Line sizes of the L1 and the L2, and what a miss of each brings along.
std::vector<Fact> line_facts(std::span<const Entry> entries);

/// How many lines of a wide stride the L1 and the L2 keep, which says whether their sets are
/// hashed; and the slices of the L2.
std::vector<Fact> set_facts(std::span<const Entry> entries);

/// The fact that `decide` completes; what it returns is why there is no value, or empty.
template <class Decide>
Fact decided(FactName name, const Decide& decide) {
  Fact fact = named_fact(std::move(name));
  fact.reason = decide(fact);
  return fact;
}

// How a curve of latency over working set becomes sizes.

inline constexpr const char* working_set = "working set (B)";

/// A curve that was measured well enough to be cut, and its regimes.
struct Curve {
  std::vector<const Entry*> entries;
  std::optional<Segmentation> cut;  ///< empty: too few points
};
Curve curve(std::span<const Entry> all, const AxisFilter& filter,
            RampScale scale = RampScale::log2);

inline constexpr const char* no_curve =
    "its curve was left out of this run, or too much of it failed";

inline FactName size_name(std::string id, std::string subject) {
  return {std::move(id), std::move(subject), "size", "B"};
}

/// The curve's boundary as a size; where there is none, why not: `absent` says why there may be no
/// curve.
Fact size_at(const Curve& c, std::optional<std::size_t> boundary, FactName name,
             const char* absent = no_curve);

/// Why a curve has no boundary.
std::string no_change(const Curve& c, const char* absent = no_curve);

/// The boundary beyond which there are misses, if there is one. A regime whose latency is within
/// two percent of the first one's is still hits, however surely the two are told apart.
std::optional<std::size_t> end_of_hits(const Curve& c);

/// Where a curve changes its slope near `around`: the x at which two straight lines over
/// RampScale::share that meet there fit the medians of the points best by least squares. Points
/// further away than a factor of 1.3 do not count. Where a change of slope is slight, this is
/// steadier than the boundary between two regimes, which lies between two points. Nothing with
/// fewer than three points to either side.
std::optional<double> hinge(std::span<const CurvePoint> curve, double around);

// Entries of a sweep by the place on one of its axes.

using Points = std::map<std::int64_t, const Entry*>;

/// The entries that `filter` selects and that have a value, by the whole number on `axis`.
Points points_by(std::span<const Entry> entries, const AxisFilter& filter, const char* axis);

inline double latency_of(const Points::value_type& point) { return *point.second->metric.value; }

/// Adds these entries, and their samples, to what a fact rests on.
void add_evidence(Fact& fact, const Points& points);
void add_evidence(Fact& fact, const Curve& c);

}  // namespace fathom::memory_latency
