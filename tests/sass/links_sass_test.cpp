#include <catch2/catch_test_macros.hpp>

#include "tests/sass/sass_file.h"

TEST_CASE("the copy over links moves 16 bytes an instruction and asks past the caches",
          "[sass][links]") {
  const auto functions = disassemble_library("probe_links_kernels");
  const SassFunction& copy = find(functions, "copy_packs");
  int loads = 0, past_caches = 0, stores = 0;
  for (const auto& [opcode, count] : copy.histogram("LDG")) {
    CAPTURE(opcode);
    CHECK(opcode.find(".128") != std::string::npos);
    loads += count;
    if (opcode.find("STRONG.SYS") != std::string::npos) past_caches += count;
  }
  for (const auto& [opcode, count] : copy.histogram("STG")) {
    CAPTURE(opcode);
    CHECK(opcode.find(".128") != std::string::npos);
    stores += count;
  }
  // Four in flight, and the remainder's one.
  CHECK(loads == 5);
  CHECK(past_caches == loads);
  CHECK(stores == 5);
}

TEST_CASE("the chase over links has one load in flight", "[sass][links]") {
  const auto functions = disassemble_library("probe_links_kernels");
  int loads = 0;
  for (const auto& [opcode, count] : find(functions, "chase").histogram("LDG")) {
    CAPTURE(opcode);
    CHECK(opcode.find("STRONG.SYS") != std::string::npos);
    loads += count;
  }
  CHECK(loads == 1);
}
