#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "gemm/bench/conclude.h"
#include "gemm/bench/shapes.h"
#include "results/format.h"

// What is claimed of the fp32 ladders' traffic, and of what it makes warps wait for.

namespace fathom::gemm {
namespace {

/// Whether what no kernel should need more than, both operands anew for each multiplication, is the
/// most that one asks for. A lane that reads 4 bytes of a sector of its own moves eight times what
/// it uses.
ClaimRow worst_traffic() {
  constexpr double size = ladder_size, element = 4, sector = 32;
  constexpr double worst = 2 * size * size * size * element;
  const auto loads = [](const Entry& e) { return sector * counter_of("global_load_sectors")(e); };
  const auto moved = [](const Entry& e) {
    return counter_of("dram_read_bytes")(e) + counter_of("dram_write_bytes")(e);
  };
  const auto of_all = [](const char* name, Pick pick, Figure figure) {
    return Quantity{name, at_size("fp32", ladder_size), pick, std::move(figure), "B", has_figure};
  };
  return {
      .id = "GT2",
      .statement =
          "A product's traffic is between A, B and C once (read and written) and 2 m n k elements",
      .claimed = "4092³: 268 MB to 548 GB",
      .reading = {{of_all("most", Pick::most, loads), of_all("least", Pick::least, moved)}},
      .checks = {{"most", 0, worst}, {"least", 0}},
      .sentence = fmt::format(
          "[at {}³ most is read by {{most rung}}, {{most}} where 2 m n k elements are {}][; "
          "least moves at DRAM by {{least rung}}, {{least}} where A, B and C once are {}]",
          ladder_size, format_quantity(worst, "B"),
          format_quantity(4 * size * size * element, "B"))};
}

/// What a lesson reads over what the library does, by its own entry: of the L2, since device memory
/// is behind it, and of shared memory.
ClaimRow against_library(const char* id, const char* statement, const char* claimed, double factor,
                         const char* rung, bool shared_too, const char* sentence) {
  ClaimRow row{id, statement, claimed, {}, {}, {}, sentence};
  const auto compare = [&](const std::string& name, const char* role) {
    const std::string mine = "rung's " + name, theirs = "library's " + name;
    row.reading.quantities.push_back(rung_at_size(mine, rung, counter_of(role)));
    row.reading.quantities.push_back(
        {theirs,
         {{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}},
         Pick::first,
         [role](const Entry& e) {  // nought: nothing was counted
           const double count = counter_of(role)(e);
           return count > 0 ? count : std::numeric_limits<double>::quiet_NaN();
         }});
    row.reading.formulas.push_back(ratio(name, mine, theirs));
    row.checks.push_back(about(name, factor));
  };
  compare("L2", "l2_read_sectors");
  if (shared_too) compare("shared memory", "shared_load_wavefronts");
  return row;
}

/// Stalls for room in the queues of memory instructions.
ClaimRow throttle_falls() {
  const auto stalls = [](const Entry& e) {
    return counter_of("stall_lg_throttle")(e) + counter_of("stall_mio_throttle")(e);
  };
  return {.id = "GC11",
          .statement = "Memory-pipe throttle stalls fall from the naive kernel to shared memory",
          .claimed = "they fall",
          .reading = {{rung_at_size("naive", "column_major/01_naive", stalls),
                       rung_at_size("shared", "column_major/02_shared_memory", stalls)},
                      {ratio("kept", "shared", "naive")}},
          .checks = {{"kept", 0, below_one}},
          .sentence =
              "[warps per issue that wait there: column_major/01_naive {naive:.2f}, "
              "column_major/02_shared_memory {shared:.2f}]"};
}

/// Bytes that the blocks of tiled rungs read, against 2 m n k / tile elements (with equal sides):
/// of as many entries as have both figures, so that no row can say it.
Claim blocks_read_again(std::span<const Entry> entries) {
  Claim claim = make_claim("GT1",
                           "Every block re-reads its operands: global traffic is m n k (1 / tile "
                           "rows + 1 / tile columns) elements",
                           "2 m n k / tile elements");
  bool all_equal = true;
  for (const Entry& entry : entries) {
    const double share =
        counter_of("global_load_sectors")(entry) / extra_of("tile_read_sectors")(entry);
    if (std::isnan(share)) continue;
    all_equal = all_equal && share > 0.99 && share < 1.01;
    claim.figure +=
        fmt::format("{}{}: {:.3f} x", claim.figure.empty() ? "sectors read against it, " : ", ",
                    entry.name, share);
    claim.evidence.push_back(entry.name);
  }
  if (!claim.evidence.empty())
    claim.verdict = all_equal ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

}  // namespace

std::vector<Claim> traffic_claims(std::span<const Entry> entries) {
  return {
      blocks_read_again(entries), evaluate(worst_traffic(), entries),
      evaluate(
          against_library(
              "GC10", "The shuffle-broadcast naive kernel reads 20 times what the library does",
              "20 x", 20, "column_major/01_naive", true,
              "[{L2:.1f} x from the L2, {shared memory:.1f} x the wavefronts from shared memory]"),
          entries),
      evaluate(throttle_falls(), entries),
      evaluate(against_library("GC12", "The 64 tile reads 1.6 times what the library does", "1.6 x",
                               1.6, "column_major/04_tile_64", false, "[{L2:.2f} x from the L2]"),
               entries)};
}

}  // namespace fathom::gemm
