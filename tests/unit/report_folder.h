#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "reports/report.h"

namespace fathom {

/// A folder for one test's report, gone afterwards.
class ReportFolder {
 public:
  ReportFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "fathom-report-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~ReportFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The page of a document.
inline std::string page_of(const Document& document) {
  const ReportFolder folder;
  return file_text(write_report(document, folder.path()).readme);
}

}  // namespace fathom
