#include "harness/toolkit_libraries.h"

#include <cstdlib>

namespace fathom {

std::vector<std::filesystem::path> toolkit_library_files(const std::string& file,
                                                         const char* environment_variable,
                                                         const std::string& build_folder,
                                                         const std::vector<std::string>& subfolders) {
  namespace fs = std::filesystem;
  const char* const named = std::getenv(environment_variable);
  if (named != nullptr && *named != '\0') return {fs::path(named) / file};

  std::vector<fs::path> files;
  if (!build_folder.empty()) files.push_back(fs::path(build_folder) / file);
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& toolkit : toolkits) {
    for (const std::string& folder : subfolders) files.push_back(toolkit / folder / file);
  }
  files.emplace_back(file);
  return files;
}

}  // namespace fathom
