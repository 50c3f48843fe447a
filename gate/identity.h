#pragma once

#include <span>
#include <string>
#include <vector>

#include "gate/run_metrics.h"

namespace fathom::gate {

/// What a comparison may be about, so that it must not stand in its way.
enum class Allowed {
  nothing,
  software  ///< toolkit, CUDA runtime, compatibility driver: what builds of one machine differ in
};

/// A fact of which two runs have another value each, in words.
struct Difference {
  std::string fact, before, after;
  std::string words() const { return fact + ": " + before + " and " + after; }
};

/// The facts of the identity, and the suite, that are not the same in both; that one is a run of
/// Fathom and the other is not is the only one then.
std::vector<Difference> differences_of(const RunMetrics& base, const RunMetrics& head,
                                       Allowed allowed = Allowed::nothing);

/// Why these runs cannot be compared: a replay among them, identities that differ. Each sentence
/// once; empty if they can.
std::vector<std::string> refusals_of(std::span<const RunMetrics> base,
                                     std::span<const RunMetrics> head,
                                     Allowed allowed = Allowed::nothing);

/// Whether a metric is the ratio to an opponent of the same run.
bool is_ratio(const std::string& unit, const std::string& name);

/// The run's ratios to opponents of the same run alone. They survive a change of machine: of the
/// identity only the GPU's model stays and the toolkit, with which the opponents come.
RunMetrics ratios_of(RunMetrics run);

/// Sixteen hexadecimal digits that stand for program, suite and identity: runs with the same are
/// comparable.
std::string identity_key(const RunMetrics& run);

/// Sixteen hexadecimal digits of a text: tells files apart, protects nothing.
std::string short_hash(const std::string& text);

/// The value of one fact; empty where there is none.
std::string fact_of(const RunMetrics& run, const std::string& name);

}  // namespace fathom::gate
