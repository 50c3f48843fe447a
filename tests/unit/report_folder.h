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

/// As on a machine without gnuplot: no program is found while this lives.
class EmptyPath {
 public:
  EmptyPath() : before_(std::getenv("PATH") ? std::getenv("PATH") : "") {
    setenv("PATH", "/nonexistent", 1);
  }
  ~EmptyPath() { setenv("PATH", before_.c_str(), 1); }
  EmptyPath(const EmptyPath&) = delete;
  EmptyPath& operator=(const EmptyPath&) = delete;

 private:
  std::string before_;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The page of a document, with or without pictures beside it.
inline std::string page_of(const Document& document, bool pictures = false) {
  const ReportFolder folder;
  if (pictures) return file_text(write_report(document, folder.path()).readme);
  const EmptyPath no_gnuplot;
  return file_text(write_report(document, folder.path()).readme);
}

}  // namespace fathom
