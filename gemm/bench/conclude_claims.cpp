#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "gemm/bench/conclude.h"
#include "gemm/bench/shapes.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

// What is claimed of products, as rows (results/rows.h).

namespace fathom::gemm {
namespace {

/// One row of the two published fp32 ladders: what share of cuBLAS its author measured at 4096³,
/// and the lesson that puts it to the test. Row-major on an RTX A6000 (GR1 to GR11), then
/// column-major.
struct LadderClaim {
  const char* id;
  const char* rung;  ///< below "fp32/"
  const char* step;  ///< the author's name for it
  double share;      ///< of cuBLAS, from 0 to 1
};
constexpr LadderClaim shares[] = {
    {"GR1", "row_major/01_naive", "naive", 0.013},
    {"GR2", "row_major/02_coalesced", "coalesced", 0.085},
    {"GR3", "row_major/03_shared_memory", "shared memory", 0.128},
    {"GR4", "row_major/04_tile_1d", "1D block tile", 0.365},
    {"GR5", "row_major/05_tile_2d", "2D block tile", 0.687},
    {"GR6", "row_major/06_linearised", "linearised against bank conflicts", 0.697},
    {"GR7", "row_major/07_padded", "offset against bank conflicts", 0.708},
    {"GR8", "row_major/08_double_buffered", "double buffering", 0.743},
    {"GR9", "row_major/09_vectorised", "vectorised", 0.784},
    {"GR10", "row_major/10_autotuned", "autotuned", 0.848},
    {"GR11", "row_major/11_warp_tile", "warp tile", 0.937},
    {"GC1", "column_major/01_naive", "naive", 0.07},
    {"GC2", "column_major/02_shared_memory", "shared", 0.20},
    {"GC3", "column_major/03_tile_2x2", "2x2 thread tile", 0.22},
    {"GC4", "column_major/04_tile_64", "64 tile", 0.30},
    {"GC5", "column_major/05_vectorised_64", "64 tile, vector loads and transposed store", 0.50},
    {"GC6", "column_major/06_tile_128", "128x128x8 tile, 4x16 thread tile", 0.70},
    {"GC7", "column_major/07_double_buffered", "128x128x8 tile, two shared buffers", 0.70},
};

/// Rungs whose throughputs are this close are equal.
constexpr double same_throughput = 0.02;

const ClaimSource row_major{"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"};
const ClaimSource column_major{"notes on a column-major ladder", "an unnamed GPU"};

const ClaimSource& source_of(const std::string& id) {
  if (id.starts_with("GR") || id.starts_with("GT")) return row_major;
  if (id.starts_with("GC")) return column_major;
  return id == "G3" || id == "G6" || id == "G7" || id == "T2" ? toyx : double_products;
}

ClaimRow share_row(const LadderClaim& row) {
  return {.id = row.id,
          .statement = fmt::format("fp32 at 4096³, {}: its share of cuBLAS", row.step),
          .claimed = fmt::format("{:.3g} % of cuBLAS", 100 * row.share),
          .reading = {{rung_at_size("rung", row.rung), library_at_size("fp32")},
                      {percent("share", "rung", "library")}},
          .checks = {about("share", 100 * row.share)},
          .sentence = "[{share:.1f} %: {rung} against {library} of {library opponent}]"};
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
constexpr double faster = 1 + same_throughput;

constexpr RatioClaim ratios[] = {
    // "Barely helps": an output a thread more is worth no more than a tenth.
    {"G1", "Two outputs per thread (instruction-level parallelism of 2) barely helps",
     "within a few % of shared memory", "row_major/12_two_outputs", "row_major/03_shared_memory", 0,
     1.10},
    {"G3", "Double buffering lets a tiled product drop its second barrier, and is faster",
     "correct with one barrier, and faster", "row_major/08_double_buffered", "row_major/05_tile_2d",
     faster, any},
    {"G7", "A 32x32 tiled product with two pairs of shared buffers is faster than with one",
     "faster", "row_major/13_two_buffers", "row_major/03_shared_memory", faster, any},
    {"GC8",
     "Staging a fixed loop's operand in registers by hand changes nothing: the compiler does it",
     "about the same", "column_major/02_shared_memory", "column_major/08_staged_registers",
     1 - same_throughput, faster, "the array in which the source stages A's elements",
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
      .reading = {{rung_at_size("rung", claim.rung), rung_at_size("against", claim.against)},
                  {ratio("ratio", "rung", "against")}},
      .checks = {{"ratio", claim.least, claim.most}},
      .sentence = fmt::format("[{} {{rung}} against {{against}} of {} ({{ratio:.3f}} x)]",
                              claim.rung, claim.against)};
  if (claim.difference == nullptr) return row;
  row.sentence =
      fmt::format("[{} has {{ratio:.3f}} x the {{against}} of {}; they differ in nothing but {}]",
                  claim.rung, claim.against, claim.difference);
  const auto compare = [&](const std::string& name, const Figure& figure, const char* words,
                           const char* format) {
    row.reading.quantities.push_back(rung_at_size(name, claim.rung, figure));
    row.reading.quantities.push_back(rung_at_size("other " + name, claim.against, figure));
    row.sentence +=
        fmt::format("[; {0}: {{{1}{2}}} against {{other {1}{2}}}]", words, name, format);
  };
  const std::string role = claim.counter, reads = "shared_load_wavefronts";
  if (claim.decides) compare(role, counter_of(role), claim.words, claim.format);
  compare(reads, counter_of(reads), "wavefronts of shared-memory reads", "");
  if (!claim.decides) compare(role, counter_of(role), claim.words, claim.format);
  compare("registers", extra_of("registers"), "registers", "");
  if (claim.decides) {
    row.reading.formulas.push_back(ratio("kept", role, "other " + role));
    row.checks.push_back({"kept", 0, below_one});
  }
  return row;
}

/// Against the fastest lesson, itself among them.
Claim registers_buffered(std::span<const Entry> entries) {
  Claim claim = make_claim("G2",
                           "128x128x16 tile, 8x8 per thread, both shared memory and registers "
                           "double buffered, one barrier per step",
                           "near the top of the simple fp32 kernels");
  std::vector<const Entry*> lessons = select(entries, at_size("fp32", ladder_size));
  std::erase_if(lessons, [](const Entry* e) {
    return !has_figure(*e) || rung_of(*e).find('/') == std::string::npos;
  });
  const auto rung = std::ranges::find(lessons, "row_major/14_registers_buffered",
                                      [](const Entry* e) { return rung_of(*e); });
  if (rung == lessons.end() || lessons.size() < 2) return claim;
  const Entry* top = best(lessons);
  constexpr double near_the_top = 0.9;
  const double share = metric_of(**rung) / metric_of(*top);
  claim.verdict = share >= near_the_top ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{}, {:.1f} % of the fastest lesson's {}",
                             format_quantity(metric_of(**rung), "FLOP/s"), 100 * share,
                             format_quantity(metric_of(*top), "FLOP/s"));
  claim.evidence = {(*rung)->name, top->name};
  return claim;
}

/// fp64's, before the ladders' traffic.
std::vector<ClaimRow> products_of_doubles() {
  // A share of all wavefronts. A layout that conflicts costs every load of a warp another wavefront
  // or more. The counter also has a few where loads meet another warp's stores, whatever the layout
  // (an H200 counts 0.015 % for this kernel). Without wavefronts nothing was counted.
  constexpr double no_conflicts = 0.1;
  const auto tiles = [](const char* name, Figure figure) {
    return rung_at_size(name, "01_shared_memory", std::move(figure), "fp64");
  };
  return {{.id = "S7",
           .statement = "A 16x16 tiled product of doubles has no bank conflict: one operand "
                        "broadcasts, the other is contiguous per half-warp",
           .claimed = "zero conflicts",
           .reading = {{tiles("loads", counter_of("shared_load_conflicts")),
                        tiles("wavefronts", counter_of("shared_load_wavefronts"))},
                       {percent("share", "loads", "wavefronts")}},
           .checks = {{"share", 0, no_conflicts}},
           .sentence =
               "[{loads:.0f} conflicts in {wavefronts:.0f} wavefronts of loads ({share:.3f} %)]"},
          // An entry has a figure only if its C was right against a reference of twice the
          // precision.
          {.id = "G4",
           .statement = "fp64 by shared-memory tiles: the kernel of S7 computes the product",
           .claimed = "no figure given",
           .reading = {{tiles("rung", metric_of), library_at_size("fp64")},
                       {percent("share", "rung", "library")}},
           .checks = {{"rung", 0}},
           .sentence = "[{rung}][, {share:.1f} % of {library opponent}'s {library}]"}};
}

/// fp16's, by WMMA.
std::vector<ClaimRow> products_by_wmma() {
  constexpr double far_below = 50;  // "far below the library": less than half of it
  constexpr double all_of_it = 95;  // "100 %": this share at least
  const auto claimed = [](const char* name, Figure figure) {
    return Quantity{
        name,        {{"part", claimed_part}, {"type", "fp16"}, {"rung", "02_wmma_shared"}},
        Pick::first, std::move(figure),
        "FLOP/s",    has_figure};
  };
  const auto top_if_faster = [](const Figures& f) {
    return f["share"] > 0 && f["top"] > f["rung"] ? f["top"]
                                                  : std::numeric_limits<double>::quiet_NaN();
  };
  return {{.id = "G5",
           .statement = "Tensor cores by WMMA, straight from global memory, fp16 at 4096³",
           .claimed = "far below the library",
           .reading = {{rung_at_size("rung", "01_wmma_global", metric_of, "fp16"),
                        library_at_size("fp16")},
                       {percent("share", "rung", "library")}},
           .checks = {{"share", 0, far_below * below_one}},
           .sentence = "[{share:.1f} %: {rung} against {library} of {library opponent}]"},
          {.id = "G6",
           .statement = "WMMA, 256 threads, block K of 32, rows padded by 8, two stages, alpha = "
                        "beta = 0.5, fp16 at 8192³: its share of the dense fp16 peak",
           .claimed = "100 % (165.1 TFLOP/s of an RTX 4090)",
           .reading = {{claimed("rung", metric_of),
                        claimed("peak", extra_of(published_peak_key)),
                        {"top", at_size("fp16", ladder_size), Pick::best}},
                       {percent("share", "rung", "peak"), {"faster", top_if_faster, "FLOP/s"}}},
           .checks = {{"share", all_of_it}},
           .sentence = "[{share:.1f} %: ][{rung}][ of the published {peak}][; {top rung} has "
                       "{faster} at 4096³]",
           .missing = "the product or this GPU's published peak is missing"}};
}

}  // namespace

std::vector<Claim> conclude_claims(std::span<const Entry> entries) {
  std::vector<Claim> claims;
  const auto add = [&](const ClaimRow& row) { claims.push_back(evaluate(row, entries)); };
  for (const LadderClaim& row : shares) add(share_row(row));
  for (const RatioClaim& claim : ratios) add(ratio_row(claim));
  claims.push_back(registers_buffered(entries));
  for (const ClaimRow& row : products_of_doubles()) add(row);
  for (Claim& claim : traffic_claims(entries)) claims.push_back(std::move(claim));
  for (const ClaimRow& row : products_by_wmma()) add(row);
  claims.push_back(tile_claim(entries));
  for (Claim& claim : claims) {
    const ClaimSource& source = source_of(claim.id);
    claim.author = source.author;
    claim.gpu = source.gpu;
  }
  return claims;
}

}  // namespace fathom::gemm
