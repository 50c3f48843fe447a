// What makes a Hopper rung what it is, in the machine code.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/sass/sass_file.h"

namespace {

struct Expected {
  const char* folder;
  const char* file;     ///< part of its name
  const char* kernel;   ///< part of its name, which every type and layout of it has
  int kernels;          ///< of that name
  const char* product;  ///< the opcode of a product, shape included
  int products;         ///< of a stage: 4 steps of each block of 64 rows
  int loads, multicasts, stores;
  int groups = 1;  ///< of products of a stage, where sums are promoted: two halves of the columns
};

/// The products of a stage are one group in one loop; the first waits for the stage's bytes.
constexpr Expected rungs[] = {
    {"half", "06_", "wgmma_product<", 2, "HGMMA.64x128x16.F32", 8, 8, 0, 0},
    {"half", "07_", "::Specialised,", 2, "HGMMA.64x128x16.F32", 4, 4, 0, 0},
    {"half", "08_", "::Wide,", 2, "HGMMA.64x256x16.F32", 4, 6, 0, 0},
    {"half", "09_", "::Persistent,", 2, "HGMMA.64x256x16.F32", 4, 6, 0, 0},
    {"half", "10_", "::Multicast,", 2, "HGMMA.64x256x16.F32", 4, 4, 2, 0},
    {"half", "11_", "::Overlapped,", 2, "HGMMA.64x256x16.F32", 4, 4, 2, 4},
    {"half", "13_", "::WideTile<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x256x16.F32", 4, 4, 2, 4},
    {"half", "12_", "::Columns16<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x16x16.F32", 4, 3, 0, 0},
    {"half", "12_", "::Columns64<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x64x16.F32", 4, 3, 0, 0},
    {"half", "12_", "::Columns128<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x128x16.F32", 4, 4, 0, 0},
    {"half", "14_", "::Large,", 2, "HGMMA.64x256x16.F32", 4, 2, 2, 4},
    {"half", "14_", "::Large>,", 2, "HGMMA.64x256x16.F32", 4, 4, 2, 4},
    // A store under the products, and two where the last tile's are made up for.
    {"half", "15_", "::LargeClusters<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x256x16.F32", 4, 2, 2,
     3},
    {"half", "15_", "::LargeClusters<fathom::gemm::AnyLayout> >,", 8, "HGMMA.64x256x16.F32", 4, 4,
     2, 3},
    {"half", "15_", "::ColumnHalves<fathom::gemm::AnyLayout>,", 8, "HGMMA.64x64x16.F32", 4, 2, 1, 0},
    {"fp8", "", "EngineConfig<fathom::gemm::LargeClusters<fathom::gemm::AlongK>,", 1,
     "QGMMA.64x256x32.F32.E4M3.E4M3", 4, 2, 2, 3},
    {"int8", "", "EngineConfig<fathom::gemm::LargeClusters<fathom::gemm::AlongK>,", 1,
     "IGMMA.64x256x32.S8.S8", 4, 2, 2, 8},
    {"fp8", "", "EngineConfig<fathom::gemm::LargeClusters<fathom::gemm::AlongKPromoted>,", 1,
     "QGMMA.64x128x32.F32.E4M3.E4M3", 8, 2, 2, 4, 2},
    {"tf32", "", "::WideTile<fathom::gemm::AlongK>,", 1, "HGMMA.64x256x8.F32.TF32", 4, 4, 2, 8},
    {"int8", "", "::WideTile<fathom::gemm::AlongK>,", 1, "IGMMA.64x256x32.S8.S8", 4, 4, 2, 8},
    {"fp8", "", "::WideTile<fathom::gemm::AlongK>,", 1, "QGMMA.64x256x32.F32.E4M3.E4M3", 4, 4, 2,
     4},
};

}  // namespace

TEST_CASE("the Hopper rungs multiply by wgmma from what the copy engine brings", "[sass]") {
  bool hopper = false;
  for (const SassFunction& function : disassemble_ladder("half", "06_"))
    hopper = hopper || function.count("HGMMA") > 0;
  if (!hopper) SKIP("This build is for a chip without wgmma.");

  for (const Expected& e : rungs) {
    CAPTURE(e.kernel);
    int kernels = 0;
    for (const SassFunction& function : disassemble_ladder(e.folder, e.file)) {
      if (function.name.find(e.kernel) == std::string::npos) continue;
      ++kernels;
      CAPTURE(function.name);
      int products = 0;
      for (const std::string& line : function.lines) products += line.starts_with(e.product);
      CHECK(products == e.products);
      for (const char* other : {"HGMMA", "IGMMA", "QGMMA"}) {
        if (!std::string(e.product).starts_with(other)) CHECK(function.count(other) == 0);
      }
      CHECK(function.count("UTMALDG.2D") == e.loads);
      CHECK(function.count("UTMALDG.2D.MULTICAST") == e.multicasts);
      CHECK(function.count("UTMASTG.2D") == e.stores);
      CHECK((function.count("STSM") > 0) ==
            (e.stores > 0 && std::string(e.product).find(".S8") == std::string::npos &&
             std::string(e.product).find("TF32") == std::string::npos));
      // A barrier per stage and direction, of which a wait looks at the phase.
      CHECK(function.count("SYNCS.PHASECHK") >= 2);
      const bool specialised = std::string(e.kernel) != "wgmma_product<";
      CHECK(function.count("USETMAXREG") == (specialised ? 2 : 0));
      // Where the compiler cannot keep products under way it fences each: one fence a group, a wait
      // for the group before and one for the last, is what is written.
      CHECK(function.count("WARPGROUP.ARRIVE") == e.groups);
      CHECK(function.count("WARPGROUP.DEPBAR") <= 2 * e.groups);
      // No arrival costs a fence of the whole GPU: that is for the cluster's meetings alone, two
      // or, where the blocks share k, three, of which the compiler has the code twice.
      const bool shares_depth = std::string(e.kernel).starts_with("::Columns");
      CHECK(function.count("MEMBAR.ALL.GPU") <= (shares_depth ? 6 : e.multicasts > 0 ? 2 : 0));
    }
    CHECK(kernels == e.kernels);
  }
}
