#pragma once

#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "probes/instructions/instructions.h"

namespace fathom::instructions {

/// One warp's mma.sync: results are multiply-adds.
constexpr Instruction mma(std::string_view id, std::string_view subject, std::string_view op,
                          std::string_view opcode, TensorType type, double fma, int since,
                          bool quick = false) {
  return {.id = id,
          .subject = subject,
          .family = "mma",
          .ptx = "mma.sync",
          .op = op,
          .sass = {{{opcode}}},
          .since = since,
          .results = fma,
          .counted = false,
          .tensor = type,
          .reaches_bound = false,
          .usual_latency = 34,
          .quick = quick};
}

/// Hopper multiplies e4m3 in wgmma alone: for mma.sync the compiler converts to fp16, multiplies
/// once and takes that out of the loop. There is nothing to time.
constexpr Instruction mma_e4m3() {
  Instruction e4m3 = mma("mma_e4m3_k32", "mma m16n8k32 e4m3 to fp32", "MmaE4m3K32", "QMMA",
                         TensorType::fp8, 16 * 8 * 32, 89);
  e4m3.not_in_data_centre = true;
  return e4m3;
}

inline constexpr Instruction mma_instructions[] = {
    mma("mma_f16_k8", "mma m16n8k8 fp16 to fp32", "MmaF16K8", "HMMA", TensorType::f16, 1024, 75),
    mma("mma_f16_k16", "mma m16n8k16 fp16 to fp32", "MmaF16K16", "HMMA", TensorType::f16, 2048, 80,
        true),
    mma("mma_f16_k16_f16", "mma m16n8k16 fp16 to fp16", "MmaF16K16F16", "HMMA", TensorType::f16,
        2048, 80),
    mma("mma_bf16_k8", "mma m16n8k8 bf16 to fp32", "MmaBf16K8", "HMMA", TensorType::bf16, 1024, 80),
    mma("mma_bf16_k16", "mma m16n8k16 bf16 to fp32", "MmaBf16K16", "HMMA", TensorType::bf16, 2048,
        80),
    mma("mma_tf32_k4", "mma m16n8k4 tf32 to fp32", "MmaTf32K4", "HMMA", TensorType::tf32, 512, 80),
    mma("mma_tf32_k8", "mma m16n8k8 tf32 to fp32", "MmaTf32K8", "HMMA", TensorType::tf32, 1024, 80),
    mma("mma_s8_k16", "mma m16n8k16 int8 to int32", "MmaS8K16", "IMMA", TensorType::s8, 2048, 80),
    mma("mma_s8_k32", "mma m16n8k32 int8 to int32", "MmaS8K32", "IMMA", TensorType::s8, 4096, 80),
    mma_e4m3(),
    mma("mma_f64_k4", "mma m8n8k4 fp64", "MmaF64K4", "DMMA", TensorType::f64, 256, 80),
    mma("mma_f64_k16", "mma m16n8k16 fp64", "MmaF64K16", "DMMA", TensorType::f64, 2048, 90, true),
};

/// One warp's quarter of a warpgroup's wgmma of 64 rows, of each type by columns, with A in shared
/// memory and in registers.
inline const std::vector<Instruction> wgmma_instructions = [] {
  static std::deque<std::string> texts;  // what the rows' names point to
  const auto keep = [](const std::string& text) {
    return std::string_view(texts.emplace_back(text));
  };
  std::vector<Instruction> all;
  for (const auto& [id, name, op, opcode, type, k] :
       {std::tuple{"f16", "fp16", "WgmmaF16<", "HGMMA", TensorType::f16, 16},
        {"bf16", "bf16", "WgmmaBf16<", "HGMMA", TensorType::bf16, 16},
        {"tf32", "tf32", "WgmmaTf32<", "HGMMA", TensorType::tf32, 8},
        {"e4m3", "e4m3", "WgmmaE4m3<", "QGMMA", TensorType::fp8, 32},
        {"s8", "int8", "WgmmaS8<", "IGMMA", TensorType::s8, 32}}) {
    for (const bool registers : {false, true}) {
      const std::string from = registers ? "registers" : "shared";
      for (const int columns : {64, 128, 256}) {
        const std::string n = std::to_string(columns);
        all.push_back({.id = keep("wgmma_" + std::string(id) + "_n" + n + "_" + from),
                       .subject = keep("wgmma m64n" + n + "k" + std::to_string(k) + " " + name +
                                       ", A in " + from),
                       .family = "wgmma",
                       .ptx = "wgmma.mma_async",
                       .op = keep(op + n + (registers ? ", true>" : ", false>")),
                       .sass = {{{opcode}}},
                       .since = 90,
                       .hopper_only = true,
                       .results = 16.0 * columns * k,
                       .counted = false,
                       .tensor = type,
                       .reaches_bound = columns >= 128,
                       .usual_latency = 32.0 + columns / 2.0,
                       .latency_warps = 4,
                       .quick = columns == 256 && !registers &&
                                (type == TensorType::f16 || type == TensorType::fp8)});
      }
    }
  }
  return all;
}();

}  // namespace fathom::instructions
