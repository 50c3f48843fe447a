#include "results/utc_time.h"

#include <fmt/chrono.h>

#include "results/parse_number.h"

namespace fathom {
namespace {

std::tm parts_of(std::chrono::system_clock::time_point time) {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(time));
}

}  // namespace

std::string utc_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts_of(time));
}

std::string utc_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", parts_of(time));
}

std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] != '0' && text[i] != form[i]) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) {
    return parse_number<unsigned>(text.substr(at, size));
  };
  const auto y = part(0, 4), mon = part(5, 2), d = part(8, 2);
  const auto h = part(11, 2), min = part(14, 2), s = part(17, 2);
  if (!y || !mon || !d || !h || !min || !s || *h > 23 || *min > 59 || *s > 59) return std::nullopt;
  const year_month_day date{year(static_cast<int>(*y)), month(*mon), day(*d)};
  if (!date.ok()) return std::nullopt;
  return sys_days(date) + hours(*h) + minutes(*min) + seconds(*s);
}

bool is_utc_time(std::string_view text) {
  using namespace std::chrono;
  const auto time = parse_utc_time(text);
  return time && *time >= sys_days(1971y / 1 / 1) && *time < sys_days(2201y / 1 / 1);
}

}  // namespace fathom
