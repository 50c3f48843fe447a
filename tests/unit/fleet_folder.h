#pragma once

#include <stdlib.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace fathom {

/// A folder of its own for one test.
class FleetFolderForTest {
 public:
  FleetFolderForTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fathom-fleet-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~FleetFolderForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FleetFolderForTest(const FleetFolderForTest&) = delete;
  FleetFolderForTest& operator=(const FleetFolderForTest&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace fathom
