#include <catch2/catch_test_macros.hpp>

#include "kernel_libraries.h"
#include "tests/sass/sass_file.h"

// Spilled registers are memory traffic that no model counts. They lie in the stack frame, as arrays
// do that are not in registers: a kernel without one has no LDL and no STL.
TEST_CASE("no kernel of ours spills or keeps a stack frame", "[sass]") {
  int kernels = 0;
  for (const char* library : kernel_libraries) {
    CAPTURE(library);
    for (const KernelResources& kernel : resources_of(library)) {
      CAPTURE(kernel.name);
      CHECK(kernel.registers > 0);
      CHECK(kernel.stack_bytes == 0);
      CHECK(kernel.local_bytes == 0);
      ++kernels;
    }
  }
  CHECK(kernels > 20);
}
