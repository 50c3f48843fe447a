#pragma once

#include "gate/json_fields.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

// The three kinds of document that the gate reads. Each fills `run`, whose origin is set; names are
// checked by the caller.

void parse_fathom(const Fields& document, RunMetrics& run);
void parse_google_benchmark(const Fields& document, RunMetrics& run);
void parse_baseline(const Fields& document, RunMetrics& run);

/// The rows of a run's measurements; refuses more of them than any run has, since the gate holds
/// those of all runs at once.
simdjson::dom::array rows_of(const Fields& document, std::string_view key);

/// A run's date, by which runs are ordered. Refuses what is no time in UTC.
std::string date_of(std::string text, const Place& place);

/// The members of an object as texts, in its order; null is an empty text.
Identity identity_of(simdjson::dom::element element, const Place& place);

/// A metric's value is at most this, either way: powers and sums of such do not overflow.
inline constexpr double largest_value = 1e200;
/// And but for 0 at least this, which no clock counts and no quantity of a GPU reaches: anything
/// below would be the largest of improvements.
inline constexpr double smallest_value = 1e-18;

inline constexpr const char* baseline_key = "fathom_baseline";
inline constexpr int baseline_version = 2;  ///< 1 has no seconds

}  // namespace fathom::gate
