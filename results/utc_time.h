#pragma once

#include <chrono>
#include <string>

namespace fathom {

/// ISO 8601 in UTC to the second: "2026-01-31T12:00:00Z". Such texts sort by time.
std::string utc_time(std::chrono::system_clock::time_point time);

/// The same without what a file's name should not have: "20260131T120000Z".
std::string utc_time_for_names(std::chrono::system_clock::time_point time);

}  // namespace fathom
