#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::reports {

/// What an answer of `fathom explain --format json` says of itself.
inline constexpr std::string_view explained_format = "fathom explain 1";

/// The answer that a text is, with its origin as member `origin`; nothing if it is no such answer.
/// Throws Error(document_malformed) naming what the page misses in it, or Error(document_version).
std::optional<nlohmann::json> read_explained(std::string_view text, const std::string& origin);

}  // namespace fathom::reports
