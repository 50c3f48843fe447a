// The instructions that make the half-precision rungs below Hopper's own what they are: warp-level products,
// and how each gets its fragments.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

namespace {

int total(const SassFunction& function, const std::string& prefix) {
  int sum = 0;
  for (const auto& [opcode, number] : function.histogram(prefix)) sum += number;
  return sum;
}

/// Of a rung, by its file's name.
std::vector<const SassFunction*> kernels(const std::string& name) {
  std::vector<const SassFunction*> found;
  for (const SassFunction& function : disassemble_ladder("half", "_" + name)) {
    if (function.name.find("::" + name + "_product<") != std::string::npos)
      found.push_back(&function);
  }
  return found;
}

bool is_bf16(const SassFunction& function) {
  return function.name.find("<__nv_bfloat16") != std::string::npos;
}

/// Products of a tile of 32 of k: of 64 x 64 a warp, 2 x 4 x 8 of 16 x 8 x 16. ldmatrix that they need: four
/// of each operand for each 16 of k.
constexpr int products_of_a_tile = 64, loads_of_a_tile = 16;
/// Loops of the multistage kernel: over whole tiles, and over those of which a part is outside of a matrix.
constexpr int loops = 2;

}  // namespace

TEST_CASE("the lower half-precision rungs multiply with mma.sync and nothing else", "[sass][gemm]") {
  for (const char* name : {"wmma_global", "wmma", "mma_sync", "multistage"}) {
    CAPTURE(name);
    const auto found = kernels(name);
    CHECK(found.size() == 8);  // two types, four layouts
    for (const SassFunction* kernel : found) {
      CAPTURE(kernel->name);
      const std::string product = is_bf16(*kernel) ? "HMMA.16816.F32.BF16" : "HMMA.16816.F32";
      CHECK(kernel->count(product) > 0);
      CHECK(kernel->count(product) == total(*kernel, "HMMA"));
      CHECK(total(*kernel, "HGMMA") == 0);
      CHECK(total(*kernel, "UTMALDG") == 0);
    }
  }
}

TEST_CASE("wmma's fragments come from global memory in one rung and from tiles in the next", "[sass][gemm]") {
  for (const SassFunction* kernel : kernels("wmma_global")) {
    CAPTURE(kernel->name);
    // Two products for eight loads of 4 bytes a lane, a fragment's four registers each; of bf16 nvcc does not
    // see that they are of global memory.
    CHECK(kernel->count("LDG.E") + kernel->count("LD.E") >= 4 * total(*kernel, "HMMA"));
    CHECK(total(*kernel, "LDSM") == 0);
    CHECK(total(*kernel, "BAR") == 0);
  }
  for (const SassFunction* kernel : kernels("wmma")) {
    CAPTURE(kernel->name);
    CHECK(total(*kernel, "HMMA") == products_of_a_tile);
    CHECK(kernel->count("LDG.E.128") > 0);
    CHECK(kernel->count("STS.128") > 0);
    CHECK(total(*kernel, "LDGSTS") == 0);
    // nvcc knows ldmatrix for wmma's fp16 fragments; those of bf16 it loads word by word.
    CHECK((total(*kernel, "LDSM") > 0) == !is_bf16(*kernel));
  }
}

TEST_CASE("fragments of mma.sync come by ldmatrix", "[sass][gemm]") {
  for (const SassFunction* kernel : kernels("mma_sync")) {
    CAPTURE(kernel->name);
    CHECK(total(*kernel, "HMMA") == products_of_a_tile);
    CHECK(total(*kernel, "LDSM") == loads_of_a_tile);
    CHECK(kernel->count("STS.128") > 0);
    CHECK(total(*kernel, "LDGSTS") == 0);
  }
  for (const SassFunction* kernel : kernels("multistage")) {
    CAPTURE(kernel->name);
    CHECK(total(*kernel, "HMMA") == loops * products_of_a_tile);
    CHECK(total(*kernel, "LDSM") == loops * loads_of_a_tile + loads_of_a_tile / 2);  // the first step's
    CHECK(total(*kernel, "LDGSTS") > 0);
    CHECK(kernel->count("STS.128") == 0);  // no tile goes through registers
  }
}
