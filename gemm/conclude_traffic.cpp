// What is claimed of the fp32 ladders' traffic, and of what it makes warps wait for.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gemm/claimed_products.h"
#include "gemm/conclude_parts.h"
#include "results/format.h"
#include "results/query.h"

namespace fathom::gemm {
namespace {

constexpr double bytes_per_sector = 32;

/// Bytes that the blocks of tiled rungs read, against 2 m n k / tile elements (with equal sides).
Claim blocks_read_again(std::span<const Entry> entries) {
  Claim claim =
      make_claim("GT1",
                 "Every block re-reads its operands: global traffic is m n k (1 / tile rows + 1 / "
                 "tile columns) elements",
                 "2 m n k / tile elements");
  int compared = 0, equal = 0;
  for (const Entry& entry : entries) {
    const auto sectors = counter_value(entry, "global_load_sectors");
    const auto expected = entry.extras.find("tile_read_sectors");
    if (!sectors || expected == entry.extras.end()) continue;
    ++compared;
    const double ratio = *sectors / expected->second;
    equal += ratio > 0.99 && ratio < 1.01;
    claim.figure +=
        fmt::format("{}{}: {:.3f} x", claim.figure.empty() ? "sectors read against it, " : ", ",
                    entry.name, ratio);
    claim.evidence.push_back(entry.name);
  }
  if (compared != 0) {
    claim.verdict = equal == compared ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  }
  return claim;
}

/// Bytes of a counter of sectors, or nothing.
std::optional<double> sector_bytes(const Entry& entry, const char* role) {
  const auto sectors = counter_value(entry, role);
  if (!sectors) return std::nullopt;
  return *sectors * bytes_per_sector;
}

/// Whether what no kernel should need more than, both operands anew for each multiplication, is the
/// most that one asks for. A lane that reads 4 bytes of a sector of its own moves eight times what
/// it uses.
Claim worst_traffic(std::span<const Entry> entries) {
  Claim claim = make_claim(
      "GT2",
      "A product's traffic is between A, B and C once (read and written) and 2 m n k elements",
      "4092 cubed: 268 MB to 548 GB");
  const Entry *most = nullptr, *least = nullptr;
  double most_bytes = 0, least_bytes = 0;
  for (const Entry* entry : ladder_of(entries, "fp32", compared_size)) {
    const auto loads = sector_bytes(*entry, "global_load_sectors");
    const auto read = counter_value(*entry, "dram_read_bytes"),
               written = counter_value(*entry, "dram_write_bytes");
    if (loads && (most == nullptr || *loads > most_bytes)) {
      most = entry;
      most_bytes = *loads;
    }
    if (read && written && (least == nullptr || *read + *written < least_bytes)) {
      least = entry;
      least_bytes = *read + *written;
    }
  }
  if (most == nullptr || least == nullptr) return claim;
  constexpr double size = compared_size, element = 4;
  const double worst = 2 * size * size * size * element;
  claim.verdict = most_bytes <= worst ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format(
      "at {} cubed most is read by {}, {} where 2 m n k elements are {}; least moves at DRAM by "
      "{}, "
      "{} where A, B and C once are {}",
      compared_size, rung_of(*most), format_quantity(most_bytes, "B"), format_quantity(worst, "B"),
      rung_of(*least), format_quantity(least_bytes, "B"),
      format_quantity(4 * size * size * element, "B"));
  claim.evidence = {most->name, least->name};
  return claim;
}

/// Bytes that the naive kernel asks of the L2 over those of the library.
Claim naive_against_library(std::span<const Entry> entries) {
  constexpr double claimed = 20, same = 0.25;
  Claim claim = make_claim(
      "GC10", "The shuffle-broadcast naive kernel moves 20 times the library's traffic", "20 x");
  const Entry* naive = ladder_entry(entries, "fp32", "03_shuffle_broadcast");
  const Entry* library =
      find_measured(entries, {{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}});
  if (naive == nullptr || library == nullptr) return claim;
  const auto mine = sector_bytes(*naive, "l2_read_sectors"),
             theirs = sector_bytes(*library, "l2_read_sectors");
  if (!mine || !theirs || !(*theirs > 0)) return claim;
  const double ratio = *mine / *theirs;
  claim.verdict =
      std::abs(ratio / claimed - 1) <= same ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} x: {} read from the L2 against {}", ratio,
                             format_quantity(*mine, "B"), format_quantity(*theirs, "B"));
  claim.evidence = {naive->name, library->name};
  return claim;
}

/// Stalls for room in the queues of memory instructions, along the column-major ladder.
Claim throttle_falls(std::span<const Entry> entries) {
  constexpr double same_stall = 0.05;  // warps per issue
  Claim claim = make_claim(
      "GC11", "Memory-pipe throttle stalls fall from rung to rung of the column-major ladder",
      "they fall");
  std::string text;
  bool falls = true;
  std::optional<double> before;
  for (const char* name : {"03_shuffle_broadcast", "05_shared_columns", "08_tile_2x2", "09_tile_64",
                           "16_vectorised_64", "17_tile_16x4", "18_registers_buffered"}) {
    const Entry* rung = ladder_entry(entries, "fp32", name);
    if (rung == nullptr) return claim;
    const auto lg = counter_value(*rung, "stall_lg_throttle"),
               mio = counter_value(*rung, "stall_mio_throttle");
    if (!lg || !mio) return claim;
    const double stall = *lg + *mio;
    falls = falls && (!before || stall <= *before + same_stall);
    text += fmt::format("{}{} {:.2f}", before ? ", " : "", name, stall);
    claim.evidence.push_back(rung->name);
    before = stall;
  }
  claim.verdict = falls ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = "warps per issue that wait there: " + text;
  return claim;
}

}  // namespace

std::vector<Claim> traffic_claims(std::span<const Entry> entries) {
  return {blocks_read_again(entries), worst_traffic(entries), naive_against_library(entries),
          throttle_falls(entries)};
}

}  // namespace fathom::gemm
