#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom {

// Checks of a flag's value that answer in a user's words; CLI11's own answer with the limits of a
// type.

/// A whole number of at most 18 digits that is at least `lowest`.
CLI::Validator whole_number(std::uint64_t lowest = 0);

/// The same with a highest value: "8 to 64".
CLI::Validator whole_number(std::uint64_t lowest, std::uint64_t highest);

/// A finite number above 0.
CLI::Validator positive_number();

/// A number of seconds above 0, at most 10^6.
CLI::Validator seconds();

/// One of a few words; a misspelt one is answered with the closest.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace fathom
