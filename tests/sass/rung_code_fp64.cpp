#include "tests/sass/rung_code.h"

std::vector<RungCode> fp64_codes() {
  const std::string tma = "UTMALDG.2D USETMAXREG=2 SYNCS.PHASECHK>=2 ";
  const std::string threads = "UTMALDG LDGSTS USETMAXREG";
  constexpr int specialised = 168;  // of 384 threads
  // Products of a stage, and again of its last rows where no stage follows.
  const std::string whole = "DMMA.16x8x16=20 ", rows64 = "DMMA.16x8x16=12 ",
                    rows16 = "DMMA.16x8x16=2 ";
  // Half of the last rows' alone are left where no stage follows.
  const std::string late = "DMMA.16x8x16=18 ";
  // Who begins a tile adds up what others left, which a word says is there.
  const std::string handed_over = "LDG.E.STRONG.GPU LDG.E.128.STRONG.GPU STG.E.STRONG.GPU DADD";
  return {
      // Of A, of which a half-warp reads one word for all, two k at once.
      {"fp64/01_shared_memory", "::square_tile_product(", 1, "DFMA>=16 LDS.128=8 LDS.64=16 BAR=2",
       "DMMA " + threads},
      {"fp64/02_register_tile", "::register_tile_product(", 1, "DFMA>=512 LDS.128 BAR=2",
       "DMMA " + threads},
      {"fp64/03_tensor_cores", "::tensor_cores_product(", 1, "DMMA.8x8x4=128 LDS.64",
       "DMMA.16x8x16 " + threads},
      {"fp64/04_wide_products", "::wide_products_product(", 1, "DMMA.16x8x16=16 LDS.64",
       "DMMA.8x8x4 " + threads},
      {"fp64/05_tma", "tma_product<*::Tma,", 4, tma + whole,
       "LDGSTS UTMALDG.2D.MULTICAST UCGABAR_ARV", specialised},
      {"fp64/06_cluster_multicast", "tma_product<*::PairedBlocks,", 4,
       tma + whole + "UTMALDG.2D.MULTICAST UCGABAR_ARV", "LDGSTS DADD", specialised},
      {"fp64/07_stream_k", "tma_product<*::StreamK,", 4,
       tma + whole + "UTMALDG.2D.MULTICAST UCGABAR_ARV " + handed_over, "LDGSTS RED REDG ATOMG",
       specialised},
      {"fp64/07_stream_k", "tma_product<*::Rows64,", 4, tma + rows64 + handed_over,
       "LDGSTS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      {"fp64/07_stream_k", "tma_product<*::Rows16,", 4, tma + rows16 + handed_over,
       "LDGSTS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: two
      // halves of the
      // columns for each of two steps. Blocks of the cluster read each other's sums.
      {"fp64/07_stream_k", "streamed_product<*fp64*::Streamed,", 2,
       "DMMA.16x8x16=8 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 DADD",
       "UTMALDG LDGSTS USETMAXREG RED REDG ATOMG"},
      {"fp64/08_late_reads", "tma_product<*::LateReads,", 4,
       tma + late + "UTMALDG.2D.MULTICAST UCGABAR_ARV " + handed_over, "LDGSTS RED REDG ATOMG",
       specialised},
  };
}
