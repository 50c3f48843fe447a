#pragma once

#include <optional>
#include <string_view>

#include "results/document.h"

namespace fathom {

// The words that a document uses for its enumerations: "above_bound", "does_not_apply", ...

std::string_view to_string(Better value);
std::string_view to_string(Source value);
std::string_view to_string(VerdictStatus value);
std::string_view to_string(ProbeStatus value);
std::string_view to_string(ClaimVerdict value);
std::string_view to_string(View::Kind value);

/// The value that a word stands for; nothing for another word.
template <typename Enum>
std::optional<Enum> from_string(std::string_view word);

}  // namespace fathom
