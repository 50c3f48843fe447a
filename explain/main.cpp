// fathom-explain: the program behind `fathom explain`.
#include <dlfcn.h>

#include <algorithm>

#include "explain/explain.h"
#include "harness/counters/cupti_library.h"
#include "harness/counters/pc_sampling.h"
#include "harness/toolkit_libraries.h"
#include "tools/command_line.h"
#include "tools/programs.h"

namespace {

/// The first that can be loaded, as the path under which another program finds it too.
std::filesystem::path sanitizer_library() {
  for (const auto& file : fathom::toolkit_library_files(
           "libsanitizer-public.so", "FATHOM_SANITIZER_DIR", {"compute-sanitizer", "lib64", "lib"}))
    if (void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL))
      return fathom::path_of_library(handle);
  return {};
}

std::filesystem::path cupti_folder() try {
  return fathom::cupti_library().path.parent_path();
} catch (const fathom::CounterError&) {
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  // What follows `--` is the program's, flags included.
  char** const end = std::find(argv, argv + argc, std::string_view("--"));
  const std::vector<std::string> program(std::min(end + 1, argv + argc), argv + argc);
  const std::filesystem::path libraries = fathom::executable_folder() / "../lib/fathom";
  fathom::explain::Tools tools{.injection = libraries / "libfathom_explain.so",
                               .sanitizer = sanitizer_library(),
                               .measure = libraries / "libfathom_explain_measure.so",
                               .cupti = cupti_folder()};
  if (!tools.cupti.empty()) tools.find_line = fathom::source_line;
  return fathom::run_program(static_cast<int>(end - argv), argv,
                             fathom::explain::explain_commands(tools, program));
}
