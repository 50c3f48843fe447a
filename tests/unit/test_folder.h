#pragma once

#include "tests/testing.h"
#include "tools/programs.h"

namespace fathom {

using ::file_text;

/// A folder for one test, gone afterwards.
class TestFolder : public TemporaryFolder {
 public:
  TestFolder() : TemporaryFolder("set TMPDIR") {}
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
};

}  // namespace fathom
