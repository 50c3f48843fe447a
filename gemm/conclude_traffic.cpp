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

/// A rung's entry and the library's own at the compared size.
struct Beside {
  const Entry *rung, *library;
  explicit operator bool() const { return rung != nullptr && library != nullptr; }
  /// A counter of the rung over the library's; nothing where either is missing or nought.
  std::optional<double> ratio(const char* role) const {
    const auto mine = counter_value(*rung, role), theirs = counter_value(*library, role);
    if (!mine || !theirs || !(*theirs > 0)) return std::nullopt;
    return *mine / *theirs;
  }
};

Beside beside_library(std::span<const Entry> entries, const char* rung) {
  return {
      ladder_entry(entries, "fp32", rung),
      find_measured(entries, {{"part", claimed_part}, {"type", "fp32"}, {"rung", library_alone}})};
}

/// A factor this far from the claimed one, relatively, is another answer.
bool is_about(double factor, double claimed) { return std::abs(factor / claimed - 1) <= 0.25; }

/// What the naive kernel reads over what the library does: of the L2, since device memory is behind
/// it, and of shared memory.
Claim naive_against_library(std::span<const Entry> entries) {
  constexpr double claimed = 20;
  Claim claim = make_claim(
      "GC10", "The shuffle-broadcast naive kernel reads 20 times what the library does", "20 x");
  const Beside both = beside_library(entries, "column_major/01_naive");
  if (!both) return claim;
  const auto global = both.ratio("l2_read_sectors"), shared = both.ratio("shared_load_wavefronts");
  if (!global || !shared) return claim;
  claim.verdict = is_about(*global, claimed) && is_about(*shared, claimed) ? ClaimVerdict::confirmed
                                                                           : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} x from the L2, {:.1f} x the wavefronts from shared memory",
                             *global, *shared);
  claim.evidence = {both.rung->name, both.library->name};
  return claim;
}

Claim tile_64_against_library(std::span<const Entry> entries) {
  constexpr double claimed = 1.6;
  Claim claim = make_claim("GC12", "The 64 tile reads 1.6 times what the library does", "1.6 x");
  const Beside both = beside_library(entries, "column_major/04_tile_64");
  if (!both) return claim;
  const auto ratio = both.ratio("l2_read_sectors");
  if (!ratio) return claim;
  claim.verdict = is_about(*ratio, claimed) ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.2f} x from the L2", *ratio);
  claim.evidence = {both.rung->name, both.library->name};
  return claim;
}

/// Stalls for room in the queues of memory instructions.
Claim throttle_falls(std::span<const Entry> entries) {
  Claim claim =
      make_claim("GC11", "Memory-pipe throttle stalls fall from the naive kernel to shared memory",
                 "they fall");
  std::string text;
  std::optional<double> before;
  for (const char* name : {"column_major/01_naive", "column_major/02_shared_memory"}) {
    const Entry* rung = ladder_entry(entries, "fp32", name);
    if (rung == nullptr) return claim;
    const auto lg = counter_value(*rung, "stall_lg_throttle"),
               mio = counter_value(*rung, "stall_mio_throttle");
    if (!lg || !mio) return claim;
    const double stall = *lg + *mio;
    if (before) claim.verdict = stall < *before ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
    text += fmt::format("{}{} {:.2f}", before ? ", " : "", name, stall);
    claim.evidence.push_back(rung->name);
    before = stall;
  }
  claim.figure = "warps per issue that wait there: " + text;
  return claim;
}

}  // namespace

std::vector<Claim> traffic_claims(std::span<const Entry> entries) {
  return {blocks_read_again(entries), worst_traffic(entries), naive_against_library(entries),
          throttle_falls(entries), tile_64_against_library(entries)};
}

}  // namespace fathom::gemm
