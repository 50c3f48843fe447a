#include "tests/sass/rung_code.h"

namespace {

/// Two blocks of 256 threads.
constexpr int two_blocks = 128;
/// 384 threads, of which the producer ones give away what the others take.
constexpr int specialised = 168;

}  // namespace

std::vector<RungCode> fp32_codes() {
  // What other rungs are for, from 20 on and of other classes.
  const std::string later = " LDGSTS UTMALDG USETMAXREG HMMA HGMMA";
  // All that goes to and from memory goes 16 bytes at a time.
  const std::string vectors = " LDG.E.128 LDS.128 STS.128 STG.E.128";
  const std::string pipeline = "LDGSTS LDS.128 STG.E.128";
  const std::string specialised_code =
      "FFMA>=1024 LDS.128 STG.E.128 USETMAXREG=2 BAR.ARV SYNCS.PHASECHK>=2 ";
  return {
      {"fp32/01_naive", "::naive_product(", 1, "FFMA LDG.E", "LDS STS SHFL BAR" + later},
      {"fp32/02_coalesced", "::coalesced_product(", 1, "FFMA LDG.E", "LDS STS SHFL BAR" + later},
      {"fp32/03_shuffle_broadcast", "::shuffle_product(", 1, "SHFL.IDX>=32 FFMA>=32",
       "LDS STS BAR" + later},
      // A tile's k in one go, an element of each operand a multiplication.
      {"fp32/04_shared_memory", "::shared_memory_product(", 1, "FFMA>=32 LDS=64 STS=2 BAR=2",
       "SHFL" + later, 32},
      // 32 registers: so that eight blocks of 256 threads are resident.
      {"fp32/05_shared_columns", "::shared_columns_product(", 1, "FFMA>=16 LDS=32 STS=2 BAR=2",
       "LDS.64 LDS.128 SHFL" + later, 32},
      {"fp32/06_two_outputs", "::two_outputs_product(", 1, "FFMA>=64 LDS STS=4 BAR=2",
       "SHFL" + later},
      {"fp32/07_tile_1d", "::tile_1d_product(", 1, "FFMA>=64 LDS STS=2 BAR=2", "SHFL" + later},
      {"fp32/08_tile_2x2", "::tile_2x2_product(", 1, "FFMA>=64 LDS STS=4 BAR=2", "SHFL" + later},
      {"fp32/09_tile_64", "::tile_64_product(", 1, "FFMA>=256 LDS STS=8 BAR=2", "SHFL" + later},
      {"fp32/10_tile_2d", "::tile_2d_product(", 1, "FFMA>=512 LDS STS=8 BAR=2", "LDG.E.128" + later,
       two_blocks},
      {"fp32/11_linearised", "::linearised_product(", 1, "FFMA>=512 LDS STS=8 BAR=2",
       "LDG.E.128" + later, two_blocks},
      {"fp32/12_padded", "::padded_product(", 1, "FFMA>=512 LDS STS=8 BAR=2", "LDG.E.128" + later,
       two_blocks},
      {"fp32/13_swizzled", "::swizzled_product(", 1, "FFMA>=512 LDS STS=8 BAR=2",
       "LDG.E.128" + later},
      // Of tiles that are fetched before the loop and in it. One barrier is in the loop, one before
      // it.
      {"fp32/14_double_buffered", "::double_buffered_product(", 1, "FFMA>=512 LDS STS=16 BAR=2",
       "LDG.E.128" + later, two_blocks},
      {"fp32/15_vectorised", "::vectorised_product(", 1, "FFMA>=512 BAR=2" + vectors, later},
      {"fp32/16_vectorised_64", "::vectorised_64_product(", 1, "FFMA>=256 BAR=2" + vectors, later},
      {"fp32/17_tile_16x4", "::tile_16x4_product(", 1, "FFMA>=512 BAR=2" + vectors, later},
      // Their ablations: as many accesses, of as many bytes.
      {"fp32/17_tile_16x4", "::tile_8x8_product(", 1, "FFMA>=512 BAR=2 LDS.128=32" + vectors,
       "LDS.64" + later, two_blocks},
      {"fp32/18_registers_buffered", "::registers_unbuffered_product(", 1,
       "FFMA>=512 BAR=2 STS.128=2 LDS.128=32" + vectors, later, two_blocks},
      {"fp32/18_registers_buffered", "::registers_buffered_product(", 1,
       "FFMA>=512 BAR=2 STS.128=2" + vectors, later, two_blocks},
      {"fp32/19_warp_tile", "::warp_tile_product(", 1, "FFMA>=512 BAR=2 STS.128=2" + vectors, later,
       two_blocks},

      // A group of copies for each stage of the ring.
      {"fp32/20_async_multistage", "Tiling<128, 128, 8,", 9, "FFMA>=512 LDGDEPBAR=5 " + pipeline,
       "STS UTMALDG USETMAXREG", two_blocks},
      {"fp32/20_async_multistage",
       "Tiling<128, 128, 8,*(fathom::gemm::Along)0, (fathom::gemm::Along)0>", 1,
       "LDGSTS.E.BYPASS.128", ""},
      {"fp32/21_wide_thread_tile", "Tiling<128, 256, 8,", 9, "FFMA>=1024 LDGDEPBAR=5 " + pipeline,
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

      {"fp32/23_tma_producer", "warp_specialised_product<*Cut)0>, fathom::gemm::fp32::TmaProducer>",
       1, specialised_code + "UTMALDG.2D>=2", "LDGSTS LDSM STS UTMALDG.2D.MULTICAST", specialised},
      // Sixteen bytes where lines allow it, four elsewhere; what has arrived is told by the copies.
      {"fp32/24_thread_producer", "warp_specialised_product<*, fathom::gemm::fp32::ThreadProducer>",
       1, specialised_code + "LDGSTS.E.BYPASS.128 LDGSTS.E ARRIVES.LDGSTSBAR", "UTMALDG LDSM STS",
       specialised},
      // Sums of a tile's parts go from block to block, with a word that says so; no atomics add
      // them. Of each producer one kernel whose shares end with a stage, and one whose end with a
      // body.
      {"fp32/25_stream_k", "warp_specialised_product<*, fathom::gemm::fp32::TmaProducer>", 2,
       specialised_code + "LDG.E.STRONG.GPU STG.E.STRONG.GPU MEMBAR.SC.GPU", "RED REDG ATOMG",
       specialised},
      {"fp32/25_stream_k", "warp_specialised_product<*TransposingProducer<", 6,
       specialised_code + "LDSM.16.M88.4 STS.128 UTMALDG.2D>=3 LDG.E.STRONG.GPU STG.E.STRONG.GPU",
       "LDGSTS RED REDG ATOMG", specialised},
      // Four words of 8 x 4 elements by 4 of k a stage; four boxes of A and one of B.
      {"fp32/26_sliced_depth", "::sliced_product<", 1,
       "FFMA>=512 LDS.128=48 UTMALDG.2D=5 SYNCS.PHASECHK>=2 STS.128=8 FADD>=8",
       "LDGSTS UBLKCP UCGABAR_ARV UTMALDG.2D.MULTICAST USETMAXREG RED REDG ATOMG"},
  };
}
