#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "gemm/bench/conclude.h"

// What is claimed of products, as rows (results/findings.h).

namespace fathom::gemm {
namespace {

/// A row of the two published fp32 ladders: its author's share of cuBLAS at 4096³, the lesson that
/// tests it, and the row before its step. Row-major on an RTX A6000, then column-major.
struct LadderClaim {
  const char* id;
  const char* rung;  ///< below "fp32/"
  const char* step;  ///< the author's name for it
  double share;      ///< of cuBLAS, from 0 to 1
  const char* parent = nullptr;
};
constexpr LadderClaim shares[] = {
    {"GR1", "row_major/01_naive", "naive", 0.013},
    {"GR2", "row_major/02_coalesced", "coalesced", 0.085, "GR1"},
    {"GR3", "row_major/03_shared_memory", "shared memory", 0.128, "GR2"},
    {"GR4", "row_major/04_tile_1d", "1D block tile", 0.365, "GR3"},
    {"GR5", "row_major/05_tile_2d", "2D block tile", 0.687, "GR4"},
    {"GR6", "row_major/06_linearised", "linearised against bank conflicts", 0.697, "GR5"},
    {"GR7", "row_major/07_padded", "offset against bank conflicts", 0.708, "GR5"},
    {"GR8", "row_major/08_double_buffered", "double buffering", 0.743, "GR5"},
    {"GR9", "row_major/09_vectorised", "vectorised", 0.784, "GR5"},
    {"GR10", "row_major/10_autotuned", "autotuned", 0.848, "GR9"},
    {"GR11", "row_major/11_warp_tile", "warp tile", 0.937, "GR9"},
    {"GC1", "column_major/01_naive", "naive", 0.07},
    {"GC2", "column_major/02_shared_memory", "shared", 0.20, "GC1"},
    {"GC3", "column_major/03_tile_2x2", "2x2 thread tile", 0.22, "GC2"},
    {"GC4", "column_major/04_tile_64", "64 tile", 0.30, "GC3"},
    {"GC5", "column_major/05_vectorised_64", "64 tile, vector loads and transposed store", 0.50,
     "GC4"},
    {"GC6", "column_major/06_tile_128", "128x128x8 tile, 4x16 thread tile", 0.70, "GC5"},
    {"GC7", "column_major/07_double_buffered", "128x128x8 tile, two shared buffers", 0.70, "GC6"},
};

/// Two speeds that differ by less may be the same.
constexpr double faster = 1 / same_speed;

const ClaimSource row_major{"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"};
const ClaimSource column_major{"notes on a column-major ladder", "an unnamed GPU"};

const ClaimSource& source_of(const std::string& id) {
  if (id.starts_with("GR") || id.starts_with("GT")) return row_major;
  if (id.starts_with("GC")) return column_major;
  return id == "G3" || id == "G6" || id == "G7" || id == "T2" ? toyx : double_products;
}

/// A share of a library on another GPU is no law: it is shown beside the share here, and the step
/// is judged. What gained there must gain here, and what changed nothing must cost nothing.
ClaimRow step_row(const LadderClaim& row) {
  ClaimRow all{.id = row.id,
               .statement = fmt::format("fp32 at 4096³, {}: its share of cuBLAS", row.step),
               .claimed = fmt::format("{:.3g} % of cuBLAS", 100 * row.share),
               .reading = {rung_at_size("rung", row.rung), library_at_size("fp32")},
               .checks = {{"rung/parent"}},
               .sentence = "[{rung}][, {rung/library:.1f%} of the {library} of {library opponent}]",
               .missing = "a ladder's first kernel has no step to judge"};
  if (row.parent == nullptr) return all;
  const LadderClaim& parent =
      *std::ranges::find(shares, std::string_view(row.parent), &LadderClaim::id);
  const double there = row.share / parent.share;
  const bool gained = there > faster;
  all.statement = fmt::format("fp32 at 4096³, {}: {} {}", row.step,
                              gained ? "faster than" : "no slower than", parent.step);
  all.claimed += fmt::format(", {:.2f} x {}", there, row.parent);
  all.reading.push_back(rung_at_size("parent", parent.rung));
  all.reading.push_back(formula("kept", [there](const Figures& f) {
    return std::max((f["rung/parent"] - 1) / (there - 1), 0.0);
  }));
  all.checks = {{"rung/parent", gained ? faster : same_speed}};
  all.sentence = fmt::format("[{{rung/parent:.2f}} x {} here{}: ]{}", row.parent,
                             gained ? ", {kept:.0f%} of the author's gain" : "", all.sentence);
  return all;
}

/// A claim on the ratio of two rungs' throughputs.
struct RatioClaim {
  const char *id, *statement, *claimed, *rung, *against;
  double least, most;  ///< of the ratio
  /// The one thing in which `against` differs from the rung that it goes on from, and a counter
  /// that says why it matters, with its words and format.
  const char *difference = nullptr, *counter = nullptr, *words = nullptr, *format = nullptr;
  bool decides = false;  ///< the counter must rise from rung to `against`
};

constexpr double any = std::numeric_limits<double>::infinity();

constexpr RatioClaim ratios[] = {
    // "Barely helps": the same speed.
    {"G1", "Two outputs per thread (instruction-level parallelism of 2) barely helps",
     "within a few % of shared memory", "row_major/12_two_outputs", "row_major/03_shared_memory", 0,
     faster},
    {"G3", "Double buffering lets a tiled product drop its second barrier, and is faster",
     "correct with one barrier, and faster", "row_major/08_double_buffered", "row_major/05_tile_2d",
     faster, any},
    {"G7", "A 32x32 tiled product with two pairs of shared buffers is faster than with one",
     "faster", "row_major/13_two_buffers", "row_major/03_shared_memory", faster, any},
    {"GC8",
     "Staging a fixed loop's operand in registers by hand changes nothing: the compiler does it",
     "about the same", "column_major/02_shared_memory", "column_major/08_staged_registers",
     same_speed, faster, "the array in which the source stages A's elements",
     "stall_short_scoreboard", "warps per issue that wait for shared memory", ":.2f"},
    {"GC9", "An 8x8 thread tile loses coalesced stores against 4x16, which is faster",
     "4x16 is faster", "column_major/06_tile_128", "column_major/09_tile_8x8", faster, any,
     "the thread tile", "global_store_sectors", "sectors that stores touch", "", true},
    {"GC13", "Storing float4 by a 4x1 thread tile instead of staging is slower: MIO throttle rises",
     "slower", "column_major/03_tile_2x2", "column_major/10_vector_store", faster, any,
     "the thread tile and its way to C", "stall_mio_throttle",
     "warps per issue that wait for the MIO queue", ":.2f", true},
};

ClaimRow ratio_row(const RatioClaim& claim) {
  ClaimRow row{
      .id = claim.id,
      .statement = claim.statement,
      .claimed = claim.claimed,
      .reading = {rung_at_size("rung", claim.rung), rung_at_size("against", claim.against)},
      .checks = {{"rung/against", claim.least, claim.most}},
      .sentence = fmt::format("[{} {{rung}} against {{against}} of {} ({{rung/against:.3f}} x)]",
                              claim.rung, claim.against)};
  if (claim.difference == nullptr) return row;
  row.sentence = fmt::format(
      "[{} has {{rung/against:.3f}} x the {{against}} of {}; they differ in nothing but {}]",
      claim.rung, claim.against, claim.difference);
  const auto compare = [&](const char* name, const char* words, const char* format = "") {
    row.sentence +=
        fmt::format("[; {0}: {{rung {1}{2}}} against {{against {1}{2}}}]", words, name, format);
  };
  if (claim.decides) compare(claim.counter, claim.words, claim.format);
  compare("shared_load_wavefronts", "wavefronts of shared-memory reads");
  if (!claim.decides) compare(claim.counter, claim.words, claim.format);
  compare("registers", "registers");
  if (claim.decides)
    row.checks.push_back({fmt::format("rung {0}/against {0}", claim.counter), 0, below_one});
  return row;
}

/// Against the fastest lesson, itself among them.
ClaimRow registers_buffered() {
  constexpr const char* name = "row_major/14_registers_buffered";
  const auto is_other = [](const Entry& e) {
    return rung_of(e) != name && rung_of(e).find('/') != std::string::npos;
  };
  return {"G2",
          {},
          "128x128x16 tile, 8x8 per thread, both shared memory and registers double buffered, one "
          "barrier per step",
          "near the top of the simple fp32 kernels",
          {rung_at_size("rung", name),
           {"other", at_size("fp32", ladder_size), Pick::best, metric_of, "", is_other},
           formula(
               "top",
               [](const Figures& f) {
                 return f.range({"rung", "other"}).second;
               },
               "FLOP/s")},
          {{"rung/top", 0.9}},
          "[{rung}, {rung/top:.1f%} of the fastest lesson's {top}]"};
}

/// fp64's, before the ladders' traffic.
std::vector<ClaimRow> products_of_doubles() {
  // Shares of all wavefronts. A layout that conflicts costs every load, or every store, of an
  // operand another wavefront or more, a fifth of all. The counters also have what meets another
  // warp's accesses, whatever the layout (an H200 counts 0.015 % of this kernel's loads, and 3.8 %
  // of its stores). Without wavefronts nothing was counted.
  constexpr double no_loads = 0.001, no_stores = 0.1;
  const std::string loads = "rung shared_load_conflicts/rung shared_load_wavefronts",
                    stores = "rung shared_store_conflicts/rung shared_store_wavefronts";
  const Quantity rung = rung_at_size("rung", "01_shared_memory", "fp64");
  return {ClaimRow{"S7",
                   {},
                   "A 16x16 tiled product of doubles has no bank conflict: one operand "
                   "broadcasts, the other is contiguous per half-warp",
                   "zero conflicts",
                   {rung},
                   {{loads, 0, no_loads}, {stores, 0, no_stores}},
                   "[{rung shared_load_conflicts:.0f} conflicts in {rung "
                   "shared_load_wavefronts:.0f} wavefronts of loads ({" +
                       loads +
                       ":.3f%})][, {rung shared_store_conflicts:.0f} in {rung "
                       "shared_store_wavefronts:.0f} of stores ({" +
                       stores + ":.3g%})]"},
          // A figure means that C was right against a reference of twice the precision.
          ClaimRow{"G4",
                   {},
                   "fp64 by shared-memory tiles: the kernel of S7 computes the product",
                   "no figure given",
                   {rung, library_at_size("fp64")},
                   {{"rung", 0}},
                   "[{rung}][, {rung/library:.1f%} of {library opponent}'s {library}]"}};
}

/// fp16's, by WMMA.
std::vector<ClaimRow> products_by_wmma() {
  constexpr double far_below = 0.5;   // "far below the library": less than half of it
  constexpr double all_of_it = 0.95;  // "100 %": this share at least
  const auto claimed = [](const char* name, Figure figure) {
    return Quantity{
        name,        {{"part", claimed_part}, {"type", "fp16"}, {"rung", "02_wmma_shared"}},
        Pick::first, std::move(figure),
        "FLOP/s",    is_measured};
  };
  const AxisFilter fp16 = at_size("fp16", ladder_size);
  const auto is_mma_sync = [](const Entry& e) {
    return is_any(e, "rung", {"03_mma_sync", "04_multistage"});
  };
  const auto top_if_faster = [](const Figures& f) {
    return f["rung/peak"] > 0 && f["top"] > f["rung"] ? f["top"]
                                                      : std::numeric_limits<double>::quiet_NaN();
  };
  return {ClaimRow{"G5",
                   {},
                   "Tensor cores by WMMA, straight from global memory, fp16 at 4096³",
                   "far below the library",
                   {rung_at_size("rung", "01_wmma_global", "fp16"), library_at_size("fp16")},
                   {{"rung/library", 0, far_below * below_one}},
                   "[{rung/library:.1f%}: {rung} against {library} of {library opponent}]"},
          ClaimRow{"G6",
                   {},
                   "WMMA, 256 threads, block K of 32, rows padded by 8, two stages, alpha = beta "
                   "= 0.5, fp16 at 8192³: its share of the dense fp16 peak",
                   "100 % (165.1 TFLOP/s of an RTX 4090)",
                   {claimed("rung", metric_of),
                    claimed("peak", extra_of(published_peak_key)),
                    {"mma", fp16, Pick::best, metric_of, "", is_mma_sync},
                    {"top", fp16, Pick::best},
                    formula("faster", top_if_faster, "FLOP/s")},
                   {{"rung/peak", all_of_it}, {"rung/mma", all_of_it}},
                   "[{rung/peak:.1f%}: ][{rung}][ of the published {peak}][, {rung/mma:.1f%} of "
                   "the {mma} that mma.sync reaches in {mma rung}][; {top rung} has {faster} at "
                   "4096³]",
                   Rule::cases,
                   "the product, a lesson by mma.sync or this GPU's published peak is missing"}};
}

}  // namespace

std::vector<Claim> conclude_claims(std::span<const Entry> entries) {
  std::vector<Claim> claims;
  const auto add = [&](const ClaimRow& row) { claims.push_back(evaluate(row, entries)); };
  for (const LadderClaim& row : shares) add(step_row(row));
  for (const RatioClaim& claim : ratios) add(ratio_row(claim));
  add(registers_buffered());
  for (const ClaimRow& row : products_of_doubles()) add(row);
  for (const ClaimRow& row : traffic_claims()) add(row);
  for (const ClaimRow& row : products_by_wmma()) add(row);
  add(tile_claim(entries));
  for (Claim& claim : claims) {
    const ClaimSource& source = source_of(claim.id);
    claim.author = source.author;
    claim.gpu = source.gpu;
  }
  return claims;
}

}  // namespace fathom::gemm
