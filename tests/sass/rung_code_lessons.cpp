// The lessons of gemm/ladder, and their fallback.

#include "tests/sass/rung_code.h"

namespace {

/// The most registers of a thread: with two blocks of 256 threads on an SM, and in blocks of 384.
constexpr int two_blocks = 128;
constexpr int specialised = 168;
const std::string later = " LDGSTS UTMALDG USETMAXREG HMMA HGMMA";
const std::string scalar = " LDG.E.128 STG.E.128 STS.128 SHFL" + later;
const std::string vectors = "LDG.E.128 LDS.128 STG.E.128 STS.128 BAR=2 ";

const std::string no_wgmma = " LDGSTS UTMALDG USETMAXREG HGMMA";

const std::string loads_by_cluster =
    " UTMALDG.2D=4 UTMALDG.2D.MULTICAST=2 SYNCS.PHASECHK>=2 USETMAXREG=2 MEMBAR.ALL.GPU<=2";
const std::string overlapped = loads_by_cluster + " WARPGROUP.ARRIVE=1 WARPGROUP.DEPBAR=2";
const std::string alone =
    " UTMALDG.2D.MULTICAST=0 UTMASTG.2D=0 WARPGROUP.ARRIVE=1 WARPGROUP.DEPBAR=2 "
    "SYNCS.PHASECHK>=2 USETMAXREG=2 MEMBAR.ALL.GPU<=2";

const std::vector<RungCode> codes{
    {"fp32/row_major/01_naive", "row_major::*::naive_product(", 1, "FFMA LDG.E STG.E",
     "LDS STS BAR" + scalar},
    {"fp32/row_major/02_coalesced", "::coalesced_product(", 1, "FFMA LDG.E STG.E",
     "LDS STS BAR" + scalar},
    {"fp32/row_major/03_shared_memory", "row_major::*::shared_memory_product(", 1,
     "FFMA>=32 LDS STS=2 BAR=2", scalar, 64},
    {"fp32/row_major/04_tile_1d", "::tile_1d_product(", 1, "FFMA>=64 LDS STS=2 BAR=2", scalar, 64},
    {"fp32/row_major/05_tile_2d", "::tile_2d_product(", 1, "FFMA>=128 LDS.128 STS=8 BAR=2", scalar,
     two_blocks},
    {"fp32/row_major/06_linearised", "::linearised_product(", 1, "FFMA>=128 LDS>=16 STS=8 BAR=2",
     "LDS.128" + scalar, two_blocks},
    {"fp32/row_major/07_padded", "::padded_product(", 1, "FFMA>=128 LDS.128 STS=8 BAR=2", scalar,
     two_blocks},
    // The tiles before the loop and those in it.
    {"fp32/row_major/08_double_buffered", "row_major::*::double_buffered_product(", 1,
     "FFMA>=128 LDS.128 STS=16 BAR=2", scalar, two_blocks},
    {"fp32/row_major/09_vectorised", "::vectorised_product(", 1, vectors + "FFMA>=512 LDS.128=32",
     "SHFL" + later, two_blocks},
    {"fp32/row_major/10_autotuned", "::autotuned_product<", 7, vectors + "FFMA>=256",
     "SHFL" + later, 0},
    {"fp32/row_major/11_warp_tile", "::warp_tile_product(", 1, vectors + "FFMA>=512 LDS.128=32",
     "SHFL" + later, two_blocks},
    {"fp32/column_major/01_naive", "column_major::*::naive_product(", 1,
     "FFMA>=32 SHFL.IDX>=32 LDS STS BAR=2", "LDG.E.128 STG.E.128 STS.128" + later, 128},
    {"fp32/column_major/02_shared_memory", "column_major::*::shared_memory_product<false>", 1,
     "FFMA>=128 LDS STS=8 BAR=2", scalar, 64},
    {"fp32/column_major/03_tile_2x2", "::thread_tile_product<2, 2, true>", 1,
     "FFMA>=128 LDS STS BAR=3", scalar, 64},
    {"fp32/column_major/04_tile_64", "::tile_64_product(", 1, "FFMA LDS STS=32 STG.E.128 BAR=2",
     "STS.128 SHFL" + later, 0},
    {"fp32/column_major/05_vectorised_64", "::vectorised_64_product(", 1,
     vectors + "FFMA>=128 STS.128=4", "SHFL" + later, 0},
    {"fp32/column_major/06_tile_128", "::tile_128_product<4, 16, 1>", 1,
     vectors + "FFMA>=512 STS.128=1", "SHFL" + later, two_blocks},
    {"fp32/column_major/07_double_buffered", "::tile_128_product<4, 16, 2>", 1,
     vectors + "FFMA>=512 STS.128=2", "SHFL" + later, two_blocks},
    {"fp32/column_major/08_staged_registers", "column_major::*::shared_memory_product<true>", 1,
     "FFMA>=128 LDS STS=8 BAR=2", scalar, 64},
    {"fp32/column_major/09_tile_8x8", "::tile_128_product<8, 8, 1>", 1,
     vectors + "FFMA>=512 STS.128=1 LDS.128=32", "SHFL" + later, two_blocks},
    {"fp32/column_major/10_vector_store", "::thread_tile_product<4, 1, false>", 1,
     "FFMA>=128 LDS STS=8 STG.E.128 BAR=2", "STS.128 SHFL" + later, 64},
    {"fp32/row_major/12_two_outputs", "::two_outputs_product(", 1, "FFMA>=64 LDS STS=4 BAR=2",
     scalar, 64},
    {"fp32/row_major/13_two_buffers", "::two_buffers_product(", 1, "FFMA>=32 LDS STS=2 BAR=1",
     scalar, 64},
    {"fp32/row_major/14_registers_buffered", "::registers_buffered_product(", 1,
     vectors + "FFMA>=1024 LDS.128=68 STS.128=4", "SHFL" + later, two_blocks},
    {"fp32/row_major/15_async_multistage", "::async_multistage_product<128, ", 1,
     "FFMA>=512 LDGSTS LDS.128=32 LDGDEPBAR BAR=1 STG.E.128",
     "STS SHFL UTMALDG USETMAXREG HMMA HGMMA", two_blocks},
    {"fp32/row_major/16_wide_thread_tile", "::async_multistage_product<256, ", 1,
     "FFMA>=1024 LDGSTS LDS.128=48 LDGDEPBAR BAR=1 STG.E.128",
     "STS SHFL UTMALDG USETMAXREG HMMA HGMMA"},
    {"half/01_wmma_global", "::wmma_global_product<", 2, "HMMA STS BAR=0", "LDSM" + no_wgmma},
    // nvcc makes ldmatrix of wmma's loads for fp16 alone.
    {"half/02_wmma_shared", "::wmma_shared_product<__half", 1,
     "HMMA.16816.F32=64 LDSM=16 LDG.E.128 STS.128 BAR=2", no_wgmma},
    {"half/02_wmma_shared", "::wmma_shared_product<__nv_bfloat16", 1,
     "HMMA.16816.F32.BF16=64 LDG.E.128 STS.128 BAR=2", "LDSM" + no_wgmma},
    {"half/03_mma_sync", "::mma_sync_product<", 2, "HMMA=64 LDSM=16 LDG.E.128 STS.128 BAR=2",
     no_wgmma},
    // The first step's fragments are read before the loop.
    {"half/04_multistage", "::multistage_product<", 2, "HMMA=64 LDSM=24 LDGSTS LDGDEPBAR BAR=3",
     "STS.128 UTMALDG USETMAXREG HGMMA"},
    {"half/05_wgmma", "::wgmma_product<", 2,
     "HGMMA.64x128x16.F32=8 UTMALDG.2D=8 UTMALDG.2D.MULTICAST=0 UTMASTG.2D=0 WARPGROUP.ARRIVE=1 "
     "WARPGROUP.DEPBAR=2 SYNCS.PHASECHK>=1 USETMAXREG=0 MEMBAR.ALL.GPU<=2",
     "LDGSTS HMMA STSM"},
    {"half/06_warp_specialised", "::warp_specialised_product<*, 128>", 2,
     "HGMMA.64x128x16.F32=4 UTMALDG.2D=4" + alone, "LDGSTS HMMA STSM"},
    {"half/07_wide_tile", "::warp_specialised_product<*, 256>", 2,
     "HGMMA.64x256x16.F32=4 UTMALDG.2D=6" + alone, "LDGSTS HMMA STSM"},
    {"half/08_persistent", "::persistent_product<*, 1>", 2,
     "HGMMA.64x256x16.F32=4 UTMALDG.2D=6" + alone, "LDGSTS HMMA STSM"},
    {"half/09_cluster_multicast", "::persistent_product<*, 2>", 2,
     "HGMMA.64x256x16.F32=4 UTMASTG.2D=0" + overlapped, "LDGSTS HMMA STSM"},
    {"half/10_overlapped_epilogue", "::overlapped_product<*(fathom::gemm::Major)1>", 2,
     "HGMMA.64x256x16.F32=4 UTMASTG.2D=4 STSM" + overlapped, "LDGSTS HMMA"},
    // A: a half-warp reads one word for all lanes, two k at once.
    {"fp64/01_shared_memory", "::square_tile_product(", 1, "DFMA>=16 LDS.128>=8 LDS.64>=16 BAR>=2",
     "DMMA" + no_wgmma},
    {"fp64/02_register_tile", "::register_tile_product(", 1,
     "DFMA>=512 LDS.128=64 STS.64=4 STS.128=2 LDG.E.128>=4 STG.E.128>=32 BAR=2", "DMMA" + no_wgmma},
    {"fp64/03_tensor_cores", "::tensor_cores_product<false>", 1,
     "DMMA.8x8x4=128 LDS.64=48 LDG.E.128 STS.128 BAR=2", "DMMA.16x8x16" + no_wgmma},
    {"fp64/04_wide_products", "::tensor_cores_product<true>", 1,
     "DMMA.16x8x16=16 LDS.64=48 LDG.E.128 STS.128 BAR=2", "DMMA.8x8x4" + no_wgmma},
    {"fp64/05_tma", "::tma_lesson_product<false>", 1,
     "DMMA.16x8x16=16 LDS.128=24 UTMALDG.2D UTMALDG.2D.MULTICAST=0 USETMAXREG=2 "
     "SYNCS.PHASECHK>=2",
     "LDGSTS LDS.64 UCGABAR_ARV DADD", specialised},
    {"fp64/06_cluster_multicast", "::tma_lesson_product<true>", 1,
     "DMMA.16x8x16=16 LDS.128=24 UTMALDG.2D.MULTICAST USETMAXREG=2 UCGABAR_ARV "
     "SYNCS.PHASECHK>=2",
     "LDGSTS LDS.64 DADD", specialised},
    // As half/10, but for the type, and twice the stores where C has 32 bits.
    {"tf32/along_k/01_wgmma", "::overlapped_product<float", 1,
     "HGMMA.64x256x8.F32.TF32=4 UTMASTG.2D=8" + overlapped, "LDGSTS HMMA STSM FADD"},
    {"fp8/along_k/01_fast_sums", "::overlapped_product<__nv_fp8_e4m3", 1,
     "QGMMA.64x256x32.F32.E4M3.E4M3=4 UTMASTG.2D=4 STSM" + overlapped, "LDGSTS HMMA FADD"},
    // A sum of each of 128 columns' registers, twice a stage.
    {"fp8/along_k/02_promoted", "::promoted_product(", 1,
     "QGMMA.64x128x32.F32.E4M3.E4M3=8 FADD>=128 UTMASTG.2D=4 STSM WARPGROUP.ARRIVE=2" +
         loads_by_cluster,
     "LDGSTS HMMA"},
    {"int8/along_k/01_wgmma", "::overlapped_product<signed char", 1,
     "IGMMA.64x256x32.S8.S8=4 UTMASTG.2D=8" + overlapped, "LDGSTS HMMA STSM FADD"},
    {"", "::any_product<__nv_fp8_e4m3", 1, "FFMA>=256 LDS STS BAR=2", later, two_blocks},
    {"", "::any_product<signed char", 1, "IMAD>=256 LDS STS BAR=2", later, two_blocks},
    {"", "::any_product<__half", 1, "FFMA>=256 LDS STS BAR=2", later, two_blocks},
    {"", "::any_product<__nv_bfloat16", 1, "FFMA>=256 LDS STS BAR=2", later, two_blocks},
    {"", "::any_product<double", 1, "DFMA>=256 LDS STS BAR=2", "DMMA" + later, two_blocks},
    {"", "::any_product<float", 1, "FFMA>=256 LDS STS BAR=2", "STS.128" + later, two_blocks},
};

}  // namespace

const std::vector<RungCode>& lesson_codes() { return codes; }
