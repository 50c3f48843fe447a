// The contenders of gemm/best, type by type.

#include "tests/sass/rung_code.h"

namespace {

/// Of 384 threads, of which the producer ones give away what the others take.
constexpr int specialised = 168;

/// What a product by wgmma from what TMA brings is made of. The products of a stage are
/// one group in one loop; the first waits for the stage's bytes.
struct TmaCode {
  const char* product;  ///< the opcode of a product, shape included
  int products;         ///< of a stage: 4 steps of each block of 64 rows
  int loads, multicasts, stores;
  int groups = 1;  ///< of products of a stage, where sums are promoted: two halves of the columns
  bool single_tile = false;  ///< meets without a fence
  bool keeps =
      false;  ///< its registers: its loads are there twice, to fill the ring and in the loop
};
/// One of at most 64 columns: loads and multicasts of a stage.
constexpr TmaCode keeping(const char* product, int loads, int multicasts, int stores) {
  return {product, 4, 2 * loads, 2 * multicasts, stores, 1, true, true};
}

RungCode tma(const char* rung, const std::string& kernel, int kernels, const TmaCode& e) {
  // A barrier per stage and direction, of which a wait looks at the phase. Where the compiler
  // cannot keep products under way it fences each: one fence a group, a wait for the group before
  // and one for the last, is what is written.
  RungCode code{
      rung,
      kernel,
      kernels,
      fmt::format("{}={} UTMALDG.2D={} UTMALDG.2D.MULTICAST={} UTMASTG.2D={} SYNCS.PHASECHK>=2 "
                  "WARPGROUP.ARRIVE={} WARPGROUP.DEPBAR<={} ",
                  e.product, e.products, e.loads, e.multicasts, e.stores, e.groups, 2 * e.groups),
      "LDGSTS HMMA",
      specialised};
  const std::string product = e.product;
  for (const char* other : {"HGMMA", "IGMMA", "QGMMA"}) {
    if (!product.starts_with(other)) code.lacks += std::string(" ") + other;
  }
  const bool narrow =
      product.find(".S8") == std::string::npos && product.find("TF32") == std::string::npos;
  (e.stores > 0 && narrow ? code.has : code.lacks) += " STSM";
  code.has += e.keeps ? " USETMAXREG=0" : " USETMAXREG=2";
  // No arrival costs a fence of the whole GPU: that is for the cluster's meetings alone, two or,
  // where the blocks share k, three, of which the compiler has the code twice.
  const bool shares_depth = kernel.find("::Columns") != std::string::npos;
  // Blocks of single-tile kernels meet without one but where they have left each other sums, and
  // where they part once these are read: which a thread does in one of three places.
  const int fences = shares_depth                         ? (e.single_tile ? 8 : 6)
                     : e.multicasts > 0 && !e.single_tile ? 2
                                                          : 0;
  code.has += fmt::format(" MEMBAR.ALL.GPU<={}", fences);
  return code;
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
        {"fp32/26_sliced_depth",
         fmt::format("warp_specialised_product<*Tile<{},", transposes), 2,
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

std::vector<RungCode> half_codes() {
  const char *n16 = "HGMMA.64x16x16.F32", *n64 = "HGMMA.64x64x16.F32",
             *n128 = "HGMMA.64x128x16.F32", *n256 = "HGMMA.64x256x16.F32";
  return {
      tma("half/15_deferred_stores", "::Columns16<", 8, keeping(n16, 3, 0, 0)),
      tma("half/15_deferred_stores", "::Columns64<", 8, {n64, 4, 3, 0, 0}),
      tma("half/15_deferred_stores", "::Columns128<", 8, {n128, 4, 4, 0, 0}),
      tma("half/15_deferred_stores", "::WideTile<fathom::gemm::AnyLayout>,", 8, {n256, 4, 4, 2, 4}),
      // A store under the products, and two where the last tile's are made up for.
      tma("half/15_deferred_stores", "::LargeClusters<fathom::gemm::AnyLayout>,", 8,
          {n256, 4, 2, 2, 3}),
      tma("half/15_deferred_stores", "::LargeClusters<fathom::gemm::AnyLayout> >,", 8,
          {n256, 4, 4, 2, 3}),
      tma("half/15_deferred_stores", "::ColumnHalves<", 8, keeping(n64, 2, 1, 1)),
  };
}

std::vector<RungCode> other_tensor_codes() {
  std::vector<RungCode> codes;
  const auto add = [&](const char* rung, const char* shape, const TmaCode& e) {
    codes.push_back(tma(rung, std::string("specialised_product<*::") + shape, 1, e));
  };
  const auto add_registers = [&](const char* rung, const char* kernel, int layouts,
                                 const Register& e) {
    codes.push_back(through_registers(rung, kernel, true, e));
    if (layouts == 2) codes.push_back(through_registers(rung, kernel, false, e));
  };

  const char *t16 = "HGMMA.64x16x8.F32.TF32", *t64 = "HGMMA.64x64x8.F32.TF32",
             *t128 = "HGMMA.64x128x8.F32.TF32", *t256 = "HGMMA.64x256x8.F32.TF32";
  const char* tf32_top = "tf32/03_large_clusters";
  add(tf32_top, "WideTile<fathom::gemm::AlongK>,", {t256, 4, 4, 2, 8});
  add_registers(tf32_top, "::LargeClusters,", 1, {t256, 2, 4, 0, 1, 1, 3});
  add_registers(tf32_top, "::LargeClusters>,", 1, {t256, 2, 4, 0, 2, 2, 2});
  add_registers(tf32_top, "::HalfWide,", 1, {t128, 2, 4, 0, 2, 1, 1});
  add_registers(tf32_top, "::Skinny,", 2, {t128, 2, 4, 0, 2, 2, 0});
  // Runs of memory instead of boxes, one for each of 16 rows. Products of two stages: of a step of
  // 32 of k, 4 by 8 for each half of the columns. Blocks of the cluster read each other's sums.
  codes.push_back(
      {tf32_top, "streamed_product<float>", 1,
       "HMMA.1688.F32.TF32=32 UBLKCP.S.G=16 LDS.128 LD.E.128 UCGABAR_ARV SYNCS.PHASECHK>=2 FADD",
       "HGMMA UTMALDG LDGSTS USETMAXREG RED REDG ATOMG"});

  const char* split = "fp32-3xtf32/02_planned_tiles";
  add_registers(split, "::Whole<128,", 2, {t128, 1, 12, 64, 2, 2, 2});
  add_registers(split, "::Whole<64,", 2, {t64, 1, 12, 32, 2, 1, 1});
  add_registers(split, "::Shared<128,", 2, {t128, 1, 12, 64, 2, 4, 0});
  add_registers(split, "::Shared<64,", 2, {t64, 1, 12, 32, 2, 2, 0});
  add_registers(split, "::Shared<16,", 2, {t16, 1, 12, 8, 2, 1, 0});

  const char *q16 = "QGMMA.64x16x32.F32.E4M3.E4M3", *q64 = "QGMMA.64x64x32.F32.E4M3.E4M3",
             *q128 = "QGMMA.64x128x32.F32.E4M3.E4M3", *q256 = "QGMMA.64x256x32.F32.E4M3.E4M3";
  // Half as wide: the other half of the registers has the sums that these are added to.
  const char *promoted = "fp8/01_promoted", *fast = "fp8/02_fast_accumulation";
  add(promoted, "WideTile<fathom::gemm::AlongKPromoted>,", {q128, 8, 4, 2, 4, 2});
  add(promoted, "LargeClusters<fathom::gemm::AlongKPromoted>,", {q128, 8, 2, 2, 4, 2});
  add(promoted, "LargeClusters<fathom::gemm::AlongKPromoted> >,", {q128, 8, 4, 2, 4, 2});
  // Two stages' sums, of one that is added while the next multiplies: a stage stands there four
  // times, at first, twice in the loop and after it.
  add(promoted, "Columns16<fathom::gemm::AlongKPromoted>,", {q16, 16, 3, 0, 0, 4, true});
  add(promoted, "Columns64<fathom::gemm::AlongKPromoted>,", {q64, 16, 3, 0, 0, 4});
  add(promoted, "Columns128<fathom::gemm::AlongKPromoted>,", {q128, 16, 4, 0, 0, 4});
  for (RungCode& code : codes) {
    if (code.rung == promoted) code.has += " FADD>=16";
  }
  for (const auto& [rung, n16, n64, n128, n256, stores, deferred] :
       {std::tuple{fast, q16, q64, q128, q256, 4, 3},
        {"int8/01_wgmma", "IGMMA.64x16x32.S8.S8", "IGMMA.64x64x32.S8.S8", "IGMMA.64x128x32.S8.S8",
         "IGMMA.64x256x32.S8.S8", 8, 8}}) {
    const bool wide_c = stores == 8;  // 32 bits
    add(rung, "WideTile<fathom::gemm::AlongK>,", {n256, 4, 4, 2, stores});
    add(rung, "LargeClusters<fathom::gemm::AlongK>,", {n256, 4, 2, 2, deferred});
    add(rung, "LargeClusters<fathom::gemm::AlongK> >,", {n256, 4, 4, 2, deferred});
    add(rung, "ColumnHalves<fathom::gemm::AlongK>,", keeping(n64, 2, 1, wide_c ? 2 : 1));
    add(rung, "Columns16<fathom::gemm::AlongK>,", keeping(n16, 3, 0, 0));
    add(rung, "Columns64<fathom::gemm::AlongK>,", {n64, 4, 3, 0, 0});
    add(rung, "Columns128<fathom::gemm::AlongK>,", {n128, 4, 4, 0, 0});
  }
  return codes;
}

}  // namespace

const std::vector<RungCode>& contender_codes() {
  static const std::vector<RungCode> all = [] {
    std::vector<RungCode> codes;
    for (auto part : {fp32_codes(), fp64_codes(), half_codes(), other_tensor_codes()})
      std::ranges::move(part, std::back_inserter(codes));
    return codes;
  }();
  return all;
}
