#include "harness/toolkit_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

namespace fathom {

std::vector<std::filesystem::path> toolkit_library_files(
    const std::string& file, const char* environment_variable,
    const std::vector<std::string>& subfolders) {
  namespace fs = std::filesystem;
  const char* const named = std::getenv(environment_variable);
  if (named != nullptr && *named != '\0') return {fs::path(named) / file};

  std::vector<fs::path> files;
  const auto add_toolkit = [&](const char* toolkit) {
    if (toolkit == nullptr || *toolkit == '\0') return;
    for (const std::string& folder : subfolders) files.push_back(fs::path(toolkit) / folder / file);
  };
  add_toolkit(std::getenv("CUDA_HOME"));
  files.emplace_back(file);
  add_toolkit("/usr/local/cuda");
  add_toolkit("/opt/cuda");
  return files;
}

std::filesystem::path path_of_library(void* handle) {
  const link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

}  // namespace fathom
