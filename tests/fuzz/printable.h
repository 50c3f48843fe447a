#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

#include "results/error.h"
#include "results/text.h"

namespace fathom {

/// Whether nothing in an output is obeyed by a terminal or hidden from a reader, but for the
/// output's own line breaks. Most lines are ASCII, and clean() is slow under the sanitizers.
inline bool is_printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!std::all_of(line.begin(), line.end(), is_plain) && clean(line) != line) return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

/// Whether a CI server that reads it as a log finds nothing to do: no line begins a command.
inline bool has_no_command(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto start = line.find_first_not_of(' ');
    if (start != std::string::npos && line.compare(start, 2, "::") == 0) return false;
  }
  return log.find("##") == std::string::npos;
}

/// What a fuzzer takes for a defect ends it.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzzing: %s\n", what);
  std::abort();
}

inline void require_plain(std::string_view text) {
  require(is_printable(text), "printable text only");
}

inline void require_sentence(const Error& error, std::initializer_list<ExitCode> codes) {
  const std::string sentence = error.what();
  require(!sentence.empty() && sentence.size() < 2000, "a sentence of a sensible length");
  require(clean(sentence) == sentence, "one line of printable text");
  require(std::ranges::find(codes, error.code()) != codes.end(), "an exit code for bad input");
}

}  // namespace fathom
