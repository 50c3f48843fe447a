#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// The candidate that `word` is most likely a misspelling of: the least edit distance (insertions,
/// deletions, substitutions), if that is at most a third of the word's length
/// (without leading dashes) plus one, or else one that `word` begins or is part of.
std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

/// " Did you mean `copy_bandwidth`?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace fathom
