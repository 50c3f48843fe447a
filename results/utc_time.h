#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// ISO 8601 in UTC to the second: "2026-01-31T12:00:00Z". Such texts sort by time.
std::string utc_time(std::chrono::system_clock::time_point time);

/// Such a text's time; nothing for any other text, for a day or an hour that does not exist, and
/// for a year that no clock shows: before 1971 or after 2200.
std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text);

/// The same without what a file's name should not have: "20260131T120000Z".
std::string utc_time_for_names(std::chrono::system_clock::time_point time);

}  // namespace fathom
