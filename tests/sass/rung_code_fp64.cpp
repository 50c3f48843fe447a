#include "tests/sass/rung_code.h"

std::vector<RungCode> fp64_codes() {
  const std::string no_atomics = "RED REDG ATOMG LDGSTS ";
  std::vector<RungCode> codes{
      // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: two
      // halves of the columns for each of two steps. Blocks of the cluster read each other's sums.
      {"fp64/08_late_reads", "streamed_product<double,", 2,
       "DMMA.16x8x16=8 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 DADD",
       no_atomics + "UTMALDG USETMAXREG"}};
  struct Tile {
    const char* shape;
    int products;          ///< of a stage, and again of its last rows where no stage follows
    int a_words, b_words;  ///< 16-byte loads of a stage's fragments
    const char *has, *lacks;
  };
  const char* multicast = "UTMALDG.2D.MULTICAST";
  // Only half of the last rows' products are left where no stage follows.
  for (const Tile& t : {Tile{"Rows64", 10, 8, 8, "", multicast},
                        {"LateReads", 18, 16, 8, "UTMALDG.2D.MULTICAST UCGABAR_ARV", ""}}) {
    for (const bool a_along_k : {false, true}) {
      for (const bool b_along_k : {false, true}) {
        // A along m and B along k, BLAS's plain layout: 16 bytes a load, and none else. Along k,
        // A's and along n, B's come one by one.
        const std::string loads =
            !a_along_k && b_along_k
                ? fmt::format("LDS.128={} LDS.64=0", t.a_words + t.b_words)
                : fmt::format("LDS.64={}", (a_along_k ? 2 * t.a_words : 0) + 2 * t.b_words);
        codes.push_back(
            {"fp64/08_late_reads",
             fmt::format("tma_product<*::{},*(fathom::gemm::Major){}, (fathom::gemm::Major){}>",
                         t.shape, a_along_k ? 0 : 1, b_along_k ? 0 : 1),
             1,
             // Who begins a tile adds up what others left, which a word says is there.
             fmt::format("UTMALDG.2D USETMAXREG=2 SYNCS.PHASECHK>=2 DMMA.16x8x16={} {} {} "
                         "LDG.E.STRONG.GPU LDG.E.128.STRONG.GPU STG.E.STRONG.GPU DADD",
                         t.products, loads, t.has),
             no_atomics + t.lacks, 168});  // of 384 threads
      }
    }
  }
  return codes;
}
