#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fathom {

/// Files in which to look for a library of the CUDA toolkit that is loaded at run time, in order: in
/// the folder that the environment variable names, alone if it is set; else in `build_folder` (may be
/// empty), in the toolkit of CUDA_HOME, CUDA_PATH and /usr/local/cuda, and where the system's loader
/// looks. `subfolders` are those of a toolkit that may hold it.
std::vector<std::filesystem::path> toolkit_library_files(const std::string& file,
                                                         const char* environment_variable,
                                                         const std::string& build_folder,
                                                         const std::vector<std::string>& subfolders);

}  // namespace fathom
