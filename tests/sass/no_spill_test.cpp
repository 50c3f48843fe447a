#include <catch2/catch_test_macros.hpp>


#include "kernel_libraries.h"
#include "tests/sass/sass_file.h"

// Spilled registers are memory traffic that no model counts.
TEST_CASE("no kernel of ours spills or keeps a stack frame", "[sass]") {
  int kernels = 0;
  for (const char* library : kernel_libraries) {
    CAPTURE(library);
    for (const SassFunction& function : disassemble(library)) {
      CAPTURE(function.name);
      CHECK(function.registers > 0);
      CHECK(function.stack_bytes == 0);
      CHECK(function.local_bytes == 0);
      CHECK(function.count("LDL") == 0);
      CHECK(function.count("STL") == 0);
      ++kernels;
    }
  }
  CHECK(kernels > 20);
}
