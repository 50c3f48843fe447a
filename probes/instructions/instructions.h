#pragma once

#include <span>
#include <tuple>

#include "models/instruction_throughput.h"
#include "results/document.h"

namespace fathom::instructions {

using models::NativeOperation;
using models::TensorType;

/// What is known of an instruction before it is measured. To add one: an Op struct in the kernels
/// of its family, which `op` names, and a row here.
struct Instruction {
  std::string id{};       ///< of facts and cases: "ffma"
  std::string subject{};  ///< as a reader knows it: "FFMA"
  std::string family{}, ptx{}, op{};
  /// What a step becomes: any of these machine instructions, or of names that go on with a dot.
  std::vector<std::string> sass{};
  int since = 75;            ///< lowest compute capability, 10 x major + minor
  bool hopper_only = false;  ///< an instruction of sm_90a, which its successors dropped
  /// One that Hopper and the data-centre Blackwells lack, though older and other chips have it.
  bool not_in_data_centre = false;
  double results = 32;  ///< of one warp in one step: lanes, halves, multiply-adds
  int per_step = 1;     ///< machine instructions a step, at least
  bool counted = true;  ///< whether they are `per_step` and no more
  double divisor = 1;   ///< a step's latency is that of so many
  std::optional<NativeOperation> native{};
  std::optional<TensorType> tensor{};
  /// Whether the bound is what this instruction is known to reach on every chip that has it.
  bool reaches_bound = true;
  std::optional<double> published_latency{};  ///< cycles, of compute capability 7.x to 9.0
  double usual_latency = 30;                  ///< cycles, only to choose how long to measure
  double usual_rate = 32;  ///< results per clock and SM, likewise where there is no bound
  int latency_warps = 1;   ///< of a block: for barriers
  bool one_block = false;  ///< the latency on an otherwise idle GPU
  bool quick = false;

  /// Whether programs with it run there, if only because the compiler makes it of others.
  bool compiles_for(int major, int minor) const {
    const int capability = 10 * major + minor;
    return hopper_only ? capability == 90 : capability >= since;
  }
  bool runs_on(int major, int minor) const {
    const int capability = 10 * major + minor;
    if (not_in_data_centre && capability >= 90 && capability < 120) return false;
    return compiles_for(major, minor);
  }
};

/// Latency 4 of fp32 and integer arithmetic on a V100; of FMA also the V100 white paper,
/// "Simultaneous Execution of FP32 and INT32 Operations". See models/published.cpp.
inline constexpr const char* latency_source =
    "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, table 4.1";

inline Instruction row(std::string id, std::string subject, std::string family, std::string ptx,
                       std::string op, std::vector<std::string> sass, double usual_latency,
                       Instruction rest = {}) {
  std::tie(rest.id, rest.subject, rest.family, rest.ptx, rest.op, rest.sass, rest.usual_latency) =
      std::tie(id, subject, family, ptx, op, sass, usual_latency);
  return rest;
}
using N = NativeOperation;

inline const std::vector<Instruction> arithmetic_instructions = {
    row("fadd", "FADD", "fp32", "add.f32", "Fadd", {"FADD"}, 4,
        {.native = N::f32_arithmetic, .published_latency = 4}),
    row("fmul", "FMUL", "fp32", "mul.f32", "Fmul", {"FMUL"}, 4,
        {.native = N::f32_arithmetic, .published_latency = 4}),
    row("ffma", "FFMA", "fp32", "fma.rn.f32", "Ffma", {"FFMA"}, 4,
        {.native = N::f32_arithmetic, .published_latency = 4, .quick = true}),
    row("fmnmx", "FMNMX", "fp32", "min.f32, max.f32", "Fmnmx", {"FMNMX", "FMNMX3"}, 5,
        {.native = N::float_min_max}),
    row("dadd", "DADD", "fp64", "add.f64", "Dadd", {"DADD"}, 16, {.native = N::f64_arithmetic}),
    row("dmul", "DMUL", "fp64", "mul.f64", "Dmul", {"DMUL"}, 16, {.native = N::f64_arithmetic}),
    row("dfma", "DFMA", "fp64", "fma.rn.f64", "Dfma", {"DFMA"}, 16,
        {.native = N::f64_arithmetic, .quick = true}),
    // Hopper's compiler makes every other HADD2, HMUL2 and HFMA2 an HFMA2.MMA.
    row("hadd2", "HADD2", "fp16", "add.f16x2", "Hadd2", {"HADD2", "HFMA2"}, 6,
        {.results = 64, .native = N::f16_arithmetic}),
    row("hmul2", "HMUL2", "fp16", "mul.f16x2", "Hmul2", {"HMUL2", "HFMA2"}, 6,
        {.results = 64, .native = N::f16_arithmetic}),
    row("hfma2", "HFMA2", "fp16", "fma.rn.f16x2", "Hfma2", {"HFMA2"}, 6,
        {.results = 64, .native = N::f16_arithmetic, .quick = true}),
    row("hfma2_bf16", "HFMA2.BF16", "fp16", "fma.rn.bf16x2", "Hfma2Bf16", {"HFMA2"}, 6,
        {.since = 80, .results = 64, .native = N::bf16_arithmetic}),
    row("iadd3", "IADD3", "integer", "add.u32, add.u32", "Iadd3", {"IADD3"}, 4,
        {.native = N::integer_add3, .published_latency = 4, .quick = true}),
    row("imad", "IMAD", "integer", "mad.lo.u32", "Imad", {"IMAD"}, 5,
        {.native = N::integer_multiply, .quick = true}),
    row("imad_wide", "IMAD.WIDE and a 64-bit addition", "integer", "mad.wide.u32", "ImadWide",
        {"IMAD.WIDE"}, 14,
        {.counted = false,
         .native = N::integer_multiply,
         .reaches_bound = false,
         .usual_rate = 21}),
    row("lop3", "LOP3", "integer", "lop3.b32", "Lop3", {"LOP3"}, 4,
        {.native = N::bitwise_logic, .published_latency = 4, .quick = true}),
    row("shf", "SHF", "integer", "shf.l.wrap.b32", "Shf", {"SHF"}, 5, {.native = N::integer_shift}),
    row("sel", "SEL", "integer", "selp.b32", "Sel", {"SEL"}, 5, {.usual_rate = 64}),
    // VIMNMX from Hopper on; the guide's rate there is more than such chains reach.
    row("imnmx", "IMNMX", "integer", "min.s32, max.s32", "Imnmx", {"IMNMX", "VIMNMX", "VIMNMX3"}, 5,
        {.native = N::integer_min_max, .reaches_bound = false, .usual_rate = 64}),
    row("prmt", "PRMT", "integer", "prmt.b32", "Prmt", {"PRMT"}, 5, {.usual_rate = 64}),
    row("popc", "POPC", "integer", "popc.b32", "Popc", {"POPC"}, 12,
        {.native = N::population_count}),
    row("flo", "FLO", "integer", "bfind.u32", "Flo", {"FLO"}, 14, {.native = N::leading_zeros}),
    row("brev", "BREV", "integer", "brev.b32", "Brev", {"BREV"}, 14, {.native = N::bit_reverse}),
    row("dp4a", "DP4A", "integer", "dp4a.u32.u32", "Dp4a", {"IDP"}, 5, {.usual_rate = 64}),
    row("div_u32", "unsigned 32-bit division", "integer", "div.u32", "DivideU32", {"MUFU"}, 150,
        {.per_step = 12, .counted = false, .usual_rate = 4}),
    row("div_s32", "signed 32-bit division", "integer", "div.s32", "DivideS32", {"MUFU"}, 160,
        {.per_step = 12, .counted = false, .usual_rate = 3}),
    row("mufu_rcp", "FADD and MUFU.RCP", "special", "add.f32, rcp.approx.f32", "MufuRcp",
        {"MUFU.RCP"}, 26, {.per_step = 2, .native = N::special_function, .quick = true}),
    row("mufu_rsq", "MUFU.RSQ", "special", "rsqrt.approx.f32", "MufuRsq", {"MUFU.RSQ"}, 22,
        {.native = N::special_function}),
    row("mufu_sqrt", "MUFU.SQRT", "special", "sqrt.approx.f32", "MufuSqrt", {"MUFU.SQRT"}, 22,
        {.native = N::special_function}),
    row("mufu_ex2", "MUFU.EX2", "special", "ex2.approx.f32", "MufuEx2", {"MUFU.EX2"}, 22,
        {.native = N::special_function}),
    row("mufu_lg2", "MUFU.LG2", "special", "lg2.approx.f32", "MufuLg2", {"MUFU.LG2"}, 22,
        {.native = N::special_function}),
    row("mufu_sin", "FMUL and MUFU.SIN", "special", "sin.approx.f32", "MufuSin", {"MUFU.SIN"}, 26,
        {.per_step = 2, .native = N::special_function}),
    row("mufu_cos", "FMUL and MUFU.COS", "special", "cos.approx.f32", "MufuCos", {"MUFU.COS"}, 26,
        {.per_step = 2, .native = N::special_function}),
    row("mufu_tanh", "MUFU.TANH", "special", "tanh.approx.f32", "MufuTanh", {"MUFU.TANH"}, 22,
        {.usual_rate = 16}),
    row("i2f", "I2F", "conversion", "cvt.rn.f32.s32", "I2f", {"I2F", "I2FP"}, 8,
        {.native = N::convert_int_to_float, .reaches_bound = false}),
    row("f2i_i2f", "F2I and I2F", "conversion", "cvt.rni.s32.f32, cvt.rn.f32.s32", "F2iI2f",
        {"F2I"}, 20,
        {.per_step = 2,
         .native = N::convert_float_to_int,
         .reaches_bound = false,
         .usual_rate = 16}),
    row("f32_f16", "fp32 to fp16 and back", "conversion", "cvt.rn.f16.f32, cvt.f32.f16", "F16F32",
        {"HADD2.F32"}, 10, {.counted = false, .usual_rate = 64}),
    row("f32_f64", "fp32 to fp64 and back", "conversion", "cvt.f64.f32, cvt.rn.f32.f64", "F64F32",
        {"F2F.F64.F32"}, 40,
        {.per_step = 2, .native = N::convert_64_bit, .reaches_bound = false, .usual_rate = 8}),
};

inline const std::vector<Instruction> warp_instructions = {
    row("shfl_bfly", "SHFL.BFLY", "warp", "shfl.sync.bfly.b32", "ShflBfly", {"SHFL.BFLY"}, 23,
        {.native = N::warp_shuffle, .quick = true}),
    row("shfl_idx", "SHFL.IDX", "warp", "shfl.sync.idx.b32", "ShflIdx", {"SHFL.IDX"}, 23,
        {.native = N::warp_shuffle}),
    row("ballot", "ISETP and VOTE", "warp", "setp.gt.u32, vote.sync.ballot.b32", "Ballot", {"VOTE"},
        16, {.per_step = 2, .native = N::warp_vote, .reaches_bound = false, .quick = true}),
    row("match_any", "MATCH.ANY", "warp", "match.any.sync.b32", "MatchAny", {"MATCH.ANY"}, 24,
        {.usual_rate = 4}),
    row("redux", "REDUX", "warp", "redux.sync.max.u32", "ReduxMax", {"REDUX", "CREDUX"}, 24,
        {.since = 80, .counted = false, .native = N::warp_reduce, .quick = true}),
    // All lanes together, which the compiler knows: from Hopper on nothing but a NOP is left.
    row("syncwarp", "__syncwarp", "barrier", "bar.warp.sync", "SyncWarp", {"NOP", "WARPSYNC"}, 8),
    row("bar_sync_32", "BAR.SYNC of 32 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"}, 24,
        {.latency_warps = 1}),
    row("bar_sync_128", "BAR.SYNC of 128 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"}, 24,
        {.latency_warps = 4}),
    row("bar_sync_256", "BAR.SYNC of 256 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"}, 28,
        {.latency_warps = 8, .quick = true}),
    row("bar_sync_512", "BAR.SYNC of 512 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"}, 36,
        {.latency_warps = 16}),
    row("bar_sync_1024", "BAR.SYNC of 1024 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        60, {.latency_warps = 32}),
    // Nothing outstanding; with the instructions that the compiler puts around them.
    row("membar_cta", "MEMBAR.CTA", "fence", "membar.cta", "MembarCta", {"MEMBAR"}, 8,
        {.one_block = true}),
    row("membar_gpu", "MEMBAR.GPU", "fence", "membar.gl", "MembarGl", {"MEMBAR"}, 700,
        {.one_block = true, .quick = true}),
    row("membar_sys", "MEMBAR.SYS", "fence", "membar.sys", "MembarSys", {"MEMBAR"}, 1500,
        {.one_block = true}),
    row("clock", "clock and IMNMX", "register", "mov.u32 %clock, max.u32", "ReadClock",
        {"CS2R.32", "S2UR", "S2R"}, 30, {.counted = false, .usual_rate = 8}),
    row("s2r", "S2R and IADD3", "register", "mov.u32 %smid, add.u32", "ReadSpecialRegister",
        {"S2R", "S2UR"}, 30, {.counted = false, .usual_rate = 4}),
    row("branch", "turn of a short loop", "branch", "xor.b32, shl.b32, sub.u32, setp.ne.u32, bra",
        "LoopBranch", {"LOP3"}, 800, {.divisor = 32}),
};

/// One warp's mma.sync: results are multiply-adds. Hopper multiplies e4m3 in wgmma alone: for
/// mma.sync the compiler converts to fp16, multiplies once and takes that out of the loop. There is
/// nothing to time.
inline Instruction mma(const char* id, const char* subject, const char* op, const char* opcode,
                       TensorType type, double fma, int since, bool quick = false) {
  return row(id, subject, "mma", "mma.sync", op, {opcode}, 34,
             {.since = since,
              .not_in_data_centre = type == TensorType::fp8,
              .results = fma,
              .counted = false,
              .tensor = type,
              .reaches_bound = false,
              .quick = quick});
}

inline const std::vector<Instruction> mma_instructions = {
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
    mma("mma_e4m3_k32", "mma m16n8k32 e4m3 to fp32", "MmaE4m3K32", "QMMA", TensorType::fp8, 4096,
        89),
    mma("mma_f64_k4", "mma m8n8k4 fp64", "MmaF64K4", "DMMA", TensorType::f64, 256, 80),
    mma("mma_f64_k16", "mma m16n8k16 fp64", "MmaF64K16", "DMMA", TensorType::f64, 2048, 90, true),
};

/// One warp's quarter of a warpgroup's wgmma of 64 rows, of each type by columns, with A in shared
/// memory and in registers.
inline const std::vector<Instruction> wgmma_instructions = [] {
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
        all.push_back(
            row("wgmma_" + std::string(id) + "_n" + n + "_" + from,
                "wgmma m64n" + n + "k" + std::to_string(k) + " " + name + ", A in " + from, "wgmma",
                "wgmma.mma_async", op + n + (registers ? ", true>" : ", false>"), {opcode},
                32.0 + columns / 2.0,
                {.since = 90,
                 .hopper_only = true,
                 .results = 16.0 * columns * k,
                 .counted = false,
                 .tensor = type,
                 .reaches_bound = columns >= 128,
                 .latency_warps = 4,
                 .quick = columns == 256 && !registers &&
                          (type == TensorType::f16 || type == TensorType::fp8)}));
      }
    }
  }
  return all;
}();

std::span<const Instruction> all_instructions();

/// What a throughput counts: "results/clk/SM", or "FMA/clk/SM" of tensor instructions.
const char* throughput_unit(const Instruction& instruction);

/// Results of an SM in a clock.
std::optional<double> published_rate(const Instruction& instruction, int major, int minor);

/// The most results an SM can have of it in a clock: the published rate, or what the schedulers can
/// issue, whichever is less.
std::optional<Bound> throughput_bound(const Instruction& instruction, int major, int minor);

}  // namespace fathom::instructions
