#pragma once

#include "probes/instructions/instructions.h"

namespace fathom::instructions {

/// One warp's mma.sync: results are multiply-adds.
constexpr Instruction mma(std::string_view id, std::string_view subject, std::string_view op,
                          std::string_view opcode, TensorType type, double fma, int since,
                          bool quick = false) {
  return {.id = id, .subject = subject, .family = "mma", .ptx = "mma.sync", .op = op,
          .sass = {{{opcode}}}, .since = since, .results = fma, .counted = false, .tensor = type,
          .reaches_bound = false, .usual_latency = 34, .quick = quick};
}

/// Hopper multiplies e4m3 in wgmma alone: for mma.sync the compiler converts to fp16, multiplies once and
/// takes that out of the loop. There is nothing to time.
constexpr Instruction mma_e4m3() {
  Instruction e4m3 = mma("mma_e4m3_k32", "mma m16n8k32 e4m3 to fp32", "MmaE4m3K32", "QMMA",
                         TensorType::fp8, 16 * 8 * 32, 89);
  e4m3.not_in_data_centre = true;
  return e4m3;
}

inline constexpr Instruction mma_instructions[] = {
    mma("mma_f16_k8", "mma m16n8k8 fp16 to fp32", "MmaF16K8", "HMMA", TensorType::f16, 1024, 75),
    mma("mma_f16_k16", "mma m16n8k16 fp16 to fp32", "MmaF16K16", "HMMA", TensorType::f16, 2048, 80, true),
    mma("mma_f16_k16_f16", "mma m16n8k16 fp16 to fp16", "MmaF16K16F16", "HMMA", TensorType::f16, 2048, 80),
    mma("mma_bf16_k8", "mma m16n8k8 bf16 to fp32", "MmaBf16K8", "HMMA", TensorType::bf16, 1024, 80),
    mma("mma_bf16_k16", "mma m16n8k16 bf16 to fp32", "MmaBf16K16", "HMMA", TensorType::bf16, 2048, 80),
    mma("mma_tf32_k4", "mma m16n8k4 tf32 to fp32", "MmaTf32K4", "HMMA", TensorType::tf32, 512, 80),
    mma("mma_tf32_k8", "mma m16n8k8 tf32 to fp32", "MmaTf32K8", "HMMA", TensorType::tf32, 1024, 80),
    mma("mma_s8_k16", "mma m16n8k16 int8 to int32", "MmaS8K16", "IMMA", TensorType::s8, 2048, 80),
    mma("mma_s8_k32", "mma m16n8k32 int8 to int32", "MmaS8K32", "IMMA", TensorType::s8, 4096, 80),
    mma_e4m3(),
    mma("mma_f64_k4", "mma m8n8k4 fp64", "MmaF64K4", "DMMA", TensorType::f64, 256, 80),
    mma("mma_f64_k16", "mma m16n8k16 fp64", "MmaF64K16", "DMMA", TensorType::f64, 2048, 90, true),
};

/// One warp's quarter of a warpgroup's wgmma of 64 rows.
constexpr Instruction wgmma(std::string_view id, std::string_view subject, std::string_view op,
                            std::string_view opcode, TensorType type, int columns, int k,
                            bool quick = false) {
  return {.id = id, .subject = subject, .family = "wgmma", .ptx = "wgmma.mma_async", .op = op,
          .sass = {{{opcode}}}, .since = 90, .hopper_only = true, .results = 16.0 * columns * k,
          .counted = false, .tensor = type, .reaches_bound = columns >= 128, .usual_latency = 32.0 + columns / 2.0,
          .latency_warps = 4, .quick = quick};
}

inline constexpr Instruction wgmma_instructions[] = {
    wgmma("wgmma_f16_n64_shared", "wgmma m64n64k16 fp16, A in shared",
          "WgmmaF16<64, false>", "HGMMA", TensorType::f16, 64, 16),
    wgmma("wgmma_f16_n128_shared", "wgmma m64n128k16 fp16, A in shared",
          "WgmmaF16<128, false>", "HGMMA", TensorType::f16, 128, 16),
    wgmma("wgmma_f16_n256_shared", "wgmma m64n256k16 fp16, A in shared",
          "WgmmaF16<256, false>", "HGMMA", TensorType::f16, 256, 16, true),
    wgmma("wgmma_f16_n64_registers", "wgmma m64n64k16 fp16, A in registers",
          "WgmmaF16<64, true>", "HGMMA", TensorType::f16, 64, 16),
    wgmma("wgmma_f16_n128_registers", "wgmma m64n128k16 fp16, A in registers",
          "WgmmaF16<128, true>", "HGMMA", TensorType::f16, 128, 16),
    wgmma("wgmma_f16_n256_registers", "wgmma m64n256k16 fp16, A in registers",
          "WgmmaF16<256, true>", "HGMMA", TensorType::f16, 256, 16),
    wgmma("wgmma_bf16_n64_shared", "wgmma m64n64k16 bf16, A in shared",
          "WgmmaBf16<64, false>", "HGMMA", TensorType::bf16, 64, 16),
    wgmma("wgmma_bf16_n128_shared", "wgmma m64n128k16 bf16, A in shared",
          "WgmmaBf16<128, false>", "HGMMA", TensorType::bf16, 128, 16),
    wgmma("wgmma_bf16_n256_shared", "wgmma m64n256k16 bf16, A in shared",
          "WgmmaBf16<256, false>", "HGMMA", TensorType::bf16, 256, 16),
    wgmma("wgmma_bf16_n64_registers", "wgmma m64n64k16 bf16, A in registers",
          "WgmmaBf16<64, true>", "HGMMA", TensorType::bf16, 64, 16),
    wgmma("wgmma_bf16_n128_registers", "wgmma m64n128k16 bf16, A in registers",
          "WgmmaBf16<128, true>", "HGMMA", TensorType::bf16, 128, 16),
    wgmma("wgmma_bf16_n256_registers", "wgmma m64n256k16 bf16, A in registers",
          "WgmmaBf16<256, true>", "HGMMA", TensorType::bf16, 256, 16),
    wgmma("wgmma_tf32_n64_shared", "wgmma m64n64k8 tf32, A in shared",
          "WgmmaTf32<64, false>", "HGMMA", TensorType::tf32, 64, 8),
    wgmma("wgmma_tf32_n128_shared", "wgmma m64n128k8 tf32, A in shared",
          "WgmmaTf32<128, false>", "HGMMA", TensorType::tf32, 128, 8),
    wgmma("wgmma_tf32_n256_shared", "wgmma m64n256k8 tf32, A in shared",
          "WgmmaTf32<256, false>", "HGMMA", TensorType::tf32, 256, 8),
    wgmma("wgmma_tf32_n64_registers", "wgmma m64n64k8 tf32, A in registers",
          "WgmmaTf32<64, true>", "HGMMA", TensorType::tf32, 64, 8),
    wgmma("wgmma_tf32_n128_registers", "wgmma m64n128k8 tf32, A in registers",
          "WgmmaTf32<128, true>", "HGMMA", TensorType::tf32, 128, 8),
    wgmma("wgmma_tf32_n256_registers", "wgmma m64n256k8 tf32, A in registers",
          "WgmmaTf32<256, true>", "HGMMA", TensorType::tf32, 256, 8),
    wgmma("wgmma_e4m3_n64_shared", "wgmma m64n64k32 e4m3, A in shared",
          "WgmmaE4m3<64, false>", "QGMMA", TensorType::fp8, 64, 32),
    wgmma("wgmma_e4m3_n128_shared", "wgmma m64n128k32 e4m3, A in shared",
          "WgmmaE4m3<128, false>", "QGMMA", TensorType::fp8, 128, 32),
    wgmma("wgmma_e4m3_n256_shared", "wgmma m64n256k32 e4m3, A in shared",
          "WgmmaE4m3<256, false>", "QGMMA", TensorType::fp8, 256, 32, true),
    wgmma("wgmma_e4m3_n64_registers", "wgmma m64n64k32 e4m3, A in registers",
          "WgmmaE4m3<64, true>", "QGMMA", TensorType::fp8, 64, 32),
    wgmma("wgmma_e4m3_n128_registers", "wgmma m64n128k32 e4m3, A in registers",
          "WgmmaE4m3<128, true>", "QGMMA", TensorType::fp8, 128, 32),
    wgmma("wgmma_e4m3_n256_registers", "wgmma m64n256k32 e4m3, A in registers",
          "WgmmaE4m3<256, true>", "QGMMA", TensorType::fp8, 256, 32),
    wgmma("wgmma_s8_n64_shared", "wgmma m64n64k32 int8, A in shared",
          "WgmmaS8<64, false>", "IGMMA", TensorType::s8, 64, 32),
    wgmma("wgmma_s8_n128_shared", "wgmma m64n128k32 int8, A in shared",
          "WgmmaS8<128, false>", "IGMMA", TensorType::s8, 128, 32),
    wgmma("wgmma_s8_n256_shared", "wgmma m64n256k32 int8, A in shared",
          "WgmmaS8<256, false>", "IGMMA", TensorType::s8, 256, 32),
    wgmma("wgmma_s8_n64_registers", "wgmma m64n64k32 int8, A in registers",
          "WgmmaS8<64, true>", "IGMMA", TensorType::s8, 64, 32),
    wgmma("wgmma_s8_n128_registers", "wgmma m64n128k32 int8, A in registers",
          "WgmmaS8<128, true>", "IGMMA", TensorType::s8, 128, 32),
    wgmma("wgmma_s8_n256_registers", "wgmma m64n256k32 int8, A in registers",
          "WgmmaS8<256, true>", "IGMMA", TensorType::s8, 256, 32),
};

}  // namespace fathom::instructions
