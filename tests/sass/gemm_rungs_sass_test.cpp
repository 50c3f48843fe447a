// Every rung of the ladder against the table of what makes it what it is (rung_code.h).

#include "gemm/bench/rung.h"
#include "tests/sass/rung_code.h"

using namespace fathom::gemm;

namespace {

/// Whether the code, by what it was compiled for, is code that the rung runs.
bool is_for(const SassFunction& kernel, const Rung& rung) {
  const int capability = kernel.capability();
  if (rung.exact_capability && !kernel.architecture.ends_with('a')) return false;
  return runs_on(rung, capability / 10, capability % 10);
}

void check_kernels(const RungCode& code, const Rung& rung) {
  CAPTURE(code.kernel);
  int kernels = 0;
  for (const SassFunction& kernel : disassemble_ladder(folder_of(rung.id()))) {
    if (!is_about(code, kernel, rung.id())) continue;
    ++kernels;
    if (!is_for(kernel, rung)) continue;
    CAPTURE(kernel.name);
    CHECK(wrong_with(code, kernel) == "");
  }
  CHECK(kernels == code.kernels);
}

/// By its name (gemm/bench/launched_kernels.h).
bool multiplies(const SassFunction& kernel) {
  return kernel.name.find("_product<") != std::string::npos ||
         kernel.name.find("_product(") != std::string::npos;
}

}  // namespace

// One case, since reading the code takes half a minute.
TEST_CASE("every rung is made of what makes it what it is, and every kernel is some rung's",
          "[sass][gemm]") {
  for (const Rung& rung : all_rungs()) {
    if (!rung.contender) continue;  // gemm_lessons_sass_test.cpp
    CAPTURE(rung.id());
    int rows = 0;
    for (const RungCode& code : rung_codes()) {
      if (!is_about(code, rung.id())) continue;
      ++rows;
      check_kernels(code, rung);
    }
    CHECK(rows > 0);
  }
  std::set<std::string> folders;
  for (const RungCode& code : rung_codes()) {
    CAPTURE(code.rung);
    CHECK(std::ranges::any_of(all_rungs(),
                              [&](const Rung& rung) { return is_about(code, rung.id()); }));
    folders.insert(folder_of(code.rung));
  }
  for (const std::string& folder : folders) {
    for (const SassFunction& kernel : disassemble_ladder(folder)) {
      CAPTURE(folder, kernel.name);
      CHECK(std::ranges::any_of(rung_codes(), [&](const RungCode& code) {
        return folder_of(code.rung) == folder && is_about(code, kernel);
      }));
      CHECK(multiplies(kernel) == (kernel.name.find("::add_parts(") == std::string::npos));
    }
  }
  // What else a rung may launch.
  for (const char* file : {"tma_operands", "tf32_planes"}) {
    for (const SassFunction& kernel : disassemble_ladder("", file)) {
      CAPTURE(kernel.name);
      CHECK_FALSE(multiplies(kernel));
    }
  }
}
