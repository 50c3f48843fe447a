// What makes an fp64 rung what it is, in the machine code.

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

namespace {

const std::vector<SassFunction>& functions() { return disassemble_ladder("fp64"); }

int lines_of(const SassFunction& function, const std::string& opcode) {
  int count = 0;
  for (const std::string& line : function.lines) count += line.starts_with(opcode);
  return count;
}

bool hopper() {
  for (const SassFunction& function : functions()) {
    if (lines_of(function, "DMMA.16x8x16") > 0) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("fp64 rungs climb from FMAs to the large products of the tensor cores", "[sass][gemm]") {
  const SassFunction& square =
      find(functions(), "::square_tile_product(");
  CHECK(square.count("DFMA") >= 16);
  // Of A, of which a half-warp reads one word for all, two k at once.
  CHECK(square.count("LDS.128") == 8);
  CHECK(square.count("LDS.64") == 16);
  CHECK(find(functions(), "::register_tile_product(").count("DFMA") >= 8 * 64);
  if (!hopper()) SKIP("This build is for a chip without products of 16 x 8 x 16.");
  const SassFunction& small = find(functions(), "::tensor_cores_product(");
  CHECK(lines_of(small, "DMMA.8x8x4") == 4 * 32);
  CHECK(lines_of(small, "DMMA.16x8x16") == 0);
  CHECK(lines_of(find(functions(), "::wide_products_product("), "DMMA.16x8x16") == 16);
}

TEST_CASE("fp64 rungs of the copy engine read nothing but what products take as it is",
          "[sass][gemm]") {
  if (!hopper()) SKIP("This build is for a chip without products of 16 x 8 x 16.");
  struct Expected {
    const char* shape;
    int products;          ///< of a stage, and again of its last rows where no stage follows
    int a_words, b_words;  ///< 16-byte loads of a stage's fragments, and of the first stage's
  };
  for (const Expected& e : {Expected{"::CopyEngine,", 16 + 4, 16 + 4, 8 + 8},
                            {"::PairedBlocks,", 16 + 4, 16 + 4, 8 + 8},
                            {"::EqualShares,", 16 + 4, 16 + 4, 8 + 8},
                            {"::Rows16,", 2, 4, 4},
                            {"::Rows64,", 8 + 4, 8 + 4, 8 + 8}}) {
    CAPTURE(e.shape);
    int kernels = 0;
    for (const SassFunction& function : functions()) {
      if (function.name.find("engine_product<") == std::string::npos ||
          function.name.find(e.shape) == std::string::npos)
        continue;
      ++kernels;
      CAPTURE(function.name);
      CHECK(lines_of(function, "DMMA.16x8x16") == e.products);
      CHECK(function.count("UTMALDG.2D") > 0);
      CHECK(function.count("USETMAXREG") == 2);
      // A along m and B along k, BLAS's plain layout: 16 bytes a load. Along k, A's and along n,
      // B's come one by one.
      const bool a_along_k =
          function.name.find("(fathom::gemm::Major)0, (fathom::gemm::Major)") != std::string::npos;
      const bool b_along_k = function.name.find("(fathom::gemm::Major)0>") != std::string::npos;
      if (!a_along_k && b_along_k) {
        CHECK(function.count("LDS.128") == e.a_words + e.b_words);
        CHECK(function.count("LDS.64") == 0);
      } else {
        CHECK(function.count("LDS.64") == (a_along_k ? 2 * e.a_words : 0) + 2 * e.b_words);
      }
    }
    CHECK(kernels == 4);
  }
}
