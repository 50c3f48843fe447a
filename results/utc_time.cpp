#include "results/utc_time.h"

#include <fmt/chrono.h>

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

}  // namespace fathom
