#include "tests/sass/rung_code.h"

std::vector<RungCode> fp64_codes() {
  const std::string tma = "UTMALDG.2D USETMAXREG=2 SYNCS.PHASECHK>=2 ";
  constexpr int specialised = 168;  // of 384 threads
  // Products of a stage, and again of its last rows where no stage follows.
  const std::string rows64 = "DMMA.16x8x16=12 ", rows16 = "DMMA.16x8x16=2 ";
  // Half of the last rows' alone are left where no stage follows.
  const std::string late = "DMMA.16x8x16=18 ";
  // Who begins a tile adds up what others left, which a word says is there.
  const std::string handed_over = "LDG.E.STRONG.GPU LDG.E.128.STRONG.GPU STG.E.STRONG.GPU DADD";
  return {
      {"fp64/08_late_reads", "tma_product<*::Rows64,", 4, tma + rows64 + handed_over,
       "LDGSTS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      {"fp64/08_late_reads", "tma_product<*::Rows16,", 4, tma + rows16 + handed_over,
       "LDGSTS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: two
      // halves of the
      // columns for each of two steps. Blocks of the cluster read each other's sums.
      {"fp64/08_late_reads", "streamed_product<*fp64*::Streamed,", 2,
       "DMMA.16x8x16=8 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 DADD",
       "UTMALDG LDGSTS USETMAXREG RED REDG ATOMG"},
      {"fp64/08_late_reads", "tma_product<*::LateReads,", 4,
       tma + late + "UTMALDG.2D.MULTICAST UCGABAR_ARV " + handed_over, "LDGSTS RED REDG ATOMG",
       specialised},
  };
}
