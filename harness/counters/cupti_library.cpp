#include "harness/counters/cupti_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

#include "harness/counters/counter_problem.h"
#include "harness/toolkit_libraries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// The major version must be that of the headers: structures differ between majors.
constexpr int cupti_major = CUPTI_API_VERSION / 10000;

std::string library_name() { return fmt::format("libcupti.so.{}", cupti_major); }

/// Fills `l` from the library; returns the first function that it lacks, or null.
const char* resolve(void* handle, CuptiLibrary& l) {
  const char* missing = nullptr;
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
#define FATHOM_RESOLVE(function) get(l.function, #function);
  FATHOM_CUPTI_FUNCTIONS(FATHOM_RESOLVE)
#undef FATHOM_RESOLVE
  return missing;
}

/// CUPTI opens its companions by name alone, which finds them only where the system's loader looks
/// anyway. Once opened from beside it they are found by that name too. A companion that cannot be
/// opened is no error here: CUPTI says what it lacks.
void open_companions(const fs::path& cupti) {
  if (!cupti.has_parent_path()) return;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
    dlopen((cupti.parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

std::vector<fs::path> cupti_search_path() {
  return toolkit_library_files(library_name(), "FATHOM_CUPTI_DIR",
                               {"lib64", "extras/CUPTI/lib64", "lib"});
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
      tried +=
          fmt::format("{}{} (has no {})", tried.empty() ? "tried " : ", ", file.string(), missing);
      dlclose(handle);
      continue;
    }
    library.path = path_of_library(handle);
    open_companions(library.path);
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
  throw CounterError(problem_of(result),
                     fmt::format("{} returned {} ({})", call, static_cast<int>(result),
                                 text == nullptr ? "no name" : text));
}

}  // namespace fathom
