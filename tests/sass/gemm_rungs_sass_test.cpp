// Every rung of the ladder against the tables of what makes it what it is (rung_code.h).

#include "gemm/bench/rung.h"
#include "tests/sass/rung_code.h"

using namespace fathom::gemm;

namespace {

bool is_about(const RungCode& code, const Rung& rung) {
  const std::string id = rung.id();
  const bool half = id.starts_with("fp16/") || id.starts_with("bf16/");
  return code.rung == (half ? "half" + id.substr(id.find('/')) : id);
}

/// Whether the kernel, by what it was compiled for, is one that a rung of the row runs. The
/// fallback, which is no rung's, runs everywhere.
bool is_for(const RungCode& code, const SassFunction& kernel) {
  const int capability = kernel.capability();
  return code.rung.empty() || std::ranges::any_of(all_rungs(), [&](const Rung& rung) {
           return is_about(code, rung) && runs_on(rung, capability / 10, capability % 10) &&
                  (!rung.exact_capability || kernel.architecture.ends_with('a'));
         });
}

/// By its name, which ends so of all those that multiply, and of no others.
bool multiplies(const SassFunction& kernel) {
  return kernel.name.find("_product<") != std::string::npos ||
         kernel.name.find("_product(") != std::string::npos;
}

/// The rows against the kernels, each of which has one.
void check_codes(const std::vector<RungCode>& codes, const std::vector<SassFunction>& kernels) {
  for (const RungCode& code : codes) {
    CAPTURE(code.rung);
    const auto is_its = [&](const Rung& rung) { return is_about(code, rung); };
    CHECK((code.rung.empty() || std::ranges::any_of(all_rungs(), is_its)));
    for (const bool turing : {false, true}) {
      RungCode wanted = code;
      if (turing) wanted.has.clear();  // its opcodes have other names
      check_code(wanted, kernels, [&](const SassFunction& kernel) {
        return turing == (kernel.capability() < 80) && is_for(code, kernel);
      });
    }
  }
  for (const SassFunction& kernel : kernels) {
    CAPTURE(kernel.name);
    CHECK(std::ranges::count_if(codes, [&](const RungCode& c) { return is_about(c, kernel); }) ==
          1);
    CHECK(multiplies(kernel) == (kernel.name.find("::add_parts(") == std::string::npos));
  }
}

}  // namespace

// One case, since reading the code takes half a minute.
TEST_CASE("every rung is made of what makes it what it is, and every kernel is some rung's",
          "[sass][gemm][lessons]") {
  std::map<std::string, std::vector<RungCode>> contenders;  // by folder
  for (const RungCode& code : contender_codes()) {
    std::string folder = code.rung.substr(0, code.rung.find('/'));
    std::ranges::replace(folder, '-', '_');
    contenders[folder].push_back(code);
  }
  check_codes(lesson_codes(), disassemble_library("gemm_lessons"));
  for (const auto& [folder, codes] : contenders) check_codes(codes, disassemble_ladder(folder));
  for (const Rung& rung : all_rungs()) {
    CAPTURE(rung.id());
    const auto is_row = [&](const RungCode& code) { return is_about(code, rung); };
    CHECK(std::ranges::any_of(rung.contender ? contender_codes() : lesson_codes(), is_row));
  }
  // What else a rung may launch.
  for (const char* file : {"tma_operands", "tf32_planes"}) {
    for (const SassFunction& kernel : disassemble_ladder("", file)) {
      CAPTURE(kernel.name);
      CHECK_FALSE(multiplies(kernel));
    }
  }
}
