#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/json_fields.h"
#include "gate/run_metrics.h"

namespace fathom::gate {

// The kinds of document that the gate reads. Each fills `run`, whose origin is set; names are
// checked by the caller.

void parse_fathom(const Fields& document, RunMetrics& run);
void parse_google_benchmark(const Fields& document, RunMetrics& run);
void parse_baseline(const Fields& document, RunMetrics& run);
void parse_hyperfine(const Fields& document, RunMetrics& run);
void parse_pytest_benchmark(const Fields& document, RunMetrics& run);

/// The float32 samples of a file that a document names beside itself, given how many there should
/// be; nothing where there is no such file.
using SampleFiles =
    std::function<std::optional<std::vector<double>>(const std::string& name, double count)>;
void parse_nvbench(const Fields& document, RunMetrics& run, const SampleFiles& files);

/// Whether a text begins as one that parse_csv reads.
bool is_csv(std::string_view text);
void parse_csv(std::string_view text, RunMetrics& run);

/// A folder of Criterion's. Throws as read_run_metrics.
RunMetrics read_criterion(const std::filesystem::path& folder);

/// The identity of another program's run: its name, and FATHOM_MACHINE or the host. Where the file
/// names none, it is taken to be of the host that reads it.
Identity identity_of_program(const std::string& program, const std::string& host);

/// When a file was written: the date of a run that says none.
std::string date_of_file(std::filesystem::file_time_type time);

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
