#include "tests/sass/rung_code.h"

namespace {

/// Two blocks of 256 threads.
constexpr int two_blocks = 128;
/// 384 threads, of which the producer ones give away what the others take.
constexpr int specialised = 168;

}  // namespace

std::vector<RungCode> fp32_codes() {
  const std::string pipeline = "LDGSTS LDS.128 STG.E.128";
  const std::string specialised_code =
      "FFMA>=1024 LDS.128 STG.E.128 USETMAXREG=2 BAR.ARV SYNCS.PHASECHK>=2 ";
  return {
      // A group of copies for each stage of the ring.
      {"fp32/22_planned_tiles", "Tiling<128, 128, 8,", 9, "FFMA>=512 LDGDEPBAR=5 " + pipeline,
       "STS UTMALDG USETMAXREG", two_blocks},
      {"fp32/22_planned_tiles",
       "Tiling<128, 128, 8,*(fathom::gemm::Along)0, (fathom::gemm::Along)0>", 1,
       "LDGSTS.E.BYPASS.128", ""},
      {"fp32/22_planned_tiles", "Tiling<128, 256, 8,", 9, "FFMA>=1024 LDGDEPBAR=5 " + pipeline,
       "STS UTMALDG USETMAXREG"},
      {"fp32/22_planned_tiles", "Tiling<128, 256, 16,", 9, "FFMA>=2048 LDGDEPBAR=4 " + pipeline,
       "STS UTMALDG USETMAXREG"},
      {"fp32/22_planned_tiles", "Tiling<256, 128, 16,", 9, "FFMA>=2048 LDGDEPBAR=4 " + pipeline,
       "STS UTMALDG USETMAXREG"},
      // Three blocks of 128 threads.
      {"fp32/22_planned_tiles", "Tiling<256, 16, 16,", 9, "FFMA>=512 LDGDEPBAR=4 " + pipeline,
       "STS UTMALDG USETMAXREG", 168},
      // In order, by one thread for each element: no atomics, and nobody to wait for.
      {"fp32/22_planned_tiles", "::add_parts(", 1, "LDG.E>=2 FADD STG.E",
       "LDS STS BAR SHFL RED REDG ATOMG"},

      // Sums of a tile's parts go from block to block, with a word that says so; no atomics add
      // them. Each producer has one kernel whose shares end with a stage, and one whose end with a
      // body.
      {"fp32/26_sliced_depth", "warp_specialised_product<*, fathom::gemm::fp32::TmaProducer>", 2,
       specialised_code + "UTMALDG.2D>=2 LDG.E.STRONG.GPU STG.E.STRONG.GPU MEMBAR.SC.GPU",
       "LDGSTS LDSM STS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      {"fp32/26_sliced_depth", "warp_specialised_product<*TransposingProducer<", 6,
       specialised_code + "LDSM.16.M88.4 STS.128 UTMALDG.2D>=3 LDG.E.STRONG.GPU STG.E.STRONG.GPU",
       "LDGSTS RED REDG ATOMG", specialised},
      // Four words of 8 x 4 elements by 4 of k a stage; four boxes of A and one of B.
      {"fp32/26_sliced_depth", "::sliced_product(", 1,
       "FFMA>=512 LDS.128=48 UTMALDG.2D=5 SYNCS.PHASECHK>=2 STS.128=8 FADD>=8",
       "LDGSTS UBLKCP UCGABAR_ARV UTMALDG.2D.MULTICAST USETMAXREG RED REDG ATOMG"},
  };
}
