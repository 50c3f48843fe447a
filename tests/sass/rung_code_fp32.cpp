#include "tests/sass/rung_code.h"

namespace {

/// 384 threads, of which the producer ones give away what the others take.
constexpr int specialised = 168;

}  // namespace

std::vector<RungCode> fp32_codes() {
  const std::string specialised_code =
      "FFMA>=1024 LDS.128 STG.E.128 USETMAXREG=2 BAR.ARV SYNCS.PHASECHK>=2 ";
  return {
      // Sums of a tile's parts go from block to block, with a word that says so; no atomics add
      // them. Each producer has one kernel whose shares end with a stage, and one whose end with a
      // body.
      {"fp32/26_sliced_depth", "warp_specialised_product<*, fathom::gemm::fp32::TmaProducer>", 2,
       specialised_code + "UTMALDG.2D>=2 LDG.E.STRONG.GPU STG.E.STRONG.GPU MEMBAR.SC.GPU",
       "LDGSTS LDSM STS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      {"fp32/26_sliced_depth", "warp_specialised_product<*TransposingProducer<", 6,
       specialised_code + "LDSM.16.M88.4 STS.128 UTMALDG.2D>=3 LDG.E.STRONG.GPU STG.E.STRONG.GPU",
       "LDGSTS RED REDG ATOMG", specialised},
      // Four words of 8 x 4 elements by 4 of k a stage; of A four boxes along k or one along its
      // rows, and one of B.
      {"fp32/26_sliced_depth", "::sliced_product<", 2,
       "FFMA>=512 LDS.128=48 UTMALDG.2D>=2 SYNCS.PHASECHK>=2 STS.128=8 FADD>=8",
       "LDGSTS UBLKCP UCGABAR_ARV UTMALDG.2D.MULTICAST USETMAXREG RED REDG ATOMG"},
  };
}
