#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "models/instruction_throughput.h"

namespace fathom::instructions {

using models::NativeOperation;
using models::TensorType;

/// Machine instructions that one step becomes: any of the names (or names that continue with a dot),
/// whose numbers divided by `per_step` add up to the steps.
struct Opcode {
  std::string_view name;
  int per_step = 1;
};

/// What is known of an instruction before it is measured. To add one: an Op struct in the kernels of
/// its family, which `op` names, and a row here.
struct Instruction {
  std::string_view id;       ///< of facts and cases: "ffma"
  std::string_view subject;  ///< as a reader knows it: "FFMA"
  std::string_view family;
  std::string_view ptx;
  std::string_view op;
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

/// Latency 4 of fp32 and integer arithmetic on a V100; of FMA also the V100 white paper, "Simultaneous
/// Execution of FP32 and INT32 Operations". See models/published_instructions.cpp.
inline constexpr std::string_view latency_source =
    "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, table 4.1";

inline constexpr Instruction arithmetic_instructions[] = {
    {.id = "fadd", .subject = "FADD", .family = "fp32", .ptx = "add.f32", .op = "Fadd", .sass = {{{"FADD"}}},
     .native = NativeOperation::f32_arithmetic, .published_latency = 4, .usual_latency = 4},
    {.id = "fmul", .subject = "FMUL", .family = "fp32", .ptx = "mul.f32", .op = "Fmul", .sass = {{{"FMUL"}}},
     .native = NativeOperation::f32_arithmetic, .published_latency = 4, .usual_latency = 4},
    {.id = "ffma", .subject = "FFMA", .family = "fp32", .ptx = "fma.rn.f32", .op = "Ffma", .sass = {{{"FFMA"}}},
     .native = NativeOperation::f32_arithmetic, .published_latency = 4, .usual_latency = 4, .quick = true},
    {.id = "fmnmx", .subject = "FMNMX", .family = "fp32", .ptx = "min.f32, max.f32", .op = "Fmnmx",
     .sass = {{{"FMNMX"}, {"FMNMX3"}}}, .native = NativeOperation::float_min_max, .usual_latency = 5},
    {.id = "dadd", .subject = "DADD", .family = "fp64", .ptx = "add.f64", .op = "Dadd", .sass = {{{"DADD"}}},
     .native = NativeOperation::f64_arithmetic, .usual_latency = 16},
    {.id = "dmul", .subject = "DMUL", .family = "fp64", .ptx = "mul.f64", .op = "Dmul", .sass = {{{"DMUL"}}},
     .native = NativeOperation::f64_arithmetic, .usual_latency = 16},
    {.id = "dfma", .subject = "DFMA", .family = "fp64", .ptx = "fma.rn.f64", .op = "Dfma", .sass = {{{"DFMA"}}},
     .native = NativeOperation::f64_arithmetic, .usual_latency = 16, .quick = true},
    {.id = "hadd2", .subject = "HADD2", .family = "fp16", .ptx = "add.f16x2", .op = "Hadd2",
     .sass = {{{"HADD2"}, {"HFMA2"}}}, .results = 64, .native = NativeOperation::f16_arithmetic,
     .usual_latency = 6, .note = "Hopper's compiler makes every other one an HFMA2.MMA."},
    {.id = "hmul2", .subject = "HMUL2", .family = "fp16", .ptx = "mul.f16x2", .op = "Hmul2",
     .sass = {{{"HMUL2"}, {"HFMA2"}}}, .results = 64, .native = NativeOperation::f16_arithmetic,
     .usual_latency = 6, .note = "Hopper's compiler makes every other one an HFMA2.MMA."},
    {.id = "hfma2", .subject = "HFMA2", .family = "fp16", .ptx = "fma.rn.f16x2", .op = "Hfma2",
     .sass = {{{"HFMA2"}}}, .results = 64, .native = NativeOperation::f16_arithmetic, .usual_latency = 6,
     .quick = true, .note = "Hopper's compiler alternates HFMA2 and HFMA2.MMA."},
    {.id = "hfma2_bf16", .subject = "HFMA2.BF16", .family = "fp16", .ptx = "fma.rn.bf16x2", .op = "Hfma2Bf16",
     .sass = {{{"HFMA2"}}}, .since = 80, .results = 64, .native = NativeOperation::bf16_arithmetic,
     .usual_latency = 6, .note = "Hopper's compiler alternates HFMA2 and HFMA2.MMA."},
    {.id = "iadd3", .subject = "IADD3", .family = "integer", .ptx = "add.u32, add.u32", .op = "Iadd3",
     .sass = {{{"IADD3"}}}, .native = NativeOperation::integer_add3, .published_latency = 4,
     .usual_latency = 4, .quick = true},
    {.id = "imad", .subject = "IMAD", .family = "integer", .ptx = "mad.lo.u32", .op = "Imad",
     .sass = {{{"IMAD"}}}, .native = NativeOperation::integer_multiply, .usual_latency = 5, .quick = true},
    {.id = "imad_wide", .subject = "IMAD.WIDE and a 64-bit addition", .family = "integer",
     .ptx = "mad.wide.u32", .op = "ImadWide", .sass = {{{"IMAD.WIDE"}}},
     .counted = false, .native = NativeOperation::integer_multiply, .reaches_bound = false, .usual_latency = 14, .usual_rate = 21,
     .note = "The compiler adds by itself: IMAD.WIDE, IADD3 and a carry."},
    {.id = "lop3", .subject = "LOP3", .family = "integer", .ptx = "lop3.b32", .op = "Lop3", .sass = {{{"LOP3"}}},
     .native = NativeOperation::bitwise_logic, .published_latency = 4, .usual_latency = 4, .quick = true},
    {.id = "shf", .subject = "SHF", .family = "integer", .ptx = "shf.l.wrap.b32", .op = "Shf", .sass = {{{"SHF"}}},
     .native = NativeOperation::integer_shift, .usual_latency = 5},
    {.id = "sel", .subject = "SEL", .family = "integer", .ptx = "selp.b32", .op = "Sel", .sass = {{{"SEL"}}},
     .usual_latency = 5, .usual_rate = 64},
    {.id = "imnmx", .subject = "IMNMX", .family = "integer", .ptx = "min.s32, max.s32", .op = "Imnmx",
     .sass = {{{"IMNMX"}, {"VIMNMX"}, {"VIMNMX3"}}}, .native = NativeOperation::integer_min_max,
     .reaches_bound = false, .usual_latency = 5, .usual_rate = 64,
     .note = "VIMNMX from Hopper on; the guide's rate there is more than such chains reach."},
    {.id = "prmt", .subject = "PRMT", .family = "integer", .ptx = "prmt.b32", .op = "Prmt", .sass = {{{"PRMT"}}},
     .usual_latency = 5, .usual_rate = 64},
    {.id = "popc", .subject = "POPC", .family = "integer", .ptx = "popc.b32", .op = "Popc", .sass = {{{"POPC"}}},
     .native = NativeOperation::population_count, .usual_latency = 12},
    {.id = "flo", .subject = "FLO", .family = "integer", .ptx = "bfind.u32", .op = "Flo", .sass = {{{"FLO"}}},
     .native = NativeOperation::leading_zeros, .usual_latency = 14},
    {.id = "brev", .subject = "BREV", .family = "integer", .ptx = "brev.b32", .op = "Brev", .sass = {{{"BREV"}}},
     .native = NativeOperation::bit_reverse, .usual_latency = 14},
    {.id = "dp4a", .subject = "DP4A", .family = "integer", .ptx = "dp4a.u32.u32", .op = "Dp4a",
     .sass = {{{"IDP"}}}, .usual_latency = 5, .usual_rate = 64},
    {.id = "div_u32", .subject = "unsigned 32-bit division", .family = "integer", .ptx = "div.u32",
     .op = "DivideU32", .sass = {{{"MUFU"}}}, .per_step = 12, .counted = false, .usual_latency = 150, .usual_rate = 4},
    {.id = "div_s32", .subject = "signed 32-bit division", .family = "integer", .ptx = "div.s32",
     .op = "DivideS32", .sass = {{{"MUFU"}}}, .per_step = 12, .counted = false, .usual_latency = 160, .usual_rate = 3},
    {.id = "mufu_rcp", .subject = "FADD and MUFU.RCP", .family = "special", .ptx = "add.f32, rcp.approx.f32",
     .op = "MufuRcp", .sass = {{{"MUFU.RCP"}}}, .per_step = 2, .native = NativeOperation::special_function,
     .usual_latency = 26, .quick = true,
     .note = "The addition stands between two reciprocals, which the compiler would cancel."},
    {.id = "mufu_rsq", .subject = "MUFU.RSQ", .family = "special", .ptx = "rsqrt.approx.f32", .op = "MufuRsq",
     .sass = {{{"MUFU.RSQ"}}}, .native = NativeOperation::special_function, .usual_latency = 22},
    {.id = "mufu_sqrt", .subject = "MUFU.SQRT", .family = "special", .ptx = "sqrt.approx.f32",
     .op = "MufuSqrt", .sass = {{{"MUFU.SQRT"}}}, .native = NativeOperation::special_function,
     .usual_latency = 22},
    {.id = "mufu_ex2", .subject = "MUFU.EX2", .family = "special", .ptx = "ex2.approx.f32", .op = "MufuEx2",
     .sass = {{{"MUFU.EX2"}}}, .native = NativeOperation::special_function, .usual_latency = 22},
    {.id = "mufu_lg2", .subject = "MUFU.LG2", .family = "special", .ptx = "lg2.approx.f32", .op = "MufuLg2",
     .sass = {{{"MUFU.LG2"}}}, .native = NativeOperation::special_function, .usual_latency = 22},
    {.id = "mufu_sin", .subject = "FMUL and MUFU.SIN", .family = "special", .ptx = "sin.approx.f32",
     .op = "MufuSin", .sass = {{{"MUFU.SIN"}}}, .per_step = 2, .native = NativeOperation::special_function,
     .usual_latency = 26, .note = "The multiplication brings the angle into the unit's range."},
    {.id = "mufu_cos", .subject = "FMUL and MUFU.COS", .family = "special", .ptx = "cos.approx.f32",
     .op = "MufuCos", .sass = {{{"MUFU.COS"}}}, .per_step = 2, .native = NativeOperation::special_function,
     .usual_latency = 26, .note = "The multiplication brings the angle into the unit's range."},
    {.id = "mufu_tanh", .subject = "MUFU.TANH", .family = "special", .ptx = "tanh.approx.f32",
     .op = "MufuTanh", .sass = {{{"MUFU.TANH"}}}, .usual_latency = 22, .usual_rate = 16},
    {.id = "i2f", .subject = "I2F", .family = "conversion", .ptx = "cvt.rn.f32.s32", .op = "I2f",
     .sass = {{{"I2F"}, {"I2FP"}}}, .native = NativeOperation::convert_int_to_float,
     .reaches_bound = false, .usual_latency = 8},
    {.id = "f2i_i2f", .subject = "F2I and I2F", .family = "conversion",
     .ptx = "cvt.rni.s32.f32, cvt.rn.f32.s32", .op = "F2iI2f", .sass = {{{"F2I"}}}, .per_step = 2,
     .native = NativeOperation::convert_float_to_int, .reaches_bound = false, .usual_latency = 20, .usual_rate = 16},
    {.id = "f32_f16", .subject = "fp32 to fp16 and back", .family = "conversion",
     .ptx = "cvt.rn.f16.f32, cvt.f32.f16", .op = "F16F32", .sass = {{{"HADD2.F32"}}}, .counted = false, .usual_latency = 10,
     .usual_rate = 64, .note = "The compiler converts two numbers to fp16 with one F2FP where it can."},
    {.id = "f32_f64", .subject = "fp32 to fp64 and back", .family = "conversion",
     .ptx = "cvt.f64.f32, cvt.rn.f32.f64", .op = "F64F32", .sass = {{{"F2F.F64.F32"}}}, .per_step = 2,
     .native = NativeOperation::convert_64_bit, .reaches_bound = false, .usual_latency = 40, .usual_rate = 8},
};

inline constexpr Instruction warp_instructions[] = {
    {.id = "shfl_bfly", .subject = "SHFL.BFLY", .family = "warp", .ptx = "shfl.sync.bfly.b32",
     .op = "ShflBfly", .sass = {{{"SHFL.BFLY"}}}, .native = NativeOperation::warp_shuffle,
     .usual_latency = 23, .quick = true},
    {.id = "shfl_idx", .subject = "SHFL.IDX", .family = "warp", .ptx = "shfl.sync.idx.b32", .op = "ShflIdx",
     .sass = {{{"SHFL.IDX"}}}, .native = NativeOperation::warp_shuffle, .usual_latency = 23},
    {.id = "ballot", .subject = "ISETP and VOTE", .family = "warp", .ptx = "setp.gt.u32, vote.sync.ballot.b32",
     .op = "Ballot", .sass = {{{"VOTE"}}}, .per_step = 2, .native = NativeOperation::warp_vote,
     .reaches_bound = false, .usual_latency = 16, .quick = true,
     .note = "A ballot with the comparison that makes its condition."},
    {.id = "match_any", .subject = "MATCH.ANY", .family = "warp", .ptx = "match.any.sync.b32", .op = "MatchAny",
     .sass = {{{"MATCH.ANY"}}}, .usual_latency = 24, .usual_rate = 4, .note = "All 32 lanes differ."},
    {.id = "redux", .subject = "REDUX", .family = "warp", .ptx = "redux.sync.max.u32", .op = "ReduxMax",
     .sass = {{{"REDUX"}, {"CREDUX"}}}, .since = 80, .counted = false, .native = NativeOperation::warp_reduce, .usual_latency = 24,
     .quick = true, .note = "With the move from the uniform register that it writes."},
    {.id = "syncwarp", .subject = "__syncwarp", .family = "barrier", .ptx = "bar.warp.sync",
     .op = "SyncWarp", .sass = {{{"NOP"}, {"WARPSYNC"}}}, .usual_latency = 8,
     .note = "All lanes together, which the compiler knows: from Hopper on nothing but a NOP is left."},
    {.id = "bar_sync_32", .subject = "BAR.SYNC of 32 threads", .family = "barrier", .ptx = "bar.sync 0",
     .op = "BarSync", .sass = {{{"BAR"}}}, .usual_latency = 24, .latency_warps = 1},
    {.id = "bar_sync_128", .subject = "BAR.SYNC of 128 threads", .family = "barrier", .ptx = "bar.sync 0",
     .op = "BarSync", .sass = {{{"BAR"}}}, .usual_latency = 24, .latency_warps = 4},
    {.id = "bar_sync_256", .subject = "BAR.SYNC of 256 threads", .family = "barrier", .ptx = "bar.sync 0",
     .op = "BarSync", .sass = {{{"BAR"}}}, .usual_latency = 28, .latency_warps = 8, .quick = true},
    {.id = "bar_sync_512", .subject = "BAR.SYNC of 512 threads", .family = "barrier", .ptx = "bar.sync 0",
     .op = "BarSync", .sass = {{{"BAR"}}}, .usual_latency = 36, .latency_warps = 16},
    {.id = "bar_sync_1024", .subject = "BAR.SYNC of 1024 threads", .family = "barrier", .ptx = "bar.sync 0",
     .op = "BarSync", .sass = {{{"BAR"}}}, .usual_latency = 60, .latency_warps = 32},
    {.id = "membar_cta", .subject = "MEMBAR.CTA", .family = "fence", .ptx = "membar.cta", .op = "MembarCta",
     .sass = {{{"MEMBAR"}}}, .usual_latency = 8, .one_block = true, .note = "Nothing outstanding."},
    {.id = "membar_gpu", .subject = "MEMBAR.GPU", .family = "fence", .ptx = "membar.gl", .op = "MembarGl",
     .sass = {{{"MEMBAR"}}}, .usual_latency = 700, .one_block = true, .quick = true,
     .note = "Nothing outstanding, idle GPU; with the instructions that the compiler puts around it."},
    {.id = "membar_sys", .subject = "MEMBAR.SYS", .family = "fence", .ptx = "membar.sys", .op = "MembarSys",
     .sass = {{{"MEMBAR"}}}, .usual_latency = 1500, .one_block = true,
     .note = "Nothing outstanding, idle GPU; with the instructions that the compiler puts around it."},
    {.id = "clock", .subject = "clock and IMNMX", .family = "register", .ptx = "mov.u32 %clock, max.u32",
     .op = "ReadClock", .sass = {{{"CS2R.32"}, {"S2UR"}, {"S2R"}}}, .counted = false, .usual_rate = 8},
    {.id = "s2r", .subject = "S2R and IADD3", .family = "register", .ptx = "mov.u32 %smid, add.u32",
     .op = "ReadSpecialRegister", .sass = {{{"S2R"}, {"S2UR"}}}, .counted = false, .usual_rate = 4},
    {.id = "branch", .subject = "turn of a short loop", .family = "branch",
     .ptx = "xor.b32, shl.b32, sub.u32, setp.ne.u32, bra", .op = "LoopBranch", .sass = {{{"LOP3"}}},
     .divisor = 32, .usual_latency = 800, .note = "Five instructions, the last a branch that is taken."},
};

}  // namespace fathom::instructions
