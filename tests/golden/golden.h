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
  // The first line that differs says more than two whole pages.
  std::istringstream lines(text), expected_lines(expected);
  int number = 0;
  for (std::string line, wanted; std::getline(expected_lines, wanted);) {
    INFO(path.string() << ':' << ++number);
    std::getline(lines, line);
    REQUIRE(line == wanted);
  }
  CAPTURE(path);
  CHECK(text.size() == expected.size());
}

}  // namespace fathom
