#include "kernel_libraries.h"
#include "tests/sass/sass_file.h"

// What compute-sanitizer looks at is gpu_tests, which itself fails if it launches not all that is
// linked into it. A kernel that only a probe has would escape both.
TEST_CASE("every kernel of the probes is in the program that the sanitizer runs", "[sass]") {
  std::set<std::string> sanitized;
  for (const KernelResources& kernel : resources_of(FATHOM_GPU_TESTS_PROGRAM))
    sanitized.insert(kernel.name);
  int ours = 0;
  for (const char* probe : probe_programs) {
    CAPTURE(probe);
    for (const auto& [kernel, registers, stack, local] : resources_of(probe)) {
      // The opponents' are CUB's, in its own namespace: theirs to sanitize.
      if (kernel.starts_with("_ZN3cub")) continue;
      CAPTURE(demangle(kernel));
      CHECK(sanitized.contains(kernel));
      ++ours;
    }
  }
  CHECK(ours > 20);
}
