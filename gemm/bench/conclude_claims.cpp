#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "gemm/bench/conclude.h"
#include "results/text.h"

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
constexpr double any = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

const ClaimSource row_major{"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"};
const ClaimSource column_major{"notes on a column-major ladder", "an unnamed GPU"};

/// A figure of the first measured entry.
Quantity measured(std::string name, AxisFilter where, Figure figure, std::string unit = "") {
  return {std::move(name),   std::move(where), Pick::first,
          std::move(figure), std::move(unit),  is_measured};
}

/// A rung's throughput at the compared size, or another figure of its entry there.
Quantity rung_at_size(std::string name, const std::string& rung, const char* type = "fp32",
                      Figure figure = metric_of, std::string unit = "") {
  return measured(std::move(name), at_size(type, ladder_size) + AxisFilter{{"rung", rung}},
                  std::move(figure), std::move(unit));
}

/// The faster of the vendor's two ways: "library".
Quantity library_at_size(const char* type) {
  return {"library", at_size(type, ladder_size), Pick::most, fastest_opponent_of, "FLOP/s"};
}

/// A share of a library on another GPU is no law: it is shown beside the share here, and the step
/// is judged. What gained there must gain here, and what changed nothing must cost nothing.
ClaimRow step_row(const LadderClaim& row) {
  ClaimRow all{.id = row.id,
               .source = row.id[1] == 'R' ? row_major : column_major,
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
  const char* id;
  const ClaimSource& source;
  const char *statement, *claimed, *rung, *against;
  double least, most;  ///< of the ratio
  /// The one thing in which `against` differs from the rung that it goes on from, and a counter
  /// that says why it matters, with its words and format.
  const char *difference = nullptr, *counter = nullptr, *words = nullptr, *format = nullptr;
  bool decides = false;  ///< the counter must rise from rung to `against`
};

constexpr RatioClaim ratios[] = {
    // "Barely helps": the same speed.
    {"G1", double_products,
     "Two outputs per thread (instruction-level parallelism of 2) barely helps",
     "within a few % of shared memory", "row_major/12_two_outputs", "row_major/03_shared_memory", 0,
     faster},
    {"G3", toyx, "Double buffering lets a tiled product drop its second barrier, and is faster",
     "correct with one barrier, and faster", "row_major/08_double_buffered", "row_major/05_tile_2d",
     faster, any},
    {"G7", toyx, "A 32x32 tiled product with two pairs of shared buffers is faster than with one",
     "faster", "row_major/13_two_buffers", "row_major/03_shared_memory", faster, any},
    {"GC8", column_major,
     "Staging a fixed loop's operand in registers by hand changes nothing: the compiler does it",
     "about the same", "column_major/02_shared_memory", "column_major/08_staged_registers",
     same_speed, faster, "the array in which the source stages A's elements",
     "stall_short_scoreboard", "warps per issue that wait for shared memory", ":.2f"},
    {"GC9", column_major, "An 8x8 thread tile loses coalesced stores against 4x16, which is faster",
     "4x16 is faster", "column_major/06_tile_128", "column_major/09_tile_8x8", faster, any,
     "the thread tile", "global_store_sectors", "sectors that stores touch", "", true},
    {"GC13", column_major,
     "Storing float4 by a 4x1 thread tile instead of staging is slower: MIO throttle rises",
     "slower", "column_major/03_tile_2x2", "column_major/10_vector_store", faster, any,
     "the thread tile and its way to C", "stall_mio_throttle",
     "warps per issue that wait for the MIO queue", ":.2f", true},
};

ClaimRow ratio_row(const RatioClaim& claim) {
  ClaimRow row{
      .id = claim.id,
      .source = claim.source,
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

/// The lesson that is to be near the fastest, itself among them, and fp64's.
std::vector<ClaimRow> products_without_tensor_cores() {
  constexpr const char* name = "row_major/14_registers_buffered";
  const auto is_other = [](const Entry& e) {
    return rung_of(e) != name && rung_of(e).find('/') != std::string::npos;
  };
  const auto fastest = [](const Figures& f) { return f.range({"rung", "other"}).second; };
  // Shares of all wavefronts. A layout that conflicts costs every load, or every store, of an
  // operand another wavefront or more, a fifth of all. The counters also have what meets another
  // warp's accesses, whatever the layout (an H200 counts 0.015 % of this kernel's loads, and 3.8 %
  // of its stores). Without wavefronts nothing was counted.
  constexpr double no_loads = 0.001, no_stores = 0.1;
  const std::string loads = "shared_load_conflicts/shared_load_wavefronts",
                    stores = "shared_store_conflicts/shared_store_wavefronts";
  const char* const lesson = "01_shared_memory";
  return {
      ClaimRow{
          "G2",
          double_products,
          "128x128x16 tile, 8x8 per thread, both shared memory and registers double buffered, one "
          "barrier per step",
          "near the top of the simple fp32 kernels",
          {rung_at_size("rung", name),
           {"other", at_size("fp32", ladder_size), Pick::best, metric_of, "", is_other},
           formula("top", fastest, "FLOP/s")},
          {{"rung/top", 0.9}},
          "[{rung}, {rung/top:.1f%} of the fastest lesson's {top}]"},
      ClaimRow{"S7",
               double_products,
               "A 16x16 tiled product of doubles has no bank conflict: one operand "
               "broadcasts, the other is contiguous per half-warp",
               "zero conflicts",
               {rung_at_size("", lesson, "fp64")},
               {{loads, 0, no_loads}, {stores, 0, no_stores}},
               "[{shared_load_conflicts:.0f} conflicts in {shared_load_wavefronts:.0f} "
               "wavefronts of loads ({" +
                   loads +
                   ":.3f%})][, {shared_store_conflicts:.0f} in "
                   "{shared_store_wavefronts:.0f} of stores ({" +
                   stores + ":.3g%})]"},
      // A figure means that C was right against a reference of twice the precision.
      ClaimRow{"G4",
               double_products,
               "fp64 by shared-memory tiles: the kernel of S7 computes the product",
               "no figure given",
               {rung_at_size("rung", lesson, "fp64"), library_at_size("fp64")},
               {{"rung", 0}},
               "[{rung}][, {rung/library:.1f%} of {library opponent}'s {library}]"}};
}

/// What the fp32 ladders move, and what that makes warps wait for.
std::vector<ClaimRow> traffic() {
  // Sectors that the blocks of tiled rungs read, against 2 m n k / tile elements (equal sides).
  const auto share = [](const Entry& e) {
    return counter_of("global_load_sectors")(e) / extra_of("tile_read_sectors")(e);
  };
  // The first kernel's requests are of 32 lanes of 4 bytes: both operands anew for each
  // multiplication, the most that any kernel should ask for.
  constexpr double size = ladder_size, element = 4, lanes = 32, exact = 0.01;
  constexpr double worst = 2 * size * size * size * element, once = 3 * size * size * element;
  const auto loads = [](const Entry& e) {
    return lanes * element * counter_of("global_load_requests")(e);
  };
  const auto sum = [](const char* a, const char* b) {
    return [=](const Entry& e) { return counter_of(a)(e) + counter_of(b)(e); };
  };
  const auto moved = sum("dram_read_bytes", "dram_write_bytes");
  const auto stalls = sum("stall_lg_throttle", "stall_mio_throttle");
  const AxisFilter library{{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}};
  const auto of_library = [&](const char* role) {
    const auto count = [role](const Entry& e) {
      const double counted = counter_of(role)(e);
      return counted > 0 ? counted : nothing;  // nought: nothing was counted
    };
    return Quantity{role, library, Pick::first, count};
  };
  const auto against_library = [&](const char* id, const char* statement, const char* claimed,
                                   double factor, const char* rung) {
    const char* const of_dram = "rung dram_read_bytes/dram_read_bytes";
    const char* const of_shared = "rung shared_load_wavefronts/shared_load_wavefronts";
    // Within a quarter of the author's figure: anything else is another answer.
    const double least = 0.75 * factor, most = 1.25 * factor;
    return ClaimRow{id,
                    column_major,
                    statement,
                    claimed,
                    {rung_at_size("rung", rung), of_library("dram_read_bytes"),
                     of_library("shared_load_wavefronts")},
                    {{of_dram, least, most}, {of_shared, least, most}},
                    fmt::format("[{{{}:.1f}} x of device memory][, {{{}:.1f}} x the wavefronts of "
                                "shared memory]",
                                of_dram, of_shared),
                    Rule::cases};
  };
  return {
      ClaimRow{"GT1",
               row_major,
               "Every block re-reads its operands: global traffic is m n k (1 / tile rows + 1 / "
               "tile columns) elements",
               "2 m n k / tile elements",
               {{"products", {}, Pick::count, share},
                {"least", {}, Pick::least, share},
                {"most", {}, Pick::most, share}},
               {{"least", 0.99}, {"most", 0, 1.01}},
               "[{products:.0f} products by tiled rungs read {least:.3f} to {most:.3f} x that "
               "traffic, in sectors]"},
      ClaimRow{
          "GT2",
          row_major,
          "A product's traffic is between A, B and C once (read and written) and 2 m n k elements",
          "4092³: 268 MB to 548 GB",
          {rung_at_size("most", "row_major/01_naive", "fp32", loads, "B"),
           {"least", at_size("fp32", ladder_size), Pick::least, moved, "B", is_measured}},
          {{"most", (1 - exact) * worst, (1 + exact) * worst}, {"least", once, worst}},
          fmt::format("[at {}³ row_major/01_naive asks for {{most}}, and 2 m n k elements are "
                      "{}][; least moves at DRAM by {{least rung}}, {{least}}, and A, B and C "
                      "once (this C is not read) are {}]",
                      ladder_size, format_quantity(worst, "B"), format_quantity(once, "B"))},
      against_library("GC10",
                      "The shuffle-broadcast naive kernel reads 20 times what the library does, of "
                      "device memory and of shared memory",
                      "20 x", 20, "column_major/01_naive"),
      ClaimRow{"GC11",
               column_major,
               "Memory-pipe throttle stalls fall from the naive kernel to shared memory",
               "they fall",
               {rung_at_size("naive", "column_major/01_naive", "fp32", stalls),
                rung_at_size("shared", "column_major/02_shared_memory", "fp32", stalls)},
               {{"shared/naive", 0, below_one}},
               "[warps per issue that wait there: column_major/01_naive {naive:.2f}, "
               "column_major/02_shared_memory {shared:.2f}]"},
      against_library("GC12", "The 64 tile reads 1.6 times what the library does", "1.6 x", 1.6,
                      "column_major/04_tile_64")};
}

/// fp16's, by WMMA.
std::vector<ClaimRow> products_by_wmma() {
  constexpr double far_below = 0.5;   // "far below the library": less than half of it
  constexpr double all_of_it = 0.95;  // "100 %": this share at least
  const AxisFilter padded{{"part", claimed_part}, {"type", "fp16"}, {"rung", "02_wmma_shared"}};
  const AxisFilter fp16 = at_size("fp16", ladder_size);
  const auto is_mma_sync = [](const Entry& e) {
    return is_any(e, "rung", {"03_mma_sync", "04_multistage"});
  };
  const auto top_if_faster = [](const Figures& f) {
    return f["rung/peak"] > 0 && f["top"] > f["rung"] ? f["top"] : nothing;
  };
  return {ClaimRow{"G5",
                   double_products,
                   "Tensor cores by WMMA, straight from global memory, fp16 at 4096³",
                   "far below the library",
                   {rung_at_size("rung", "01_wmma_global", "fp16"), library_at_size("fp16")},
                   {{"rung/library", 0, far_below * below_one}},
                   "[{rung/library:.1f%}: {rung} against {library} of {library opponent}]"},
          ClaimRow{"G6",
                   toyx,
                   "WMMA, 256 threads, block K of 32, rows padded by 8, two stages, alpha = beta "
                   "= 0.5, fp16 at 8192³: its share of the dense fp16 peak",
                   "100 % (165.1 TFLOP/s of an RTX 4090)",
                   {measured("rung", padded, metric_of, "FLOP/s"),
                    measured("peak", padded, extra_of(published_peak_key), "FLOP/s"),
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
  for (const ClaimRow& row : products_without_tensor_cores() + traffic() + products_by_wmma())
    add(row);
  add(tile_claim(entries));
  return claims;
}

}  // namespace fathom::gemm
