#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "results/document.h"

namespace fathom {

namespace keys {

/// The object, in `context`, in each of `benchmarks` and at the top, in which Fathom's own part is.
inline const std::string own = "fathom";

/// What the names of a replay's entries begin with on disk.
inline const std::string replay_prefix = "REPLAY/";

}  // namespace keys

/// The words that a document uses for an enumeration, in its order.
template <typename Enum>
constexpr std::array<std::string_view, 0> enum_words{};

template <>
inline constexpr auto enum_words<Better> = std::to_array<std::string_view>({"higher", "lower"});
template <>
inline constexpr auto enum_words<Source> = std::to_array<std::string_view>({"measured", "replay"});
template <>
inline constexpr auto enum_words<VerdictStatus> = std::to_array<std::string_view>(
    {"ok", "noisy", "unexpected", "above_bound", "counter_mismatch", "wrong_output", "failed"});
template <>
inline constexpr auto enum_words<ProbeStatus> = std::to_array<std::string_view>(
    {"complete", "partial", "crashed", "timed_out", "failed", "interrupted"});
template <>
inline constexpr auto enum_words<ClaimVerdict> = std::to_array<std::string_view>(
    {"confirmed", "refuted", "conditional", "does_not_apply", "not_measured"});
template <>
inline constexpr auto enum_words<View::Kind> =
    std::to_array<std::string_view>({"plot", "table", "heat_map", "roofline", "steps"});

template <typename Enum>
requires(!enum_words<Enum>.empty()) std::string_view to_string(Enum value) {
  return enum_words<Enum>.at(static_cast<std::size_t>(value));
}

/// The value that a word stands for; nothing for another word.
template <typename Enum>
std::optional<Enum> from_string(std::string_view word) {
  const auto found = std::ranges::find(enum_words<Enum>, word);
  if (found == enum_words<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - enum_words<Enum>.begin());
}

}  // namespace fathom
