// The contenders of gemm/best, type by type.

#include "tests/sass/rung_code.h"

namespace {

/// Registers of 384 threads: the producers give theirs away, and the others take them.
constexpr int specialised = 168;

/// A tile of a product by wgmma from what TMA brings. The products of a stage are one group in one
/// loop; the first waits for the stage's bytes. A block of a cluster gets two of a stage's boxes
/// from others.
struct TmaTile {
  const char* name;
  const char* behind;  ///< of the kernel's name, behind the layouts
  int columns, loads;  ///< of a product, and boxes of a stage
  bool cluster = true, single = false;
};

constexpr TmaTile tma_tiles[] = {{"Columns16", "", 16, 3, false, true},
                                 {"Columns64", "", 64, 3, false},
                                 {"Columns128", "", 128, 4, false},
                                 {"ColumnHalves", "", 64, 2, true, true},
                                 {"WideTile", ",", 256, 4},
                                 {"LargeClusters", ",", 256, 2},
                                 {"LargeClusters", " >,", 256, 4}};

/// A rung of such tiles, all or the one that is named.
struct TmaRung {
  const char *rung, *layouts, *only;
  int kernels;          ///< of each tile
  const char* product;  ///< the opcode, with the columns left open
  const char* lacks;    ///< the other types' opcodes, and STSM where C has 32 bits
  bool promoted = false;
};

constexpr TmaRung tma_rungs[] = {
    {"half/15_deferred_stores", "AnyLayout", "", 8, "HGMMA.64x{}x16.F32", "IGMMA QGMMA"},
    {"tf32/03_large_clusters", "AlongK", "WideTile", 1, "HGMMA.64x{}x8.F32.TF32",
     "IGMMA QGMMA STSM"},
    {"fp8/01_promoted", "AlongKPromoted", "", 1, "QGMMA.64x{}x32.F32.E4M3.E4M3", "HGMMA IGMMA",
     true},
    {"fp8/02_fast_accumulation", "AlongK", "", 1, "QGMMA.64x{}x32.F32.E4M3.E4M3", "HGMMA IGMMA"},
    {"int8/01_wgmma", "AlongK", "", 1, "IGMMA.64x{}x32.S8.S8", "HGMMA QGMMA STSM"}};

RungCode tma(const TmaRung& rung, const TmaTile& tile) {
  // Promoted sums are added to others in as many registers: in clusters a product is half as wide;
  // else a stage's are added while the next multiplies, and a stage stands there four times, at
  // first, twice in the loop and after it.
  const int groups = !rung.promoted ? 1 : tile.cluster ? 2 : 4;
  // Single tiles keep their registers, and their loads are there twice, to fill the ring and in the
  // loop.
  const bool keeps = tile.single && !rung.promoted;
  // No arrival costs a fence of the whole GPU: that is for the cluster's meetings alone, two or,
  // where the blocks share k, three, of which the compiler has the code twice. Blocks of single
  // tiles meet without one but where they have left each other sums, and where they part once these
  // are read: which a thread does in one of three places.
  const int fences = !tile.cluster ? (tile.single ? 8 : 6) : tile.single ? 0 : 2;
  // A barrier per stage and direction, of which a wait looks at the phase. Where the compiler
  // cannot keep products under way it fences each: one fence a group, a wait for the group before
  // and one for the last, is what is written.
  RungCode code{rung.rung,
                fmt::format("specialised_product<*::{}<fathom::gemm::{}>{}", tile.name,
                            rung.layouts, tile.behind),
                rung.kernels,
                fmt::format(fmt::runtime(rung.product),
                            rung.promoted && tile.cluster ? tile.columns / 2 : tile.columns) +
                    fmt::format("={} UTMALDG.2D={} UTMALDG.2D.MULTICAST={} SYNCS.PHASECHK>=2 "
                                "WARPGROUP.ARRIVE={} WARPGROUP.DEPBAR<={} USETMAXREG={} "
                                "MEMBAR.ALL.GPU<={}",
                                4 * groups, keeps ? 2 * tile.loads : tile.loads,
                                tile.cluster ? 2 : 0, groups, 2 * groups, keeps ? 0 : 2, fences),
                std::string("LDGSTS HMMA ") + rung.lacks,
                specialised};
  if (!tile.cluster) {
    code.lacks += " UTMASTG STSM";
  } else {
    code.has += code.lacks.ends_with("STSM") ? " UTMASTG.2D" : " UTMASTG.2D STSM";
  }
  if (rung.promoted) code.has += " FADD>=16";
  return code;
}

std::vector<RungCode> tma_codes() {
  std::vector<RungCode> codes;
  for (const TmaRung& rung : tma_rungs) {
    for (const TmaTile& tile : tma_tiles) {
      const bool promotes_it = rung.promoted && std::string_view(tile.name) == "ColumnHalves";
      if (!promotes_it && std::string_view(tile.name).find(rung.only) != std::string_view::npos)
        codes.push_back(tma(rung, tile));
    }
  }
  return codes;
}

/// What a product whose first operand goes through registers is made of.
struct Register {
  const char* product;  ///< the opcode of a product, shape included
  int stages;           ///< of the loop, as it is written
  int products;         ///< of a stage
  int additions;        ///< of a stage's sums to the threads' own
  int blocks, boxes;    ///< loaded a stage: blocks of the first operand, boxes of the second
  int multicasts;       ///< boxes among them that others of the cluster get too
};

RungCode through_registers(const char* rung, const std::string& kernel, bool across,
                           const Register& e) {
  // Loaded before the loop and, in it, under the products before: 8 bytes at a time where a
  // thread's rows are neighbours in memory. A block of 64 rows is one box along k, else two. Where
  // the compiler cannot keep products under way it fences each of them.
  return {
      rung,
      "specialised_product<*" + kernel + "*Major)" + (across ? "1" : "0") +
          ", (fathom::gemm::Major)0>",
      1,
      fmt::format(
          "{}={} LDS{}>={} FADD>={} UTMALDG.2D={} UTMALDG.2D.MULTICAST={} WARPGROUP.ARRIVE={} "
          "WARPGROUP.DEPBAR<={} USETMAXREG=2",
          e.product, e.stages * e.products, across ? ".64" : "", (e.stages + 1) * (across ? 8 : 16),
          e.additions, e.blocks * (across ? 2 : 1) + e.boxes, e.multicasts, e.stages, e.stages + 1),
      "LDGSTS HMMA UTMASTG",
      specialised};
}

std::vector<RungCode> fp32_codes() {
  const std::string specialised_code =
      "FFMA>=1024 LDS.128 STG.E.128 USETMAXREG=2 BAR.ARV SYNCS.PHASECHK>=2 ";
  std::vector<RungCode> codes{
      // Sums of a tile's parts go from block to block, with a word that says so; no atomics add
      // them. Each way to fill the ring has one kernel whose shares end with a stage, and one whose
      // shares end with a body.
      {"fp32/26_sliced_depth", "warp_specialised_product<*Tile<false, false,", 2,
       specialised_code + "UTMALDG.2D>=2 LDG.E.STRONG.GPU STG.E.STRONG.GPU MEMBAR.SC.GPU",
       "LDGSTS LDSM STS UTMALDG.2D.MULTICAST RED REDG ATOMG", specialised},
      // Four words of 8 x 4 elements by 4 of k a stage; of A four boxes along k or one along its
      // rows, and one of B.
      {"fp32/26_sliced_depth", "::sliced_product<", 2,
       "FFMA>=512 LDS.128=48 UTMALDG.2D>=2 SYNCS.PHASECHK>=2 STS.128=8 FADD>=8",
       "LDGSTS UBLKCP UCGABAR_ARV UTMALDG.2D.MULTICAST USETMAXREG RED REDG ATOMG"}};
  // Four warps transpose a stage's 128, 256 or 384 rows, 128 floats by two instructions; the first
  // boxes of all are asked for before the loop, once more.
  for (const auto& [transposes, pairs, boxes] :
       {std::tuple{"true, false", 8, 3}, {"false, true", 16, 3}, {"true, true", 24, 4}}) {
    codes.push_back(
        {"fp32/26_sliced_depth", fmt::format("warp_specialised_product<*Tile<{},", transposes), 2,
         specialised_code + fmt::format("LDSM.16.M88.4={0} STS.128={0} STS={0} UTMALDG.2D={1} "
                                        "LDG.E.STRONG.GPU STG.E.STRONG.GPU",
                                        pairs, boxes),
         "LDGSTS RED REDG ATOMG", specialised});
  }
  return codes;
}

std::vector<RungCode> fp64_codes() {
  const std::string no_atomics = "RED REDG ATOMG LDGSTS ";
  std::vector<RungCode> codes{
      // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: two
      // halves of the columns for each of two steps. Blocks of the cluster read each other's sums.
      {"fp64/08_late_reads", "streamed_product<double>", 1,
       "DMMA.16x8x16=8 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 DADD",
       no_atomics + "UTMALDG USETMAXREG"}};
  constexpr int a_words = 16, b_words = 8;  // 16-byte loads of a stage's fragments
  for (const bool a_along_k : {false, true}) {
    for (const bool b_along_k : {false, true}) {
      // A along m and B along k, BLAS's plain layout: 16 bytes a load, and none else. Along k,
      // A's and along n, B's come one by one.
      const std::string loads =
          !a_along_k && b_along_k
              ? fmt::format("LDS.128={} LDS.64=0", a_words + b_words)
              : fmt::format("LDS.64={}", (a_along_k ? 2 * a_words : 0) + 2 * b_words);
      codes.push_back(
          {"fp64/08_late_reads",
           fmt::format("tma_product<(fathom::gemm::Major){}, (fathom::gemm::Major){}>",
                       a_along_k ? 0 : 1, b_along_k ? 0 : 1),
           1,
           // The products of a stage, and half of its last rows' where no stage follows. Who begins
           // a tile adds up what others left, which a word says is there.
           fmt::format("UTMALDG.2D USETMAXREG=2 SYNCS.PHASECHK>=2 DMMA.16x8x16=18 {} "
                       "UTMALDG.2D.MULTICAST UCGABAR_ARV LDG.E.STRONG.GPU LDG.E.128.STRONG.GPU "
                       "STG.E.STRONG.GPU DADD",
                       loads),
           no_atomics, 168});  // of 384 threads
    }
  }
  return codes;
}

std::vector<RungCode> register_codes() {
  // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: of a step of
  // 32 of k, 4 by 8 for each half of the columns. Blocks of the cluster read each other's sums.
  std::vector<RungCode> codes{
      {"tf32/03_large_clusters", "streamed_product<float>", 1,
       "HMMA.1688.F32.TF32=32 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 FADD",
       "HGMMA UTMALDG LDGSTS USETMAXREG RED REDG ATOMG"}};
  const auto add = [&](const char* rung, const char* kernel, int layouts, const Register& e) {
    codes.push_back(through_registers(rung, kernel, true, e));
    if (layouts == 2) codes.push_back(through_registers(rung, kernel, false, e));
  };
  const char *tf32_top = "tf32/03_large_clusters", *split = "fp32-3xtf32/02_planned_tiles",
             *t16 = "HGMMA.64x16x8.F32.TF32", *t64 = "HGMMA.64x64x8.F32.TF32",
             *t128 = "HGMMA.64x128x8.F32.TF32", *t256 = "HGMMA.64x256x8.F32.TF32";
  add(tf32_top, "::LargeClusters,", 1, {t256, 2, 4, 0, 1, 1, 3});
  add(tf32_top, "::LargeClusters>,", 1, {t256, 2, 4, 0, 2, 2, 2});
  add(tf32_top, "::HalfWide,", 1, {t128, 2, 4, 0, 2, 1, 1});
  add(tf32_top, "::Skinny,", 2, {t128, 2, 4, 0, 2, 2, 0});
  add(split, "::Whole<128,", 2, {t128, 1, 12, 64, 2, 2, 2});
  add(split, "::Whole<64,", 2, {t64, 1, 12, 32, 2, 1, 1});
  add(split, "::Shared<128,", 2, {t128, 1, 12, 64, 2, 4, 0});
  add(split, "::Shared<64,", 2, {t64, 1, 12, 32, 2, 2, 0});
  add(split, "::Shared<16,", 2, {t16, 1, 12, 8, 2, 1, 0});
  return codes;
}

}  // namespace

const std::vector<RungCode>& contender_codes() {
  static const std::vector<RungCode> all = [] {
    std::vector<RungCode> codes;
    for (auto part : {fp32_codes(), fp64_codes(), tma_codes(), register_codes()})
      std::ranges::move(part, std::back_inserter(codes));
    return codes;
  }();
  return all;
}
