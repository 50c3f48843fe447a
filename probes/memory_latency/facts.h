#pragma once

#include "results/findings.h"
#include "results/statistics.h"

namespace fathom::memory_latency {

/// From the curves of latency over working set: L1 by carve-out, L2 and its partition, TLBs.
std::vector<Fact> size_facts(std::span<const Entry> entries);

std::vector<Fact> code_and_constant_facts(std::span<const Entry> entries);

/// registers.size, shared.size, dram.size: cases carry what the driver says as extras, in bytes.
std::vector<Fact> driver_size_facts(std::span<const Entry> entries);
inline constexpr const char *register_bytes = "register_bytes_per_sm",
                            *shared_bytes = "shared_bytes_per_sm", *memory_bytes = "memory_bytes";

/// The line size of the L1 and the L2, what a miss brings along, and how many lines of a wide
/// stride each keeps, which says whether its sets are hashed; and the slices of the L2.
std::vector<Fact> cache_facts(std::span<const Entry> entries);

/// The entries of a level's own latency.
inline AxisFilter at(const char* level, const char* instruction,
                     const char* method = "unrolled chase") {
  return {{"sweep", "latency"}, {"level", level}, {"instruction", instruction}, {"method", method}};
}

/// The fact that `decide` completes; what it returns is why there is no value, or empty.
template <class Decide>
Fact decided(Fact fact, const Decide& decide) {
  fact.reason = decide(fact);
  return fact;
}

inline constexpr const char* working_set = "working set (B)";

/// A curve as far as it was measured, and its regimes: none of too few points.
struct Curve {
  std::vector<const Entry*> entries;
  std::optional<Segmentation> cut;
  bool ends(std::size_t regime) const { return cut && regime < cut->regimes.size() - 1; }
};
Curve curve(std::span<const Entry> all, const AxisFilter& filter,
            RampScale scale = RampScale::log2);

/// Which regimes are plateaus: levels, but for the ramps between them.
std::vector<std::size_t> plateaus(const Curve& c);
inline bool is_plateau(const Regime& regime) { return regime.kind == Regime::Kind::plateau; }

inline constexpr const char* no_curve =
    "its curve was left out of this run, or too much of it failed";
inline constexpr std::size_t no_end = -1;

inline Fact size_name(std::string id, std::string subject) {
  return {std::move(id), std::move(subject), "size", "B"};
}

/// The end of a regime as a size; where there is none, why not: `absent` says why there may be no
/// curve.
Fact size_at(const Curve& c, std::size_t regime, Fact fact, const char* absent = no_curve);

/// Why a curve has only one regime.
std::string no_change(const Curve& c, const char* absent = no_curve);

/// The last regime before there are misses, or `no_end`. One whose latency is within two percent of
/// the first one's is still hits, however surely the two are told apart.
std::size_t end_of_hits(const Curve& c);

/// Stretches a fact's interval to hold the value too.
void widen(Fact& fact, double value);

template <class Entries>
void add_evidence(Fact& fact, const Entries& entries) {
  for (const Entry* entry : entries) {
    fact.evidence.push_back(entry->name);
    fact.repeats += static_cast<int>(entry->samples.size());
  }
}

}  // namespace fathom::memory_latency
