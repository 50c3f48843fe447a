#include "results/names.h"

#include <array>
#include <utility>

namespace fathom {
namespace {

template <typename Enum>
constexpr int names = 0;

template <>
constexpr std::array names<Better>{std::pair{Better::higher, "higher"},
                                   std::pair{Better::lower, "lower"}};
template <>
constexpr std::array names<Source>{std::pair{Source::measured, "measured"},
                                   std::pair{Source::replay, "replay"}};
template <>
constexpr std::array names<VerdictStatus>{
    std::pair{VerdictStatus::ok, "ok"},
    std::pair{VerdictStatus::noisy, "noisy"},
    std::pair{VerdictStatus::unexpected, "unexpected"},
    std::pair{VerdictStatus::above_bound, "above_bound"},
    std::pair{VerdictStatus::counter_mismatch, "counter_mismatch"},
    std::pair{VerdictStatus::wrong_output, "wrong_output"},
    std::pair{VerdictStatus::failed, "failed"}};
template <>
constexpr std::array names<ProbeStatus>{std::pair{ProbeStatus::complete, "complete"},
                                        std::pair{ProbeStatus::partial, "partial"},
                                        std::pair{ProbeStatus::crashed, "crashed"},
                                        std::pair{ProbeStatus::timed_out, "timed_out"},
                                        std::pair{ProbeStatus::failed, "failed"},
                                        std::pair{ProbeStatus::interrupted, "interrupted"}};
template <>
constexpr std::array names<ClaimVerdict>{std::pair{ClaimVerdict::confirmed, "confirmed"},
                                         std::pair{ClaimVerdict::refuted, "refuted"},
                                         std::pair{ClaimVerdict::conditional, "conditional"},
                                         std::pair{ClaimVerdict::does_not_apply, "does_not_apply"},
                                         std::pair{ClaimVerdict::not_measured, "not_measured"}};
template <>
constexpr std::array names<View::Kind>{std::pair{View::Kind::plot, "plot"},
                                       std::pair{View::Kind::table, "table"},
                                       std::pair{View::Kind::heat_map, "heat_map"},
                                       std::pair{View::Kind::roofline, "roofline"},
                                       std::pair{View::Kind::steps, "steps"}};

template <typename Enum>
std::string_view name_of(Enum value) {
  for (const auto& [known, name] : names<Enum>) {
    if (known == value) return name;
  }
  return "unknown";
}

}  // namespace

std::string_view to_string(Better value) { return name_of(value); }
std::string_view to_string(Source value) { return name_of(value); }
std::string_view to_string(VerdictStatus value) { return name_of(value); }
std::string_view to_string(ProbeStatus value) { return name_of(value); }
std::string_view to_string(ClaimVerdict value) { return name_of(value); }
std::string_view to_string(View::Kind value) { return name_of(value); }

template <typename Enum>
std::optional<Enum> from_string(std::string_view word) {
  for (const auto& [value, name] : names<Enum>) {
    if (word == name) return value;
  }
  return std::nullopt;
}

template std::optional<Better> from_string<Better>(std::string_view);
template std::optional<Source> from_string<Source>(std::string_view);
template std::optional<VerdictStatus> from_string<VerdictStatus>(std::string_view);
template std::optional<ProbeStatus> from_string<ProbeStatus>(std::string_view);
template std::optional<ClaimVerdict> from_string<ClaimVerdict>(std::string_view);
template std::optional<View::Kind> from_string<View::Kind>(std::string_view);

}  // namespace fathom
