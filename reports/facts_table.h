#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/markdown.h"
#include "results/document.h"

namespace fathom::reports {

using FactList = std::vector<const Fact*>;

/// "L1 latency", Markdown.
std::string fact_title(const Fact& fact);

/// By how much a fact differs from the published figure, relative to that; nothing where a fact
/// lacks either, or no ratio says it.
std::optional<double> deviation(const Fact& fact);

/// One row each: value, interval, bound, published figure with source and deviation, method.
Table fact_table(const FactList& facts);

/// A sentence on each fact without a value.
std::vector<std::string> missing_facts(const FactList& facts);

/// What each fact rests on, its counters and its entries: a Markdown list; empty for nothing.
std::string evidence_of(const FactList& facts);

}  // namespace fathom::reports
