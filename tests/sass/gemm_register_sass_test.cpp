// What the products whose first operand goes through registers are made of.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/sass/sass_file.h"

namespace {

struct Expected {
  const char* folder;
  const char* kernel;   ///< part of its name, which every layout of it has
  int kernels;          ///< of that name
  const char* product;  ///< the opcode of a product, shape included
  int stages;           ///< of the loop, as it is written
  int products;         ///< of a stage
  int additions;        ///< of a stage's sums to the threads' own
  int blocks, boxes;    ///< loaded a stage: blocks of the first operand, boxes of the second
  int multicasts;       ///< boxes among them that others of the cluster get too
};

constexpr Expected kernels[] = {
    {"tf32", "::Across,", 1, "HGMMA.64x256x8.F32.TF32", 2, 4, 0, 2, 2, 2},
    {"tf32", "::LargeClusters,", 1, "HGMMA.64x256x8.F32.TF32", 2, 4, 0, 1, 1, 3},
    {"tf32", "::LargeClusters>,", 1, "HGMMA.64x256x8.F32.TF32", 2, 4, 0, 2, 2, 2},
    {"tf32", "::HalfWide,", 1, "HGMMA.64x128x8.F32.TF32", 2, 4, 0, 2, 1, 1},
    {"tf32", "::Skinny,", 2, "HGMMA.64x128x8.F32.TF32", 2, 4, 0, 2, 2, 0},
    {"fp32_3xtf32", "::Promoted,", 2, "HGMMA.64x128x8.F32.TF32", 1, 12, 64, 2, 2, 2},
    {"fp32_3xtf32", "::Wide,", 2, "HGMMA.64x128x8.F32.TF32", 1, 12, 64, 2, 2, 2},
    {"fp32_3xtf32", "::Narrow,", 2, "HGMMA.64x64x8.F32.TF32", 1, 12, 32, 2, 1, 1},
    {"fp32_3xtf32", "::Shared<128,", 2, "HGMMA.64x128x8.F32.TF32", 1, 12, 64, 2, 4, 0},
    {"fp32_3xtf32", "::Shared<64,", 2, "HGMMA.64x64x8.F32.TF32", 1, 12, 32, 2, 2, 0},
    {"fp32_3xtf32", "::Shared<16,", 2, "HGMMA.64x16x8.F32.TF32", 1, 12, 8, 2, 1, 0},
};

}  // namespace

TEST_CASE("an operand goes from shared memory through registers to wgmma", "[sass][gemm]") {
  bool hopper = false;
  for (const SassFunction& function : disassemble_ladder("tf32"))
    hopper = hopper || function.count("HGMMA") > 0;
  if (!hopper) SKIP("This build is for a chip without wgmma.");

  for (const Expected& e : kernels) {
    CAPTURE(e.kernel);
    int found = 0;
    for (const SassFunction& function : disassemble_ladder(e.folder)) {
      if (function.name.find("register_product<") == std::string::npos ||
          function.name.find(e.kernel) == std::string::npos)
        continue;
      ++found;
      CAPTURE(function.name);
      const bool across = function.name.find("(fathom::gemm::Major)1") != std::string::npos;
      int products = 0;
      for (const std::string& line : function.lines) products += line.starts_with(e.product);
      CHECK(products == e.stages * e.products);
      // Loaded before the loop and, in it, under the products before: 8 bytes at a time where a
      // thread's rows are neighbours in memory.
      CHECK(function.count(across ? "LDS.64" : "LDS") >= (e.stages + 1) * (across ? 8 : 16));
      CHECK(function.count("FADD") >= e.additions);
      // A block of 64 rows is one box along k, else two.
      CHECK(function.count("UTMALDG.2D") == e.blocks * (across ? 2 : 1) + e.boxes);
      CHECK(function.count("UTMALDG.2D.MULTICAST") == e.multicasts);
      // Where the compiler cannot keep products under way it fences each of them.
      CHECK(function.count("WARPGROUP.ARRIVE") == e.stages);
      CHECK(function.count("WARPGROUP.DEPBAR") <= e.stages + 1);
      CHECK(function.count("USETMAXREG") == 2);
    }
    CHECK(found == e.kernels);
  }
}
