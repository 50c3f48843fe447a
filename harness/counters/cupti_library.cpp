#include "harness/counters/cupti_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/counters/counter_problem.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The major version must be that of the headers: structures differ between majors.
constexpr int cupti_major = CUPTI_API_VERSION / 10000;

std::string library_name() { return fmt::format("libcupti.so.{}", cupti_major); }

/// The first function that the library lacks, or null.
const char* resolve(void* handle, CuptiLibrary& library) {
#define FATHOM_CUPTI_RESOLVE(function)                                             \
  library.function = reinterpret_cast<decltype(library.function)>(                 \
      dlsym(handle, #function));                                                   \
  if (library.function == nullptr) return #function;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_CUPTI_RESOLVE)
#undef FATHOM_CUPTI_RESOLVE
  return nullptr;
}

}  // namespace

std::vector<fs::path> cupti_search_path() {
  const char* const named = std::getenv("FATHOM_CUPTI_DIR");
  if (named != nullptr && *named != '\0') return {fs::path(named) / library_name()};

  std::vector<fs::path> files;
#ifdef FATHOM_CUPTI_LIBRARY_DIR
  const fs::path hint = FATHOM_CUPTI_LIBRARY_DIR;
  if (!hint.empty()) files.push_back(hint / library_name());
#endif
  std::vector<fs::path> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& toolkit : toolkits) {
    for (const char* folder : {"lib64", "extras/CUPTI/lib64", "lib"}) {
      files.push_back(toolkit / folder / library_name());
    }
  }
  files.emplace_back(library_name());
  return files;
}

CuptiLibrary load_cupti(const std::vector<fs::path>& files) {
  std::string tried;
  for (const fs::path& file : files) {
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried += fmt::format("{}{}", tried.empty() ? "tried " : ", ", file.string());
      continue;
    }
    CuptiLibrary library;
    const char* const missing = resolve(handle, library);
    if (missing != nullptr) {
      tried += fmt::format("{}{} (has no {})", tried.empty() ? "tried " : ", ", file.string(), missing);
      dlclose(handle);
      continue;
    }
    library.path = file;
    library.cuptiGetVersion(&library.version);
    return library;
  }
  throw CounterError(CounterProblem::no_library, tried);
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = load_cupti(cupti_search_path());
  return library;
}

void check_cupti(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  cupti_library().cuptiGetResultString(result, &text);
  throw CounterError(problem_of(result), fmt::format("{} returned {} ({})", call,
                                                     static_cast<int>(result),
                                                     text == nullptr ? "no name" : text));
}

}  // namespace fathom
