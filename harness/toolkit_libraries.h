#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fathom {

/// Files in which to look for a library of the CUDA toolkit that is loaded at run time, in order:
/// in the folder that the environment variable names, alone if it is set; else in the toolkit of
/// CUDA_HOME, where the system's loader looks (for a program in the build tree that includes the
/// toolkit it was built with), and in /usr/local/cuda and /opt/cuda. No program holds a path of the
/// machine that built it. `subfolders` are those of a toolkit that may hold the library.
std::vector<std::filesystem::path> toolkit_library_files(
    const std::string& file, const char* environment_variable,
    const std::vector<std::string>& subfolders);

/// The file that a handle of dlopen was loaded from; empty if the loader cannot tell.
std::filesystem::path path_of_library(void* handle);

}  // namespace fathom
