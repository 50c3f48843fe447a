#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fathom {

// Checks of a flag's value that answer in a user's words, for `fathom` and the probes; CLI11's own
// answer with the limits of a type.

/// A whole number of 64 bits within these limits.
CLI::Validator whole_number(std::uint64_t lowest = 0,
                            std::uint64_t highest = std::numeric_limits<std::uint64_t>::max());

/// A finite number.
CLI::Validator number();

/// A finite number above 0.
CLI::Validator positive_number();

/// A number of seconds above 0, at most 10^6.
CLI::Validator seconds();

/// 0 or more, with k, M, G, T, P for powers of 1000 or Ki, Mi, Gi, Ti, Pi for powers of 1024, and
/// `unit` ("B", "B/s", "FLOP") after it or not: "4GiB", "1.5 TB/s", "137e9". Hands the plain number
/// on.
CLI::Validator quantity(const std::string& unit);

/// A count from 1 on with such a suffix, or B for G, as models' sizes are written: "7B", "405e9".
CLI::Validator model_size();

/// What the CUDA runtime and file descriptors count with.
CLI::Validator ordinal();

/// For a path or another `noun`: an empty path, as an unset variable of a shell leaves, would name
/// the folder one is in.
CLI::Validator not_empty(const std::string& noun = "a path");

/// One of a few words; a misspelt one is answered with the closest. The validator is named
/// `one_of_words`, then the words with a space between, which completions read.
inline constexpr const char* one_of_words = "one of ";
CLI::Validator one_of(std::vector<std::string> words);

// The flags that most commands have; `kind` is what the help calls the value. The help shows what a
// variable holds as the flag's default, if that is above zero or not empty.

template <class Value>
CLI::Option* checked_flag(CLI::App& app, const char* flag, Value& value, const char* description,
                          const CLI::Validator& check, const char* kind) {
  CLI::Option* option = app.add_option(flag, value, description)->check(check)->type_name(kind);
  if constexpr (std::is_arithmetic_v<Value> || std::is_convertible_v<Value, std::string>)
    if (value > Value{}) option->capture_default_str();
  return option;
}

template <class Value>
CLI::Option* number_flag(CLI::App& app, const char* flag, Value& value, const char* description,
                         std::uint64_t lowest, std::uint64_t highest, const char* kind = "N") {
  return checked_flag(app, flag, value, description, whole_number(lowest, highest), kind);
}

template <class Value>
CLI::Option* word_flag(CLI::App& app, const char* flag, Value& value, const char* description,
                       std::vector<std::string> words, const char* kind = "NAME") {
  return checked_flag(app, flag, value, description, one_of(std::move(words)), kind);
}

template <class Value>
CLI::Option* path_flag(CLI::App& app, const char* flag, Value& value, const char* description,
                       const char* kind = "FILE") {
  return checked_flag(app, flag, value, description, not_empty(), kind);
}

/// " Did you mean `--suite`?" of a flag that the command does not have, or nothing.
std::string did_you_mean_flag(const CLI::App& app, const std::string& flag);

/// What CLI11 says of an argument, in a user's words and without a full stop; its own are "1
/// required N missing" and "Could not convert: --wait = x".
std::string complaint(const CLI::ParseError& error);

}  // namespace fathom
