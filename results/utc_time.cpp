#include "results/utc_time.h"

#include <fmt/chrono.h>

#include <ctime>

namespace fathom {

std::string utc_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::string utc_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(time));
}

std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  if (!strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts)) return std::nullopt;
  // Before other years are counted in nanoseconds, which have no room for year 1.
  if (const int year = parts.tm_year + 1900; year < 1971 || year > 2200) return std::nullopt;
  const std::chrono::sys_seconds time{std::chrono::seconds(timegm(&parts))};
  // timegm made 2 March of 30 February, so that the text is no longer the same.
  return utc_time(time) == text ? std::optional(time) : std::nullopt;
}

}  // namespace fathom
