#pragma once

#include "tests/testing.h"

namespace fathom {

/// A text against the file that it was last seen in. After a change that is meant,
/// FATHOM_UPDATE_GOLDEN=1 writes the file anew: look at what `git diff` says of it then.
inline void check_golden(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("FATHOM_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << text;
    SUCCEED("written anew");
    return;
  }
  const std::string expected = file_text(path);
  CAPTURE(path);
  // The first line that differs says more than two whole pages.
  std::istringstream lines(text), expected_lines(expected);
  for (std::string line, wanted; std::getline(expected_lines, wanted);) {
    std::getline(lines, line);
    REQUIRE(line == wanted);
  }
  CHECK(text.size() == expected.size());
}

/// The same for a file of command lines, "$ fathom list --seed", and what `answer` says to the
/// words behind `program`. How many they are.
inline int check_answers(const std::filesystem::path& path, const std::string& program,
                         const std::function<std::string(const std::string&)>& answer) {
  std::string all;
  int count = 0;
  for (const std::string& line : lines_of(file_text(path))) {
    if (!line.starts_with("$ " + program + " ")) continue;
    INFO(line);
    all += line + "\n" + answer(line.substr(program.size() + 3));
    ++count;
  }
  check_golden(path, all);
  return count;
}

}  // namespace fathom
