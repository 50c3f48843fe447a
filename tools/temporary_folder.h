#pragma once

#include <filesystem>
#include <string>

namespace fathom {

/// A folder of its own for temporary files, which goes with its contents when this does.
class TemporaryFolder {
 public:
  /// Throws Error(output_unwritable) if there can be none, with `instead` as what to do then.
  explicit TemporaryFolder(const std::string& instead);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fathom
