#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "models/instruction_throughput.h"

namespace fathom::instructions {

using models::NativeOperation;
using models::TensorType;

/// Machine instructions that one step becomes: any of the names (or names that continue with a
/// dot), whose numbers divided by `per_step` add up to the steps.
struct Opcode {
  std::string_view name;
  int per_step = 1;
};

/// What is known of an instruction before it is measured. To add one: an Op struct in the kernels
/// of its family, which `op` names, and a row here.
struct Instruction {
  std::string_view id{};       ///< of facts and cases: "ffma"
  std::string_view subject{};  ///< as a reader knows it: "FFMA"
  std::string_view family{};
  std::string_view ptx{};
  std::string_view op{};
  std::array<Opcode, 3> sass{};
  int since = 75;             ///< lowest compute capability, 10 x major + minor
  bool hopper_only = false;   ///< an instruction of sm_90a, which its successors dropped
  /// One that Hopper and the data-centre Blackwells lack, though older and other chips have it.
  bool not_in_data_centre = false;
  double results = 32;        ///< of one warp in one step: lanes, halves, multiply-adds
  int per_step = 1;           ///< machine instructions a step, at least
  bool counted = true;        ///< whether they are `per_step` and no more
  double divisor = 1;         ///< a step's latency is that of so many
  std::optional<NativeOperation> native{};
  std::optional<TensorType> tensor{};
  /// Whether the bound is what this instruction is known to reach on every chip that has it.
  bool reaches_bound = true;
  std::optional<double> published_latency{};  ///< cycles, of compute capability 7.x to 9.0
  double usual_latency = 30;  ///< cycles, only to choose how long to measure
  double usual_rate = 32;     ///< results per clock and SM, likewise where there is no bound
  int latency_warps = 1;      ///< of a block: for barriers
  bool one_block = false;     ///< the latency on an otherwise idle GPU
  bool quick = false;
  std::string_view note{};

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
/// "Simultaneous Execution of FP32 and INT32 Operations". See models/published_instructions.cpp.
inline constexpr std::string_view latency_source =
    "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, table 4.1";

/// Up to three names of what a step becomes.
struct OpcodeNames {
  std::string_view first, second{}, third{};
};
constexpr Instruction row(std::string_view id, std::string_view subject, std::string_view family,
                          std::string_view ptx, std::string_view op, const OpcodeNames& sass,
                          Instruction rest = {}) {
  rest.id = id;
  rest.subject = subject;
  rest.family = family;
  rest.ptx = ptx;
  rest.op = op;
  rest.sass = {{{sass.first}, {sass.second}, {sass.third}}};
  return rest;
}
using N = NativeOperation;

inline constexpr Instruction arithmetic_instructions[] = {
    row("fadd", "FADD", "fp32", "add.f32", "Fadd", {"FADD"}, {.native = N::f32_arithmetic,
        .published_latency = 4, .usual_latency = 4}),
    row("fmul", "FMUL", "fp32", "mul.f32", "Fmul", {"FMUL"}, {.native = N::f32_arithmetic,
        .published_latency = 4, .usual_latency = 4}),
    row("ffma", "FFMA", "fp32", "fma.rn.f32", "Ffma", {"FFMA"}, {.native = N::f32_arithmetic,
        .published_latency = 4, .usual_latency = 4, .quick = true}),
    row("fmnmx", "FMNMX", "fp32", "min.f32, max.f32", "Fmnmx", {"FMNMX", "FMNMX3"},
        {.native = N::float_min_max, .usual_latency = 5}),
    row("dadd", "DADD", "fp64", "add.f64", "Dadd", {"DADD"}, {.native = N::f64_arithmetic,
        .usual_latency = 16}),
    row("dmul", "DMUL", "fp64", "mul.f64", "Dmul", {"DMUL"}, {.native = N::f64_arithmetic,
        .usual_latency = 16}),
    row("dfma", "DFMA", "fp64", "fma.rn.f64", "Dfma", {"DFMA"}, {.native = N::f64_arithmetic,
        .usual_latency = 16, .quick = true}),
    row("hadd2", "HADD2", "fp16", "add.f16x2", "Hadd2", {"HADD2", "HFMA2"}, {.results = 64,
        .native = N::f16_arithmetic, .usual_latency = 6,
        .note = "Hopper's compiler makes every other one an HFMA2.MMA."}),
    row("hmul2", "HMUL2", "fp16", "mul.f16x2", "Hmul2", {"HMUL2", "HFMA2"}, {.results = 64,
        .native = N::f16_arithmetic, .usual_latency = 6,
        .note = "Hopper's compiler makes every other one an HFMA2.MMA."}),
    row("hfma2", "HFMA2", "fp16", "fma.rn.f16x2", "Hfma2", {"HFMA2"}, {.results = 64,
        .native = N::f16_arithmetic, .usual_latency = 6, .quick = true,
        .note = "Hopper's compiler alternates HFMA2 and HFMA2.MMA."}),
    row("hfma2_bf16", "HFMA2.BF16", "fp16", "fma.rn.bf16x2", "Hfma2Bf16", {"HFMA2"}, {.since = 80,
        .results = 64, .native = N::bf16_arithmetic, .usual_latency = 6,
        .note = "Hopper's compiler alternates HFMA2 and HFMA2.MMA."}),
    row("iadd3", "IADD3", "integer", "add.u32, add.u32", "Iadd3", {"IADD3"},
        {.native = N::integer_add3, .published_latency = 4, .usual_latency = 4, .quick = true}),
    row("imad", "IMAD", "integer", "mad.lo.u32", "Imad", {"IMAD"}, {.native = N::integer_multiply,
        .usual_latency = 5, .quick = true}),
    row("imad_wide", "IMAD.WIDE and a 64-bit addition", "integer", "mad.wide.u32", "ImadWide",
        {"IMAD.WIDE"}, {.counted = false, .native = N::integer_multiply, .reaches_bound = false,
        .usual_latency = 14, .usual_rate = 21,
        .note = "The compiler adds by itself: IMAD.WIDE, IADD3 and a carry."}),
    row("lop3", "LOP3", "integer", "lop3.b32", "Lop3", {"LOP3"}, {.native = N::bitwise_logic,
        .published_latency = 4, .usual_latency = 4, .quick = true}),
    row("shf", "SHF", "integer", "shf.l.wrap.b32", "Shf", {"SHF"}, {.native = N::integer_shift,
        .usual_latency = 5}),
    row("sel", "SEL", "integer", "selp.b32", "Sel", {"SEL"}, {.usual_latency = 5,
        .usual_rate = 64}),
    row("imnmx", "IMNMX", "integer", "min.s32, max.s32", "Imnmx", {"IMNMX", "VIMNMX", "VIMNMX3"},
        {.native = N::integer_min_max, .reaches_bound = false, .usual_latency = 5,
        .usual_rate = 64,
        .note = "VIMNMX from Hopper on; the guide's rate there is more than such chains reach."}),
    row("prmt", "PRMT", "integer", "prmt.b32", "Prmt", {"PRMT"}, {.usual_latency = 5,
        .usual_rate = 64}),
    row("popc", "POPC", "integer", "popc.b32", "Popc", {"POPC"}, {.native = N::population_count,
        .usual_latency = 12}),
    row("flo", "FLO", "integer", "bfind.u32", "Flo", {"FLO"}, {.native = N::leading_zeros,
        .usual_latency = 14}),
    row("brev", "BREV", "integer", "brev.b32", "Brev", {"BREV"}, {.native = N::bit_reverse,
        .usual_latency = 14}),
    row("dp4a", "DP4A", "integer", "dp4a.u32.u32", "Dp4a", {"IDP"}, {.usual_latency = 5,
        .usual_rate = 64}),
    row("div_u32", "unsigned 32-bit division", "integer", "div.u32", "DivideU32", {"MUFU"},
        {.per_step = 12, .counted = false, .usual_latency = 150, .usual_rate = 4}),
    row("div_s32", "signed 32-bit division", "integer", "div.s32", "DivideS32", {"MUFU"},
        {.per_step = 12, .counted = false, .usual_latency = 160, .usual_rate = 3}),
    row("mufu_rcp", "FADD and MUFU.RCP", "special", "add.f32, rcp.approx.f32", "MufuRcp",
        {"MUFU.RCP"}, {.per_step = 2, .native = N::special_function, .usual_latency = 26,
        .quick = true,
        .note = "The addition stands between two reciprocals, which the compiler would cancel."}),
    row("mufu_rsq", "MUFU.RSQ", "special", "rsqrt.approx.f32", "MufuRsq", {"MUFU.RSQ"},
        {.native = N::special_function, .usual_latency = 22}),
    row("mufu_sqrt", "MUFU.SQRT", "special", "sqrt.approx.f32", "MufuSqrt", {"MUFU.SQRT"},
        {.native = N::special_function, .usual_latency = 22}),
    row("mufu_ex2", "MUFU.EX2", "special", "ex2.approx.f32", "MufuEx2", {"MUFU.EX2"},
        {.native = N::special_function, .usual_latency = 22}),
    row("mufu_lg2", "MUFU.LG2", "special", "lg2.approx.f32", "MufuLg2", {"MUFU.LG2"},
        {.native = N::special_function, .usual_latency = 22}),
    row("mufu_sin", "FMUL and MUFU.SIN", "special", "sin.approx.f32", "MufuSin", {"MUFU.SIN"},
        {.per_step = 2, .native = N::special_function, .usual_latency = 26,
        .note = "The multiplication brings the angle into the unit's range."}),
    row("mufu_cos", "FMUL and MUFU.COS", "special", "cos.approx.f32", "MufuCos", {"MUFU.COS"},
        {.per_step = 2, .native = N::special_function, .usual_latency = 26,
        .note = "The multiplication brings the angle into the unit's range."}),
    row("mufu_tanh", "MUFU.TANH", "special", "tanh.approx.f32", "MufuTanh", {"MUFU.TANH"},
        {.usual_latency = 22, .usual_rate = 16}),
    row("i2f", "I2F", "conversion", "cvt.rn.f32.s32", "I2f", {"I2F", "I2FP"},
        {.native = N::convert_int_to_float, .reaches_bound = false, .usual_latency = 8}),
    row("f2i_i2f", "F2I and I2F", "conversion", "cvt.rni.s32.f32, cvt.rn.f32.s32", "F2iI2f",
        {"F2I"}, {.per_step = 2, .native = N::convert_float_to_int, .reaches_bound = false,
        .usual_latency = 20, .usual_rate = 16}),
    row("f32_f16", "fp32 to fp16 and back", "conversion", "cvt.rn.f16.f32, cvt.f32.f16", "F16F32",
        {"HADD2.F32"}, {.counted = false, .usual_latency = 10, .usual_rate = 64,
        .note = "The compiler converts two numbers to fp16 with one F2FP where it can."}),
    row("f32_f64", "fp32 to fp64 and back", "conversion", "cvt.f64.f32, cvt.rn.f32.f64", "F64F32",
        {"F2F.F64.F32"}, {.per_step = 2, .native = N::convert_64_bit, .reaches_bound = false,
        .usual_latency = 40, .usual_rate = 8}),
};

inline constexpr Instruction warp_instructions[] = {
    row("shfl_bfly", "SHFL.BFLY", "warp", "shfl.sync.bfly.b32", "ShflBfly", {"SHFL.BFLY"},
        {.native = N::warp_shuffle, .usual_latency = 23, .quick = true}),
    row("shfl_idx", "SHFL.IDX", "warp", "shfl.sync.idx.b32", "ShflIdx", {"SHFL.IDX"},
        {.native = N::warp_shuffle, .usual_latency = 23}),
    row("ballot", "ISETP and VOTE", "warp", "setp.gt.u32, vote.sync.ballot.b32", "Ballot",
        {"VOTE"}, {.per_step = 2, .native = N::warp_vote, .reaches_bound = false,
        .usual_latency = 16, .quick = true,
        .note = "A ballot with the comparison that makes its condition."}),
    row("match_any", "MATCH.ANY", "warp", "match.any.sync.b32", "MatchAny", {"MATCH.ANY"},
        {.usual_latency = 24, .usual_rate = 4, .note = "All 32 lanes differ."}),
    row("redux", "REDUX", "warp", "redux.sync.max.u32", "ReduxMax", {"REDUX", "CREDUX"},
        {.since = 80, .counted = false, .native = N::warp_reduce, .usual_latency = 24,
        .quick = true, .note = "With the move from the uniform register that it writes."}),
    row("syncwarp", "__syncwarp", "barrier", "bar.warp.sync", "SyncWarp", {"NOP", "WARPSYNC"},
        {.usual_latency = 8,
        .note = "All lanes together, which the compiler knows: from Hopper on nothing but a NOP is "
                 "left."}),
    row("bar_sync_32", "BAR.SYNC of 32 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        {.usual_latency = 24, .latency_warps = 1}),
    row("bar_sync_128", "BAR.SYNC of 128 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        {.usual_latency = 24, .latency_warps = 4}),
    row("bar_sync_256", "BAR.SYNC of 256 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        {.usual_latency = 28, .latency_warps = 8, .quick = true}),
    row("bar_sync_512", "BAR.SYNC of 512 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        {.usual_latency = 36, .latency_warps = 16}),
    row("bar_sync_1024", "BAR.SYNC of 1024 threads", "barrier", "bar.sync 0", "BarSync", {"BAR"},
        {.usual_latency = 60, .latency_warps = 32}),
    row("membar_cta", "MEMBAR.CTA", "fence", "membar.cta", "MembarCta", {"MEMBAR"},
        {.usual_latency = 8, .one_block = true, .note = "Nothing outstanding."}),
    row("membar_gpu", "MEMBAR.GPU", "fence", "membar.gl", "MembarGl", {"MEMBAR"},
        {.usual_latency = 700, .one_block = true, .quick = true,
        .note = "Nothing outstanding, idle GPU; with the instructions that the compiler puts "
                 "around it."}),
    row("membar_sys", "MEMBAR.SYS", "fence", "membar.sys", "MembarSys", {"MEMBAR"},
        {.usual_latency = 1500, .one_block = true,
        .note = "Nothing outstanding, idle GPU; with the instructions that the compiler puts "
                 "around it."}),
    row("clock", "clock and IMNMX", "register", "mov.u32 %clock, max.u32", "ReadClock",
        {"CS2R.32", "S2UR", "S2R"}, {.counted = false, .usual_rate = 8}),
    row("s2r", "S2R and IADD3", "register", "mov.u32 %smid, add.u32", "ReadSpecialRegister",
        {"S2R", "S2UR"}, {.counted = false, .usual_rate = 4}),
    row("branch", "turn of a short loop", "branch", "xor.b32, shl.b32, sub.u32, setp.ne.u32, bra",
        "LoopBranch", {"LOP3"}, {.divisor = 32, .usual_latency = 800,
        .note = "Five instructions, the last a branch that is taken."}),
};

}  // namespace fathom::instructions
