#include "results/utc_time.h"

#include <fmt/chrono.h>

#include <ctime>

namespace fathom {
namespace {

std::string text_of(const std::tm& parts) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts); }

}  // namespace

std::string utc_time(std::chrono::system_clock::time_point time) {
  return text_of(fmt::gmtime(time));
}

std::string utc_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(time));
}

std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  if (!strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts)) return std::nullopt;
  const std::chrono::sys_seconds time{std::chrono::seconds(timegm(&parts))};
  // timegm made 2 March of 30 February, so that the text is no longer the same.
  return text_of(parts) == text ? std::optional(time) : std::nullopt;
}

bool is_utc_time(std::string_view text) {
  using namespace std::chrono;
  const auto time = parse_utc_time(text);
  return time && *time >= sys_days(1971y / 1 / 1) && *time < sys_days(2201y / 1 / 1);
}

}  // namespace fathom
