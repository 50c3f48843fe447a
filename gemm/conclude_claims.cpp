#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "gemm/claimed_products.h"
#include "gemm/conclude.h"
#include "gemm/conclude_parts.h"
#include "results/format.h"
#include "results/query.h"
#include "results/rows.h"

namespace fathom::gemm {
namespace {

constexpr LadderClaim table[] = {
    {"GR1", "row_major/01_naive", "naive", 0.013},
    {"GR2", "row_major/02_coalesced", "coalesced", 0.085},
    {"GR3", "row_major/03_shared_memory", "shared memory", 0.128},
    {"GR4", "row_major/04_tile_1d", "1D block tile", 0.365},
    {"GR5", "row_major/05_tile_2d", "2D block tile", 0.687},
    {"GR6", "row_major/06_linearised", "linearised against bank conflicts", 0.697},
    {"GR7", "row_major/07_padded", "offset against bank conflicts", 0.708},
    {"GR8", "row_major/08_double_buffered", "double buffering", 0.743},
    {"GR9", "row_major/09_vectorised", "vectorised", 0.784},
    {"GR10", "row_major/10_autotuned", "autotuned", 0.848, true},
    {"GR11", "row_major/11_warp_tile", "warp tile", 0.937},
    {"GC1", "column_major/01_naive", "naive", 0.07},
    {"GC2", "column_major/02_shared_memory", "shared", 0.20},
    {"GC3", "column_major/03_tile_2x2", "2x2 thread tile", 0.22},
    {"GC4", "column_major/04_tile_64", "64 tile", 0.30},
    {"GC5", "column_major/05_vectorised_64", "64 tile, vector loads and transposed store", 0.50},
    {"GC6", "column_major/06_tile_128", "128x128x8 tile, 4x16 thread tile", 0.70},
    {"GC7", "column_major/07_double_buffered", "128x128x8 tile, two shared buffers", 0.70},
};

/// A share this much off, relatively, is another answer than the author's.
constexpr double same_share = 0.25;
/// "Barely helps": an output a thread more is worth no more than this.
constexpr double barely = 1.10;
/// Rungs whose throughputs are this close are equal.
constexpr double same_throughput = 0.02;

const ClaimSource row_major{"S. Boehm, How to Optimize a CUDA Matmul Kernel", "RTX A6000"};
const ClaimSource column_major{"notes on a column-major ladder", "an unnamed GPU"};

const ClaimSource& source_of(const std::string& id) {
  if (id.starts_with("GR") || id.starts_with("GT")) return row_major;
  if (id.starts_with("GC")) return column_major;
  return id == "G3" || id == "G6" || id == "G7" || id == "T2" ? toyx : double_products;
}

double throughput(const Entry& entry) { return *entry.metric.value; }

bool took_tuned_choice(const Entry& rung) {
  const auto tuned = rung.extras.find("tuned");
  return tuned != rung.extras.end() && tuned->second == 1;
}

Claim share_claim(std::span<const Entry> entries, const LadderClaim& row) {
  Claim claim =
      make_claim(row.id, fmt::format("fp32 at 4096 cubed, {}: its share of cuBLAS", row.step),
                 fmt::format("{:.3g} % of cuBLAS", 100 * row.share));
  const Entry* rung = ladder_entry(entries, "fp32", row.rung);
  if (rung != nullptr && row.tuned && !took_tuned_choice(*rung)) {
    claim.figure = fmt::format(
        "not asked: {} took the first of its tilings; gemm_ladder --autotune --rung fp32/{} times "
        "the others",
        row.rung, row.rung);
    claim.evidence = {rung->name};
    return claim;
  }
  const std::optional<Library> library = library_of(entries, "fp32");
  if (rung == nullptr || !library) return claim;
  const double share = throughput(*rung) / library->throughput;
  const double off = share / row.share - 1;
  claim.verdict =
      off <= same_share && off >= -same_share ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{:.1f} %: {} against {} of {}", 100 * share,
                             format_quantity(throughput(*rung), "FLOP/s"),
                             format_quantity(library->throughput, "FLOP/s"), library->name);
  claim.evidence = {rung->name, library->evidence};
  return claim;
}

/// A claim on the ratio of two rungs' throughputs.
struct RatioClaim {
  const char *id, *statement, *claimed, *rung, *against;
  bool (*holds)(double ratio);
};

constexpr RatioClaim ratios[] = {
    {"G1", "Two outputs per thread (instruction-level parallelism of 2) barely helps",
     "within a few % of shared memory", "row_major/12_two_outputs", "row_major/03_shared_memory",
     [](double r) { return r <= barely; }},
    {"G3", "Double buffering lets a tiled product drop its second barrier, and is faster",
     "correct with one barrier, and faster", "row_major/08_double_buffered", "row_major/05_tile_2d",
     [](double r) { return r > 1 + same_throughput; }},
    {"G7", "A 32x32 tiled product with two pairs of shared buffers is faster than with one",
     "faster", "row_major/13_two_buffers", "row_major/03_shared_memory",
     [](double r) { return r > 1 + same_throughput; }},
};

Claim ratio_claim(std::span<const Entry> entries, const RatioClaim& row) {
  Claim claim = make_claim(row.id, row.statement, row.claimed);
  const Entry* rung = ladder_entry(entries, "fp32", row.rung);
  const Entry* against = ladder_entry(entries, "fp32", row.against);
  if (rung == nullptr || against == nullptr) return claim;
  const double ratio = throughput(*rung) / throughput(*against);
  claim.verdict = row.holds(ratio) ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{} {} against {} of {} ({:.3f} x)", row.rung,
                             format_quantity(throughput(*rung), "FLOP/s"),
                             format_quantity(throughput(*against), "FLOP/s"), row.against, ratio);
  claim.evidence = {rung->name, against->name};
  return claim;
}

/// A claim on the one thing in which a lesson and one that goes on from it differ.
struct AblationClaim {
  const char *id, *statement, *claimed, *rung, *ablation, *difference;
  struct Told {
    const char *role, *words;
  } counters[2];  ///< that say why
  /// Of the throughputs' ratio and the first counter's values; nothing where it needs those and
  /// they are not known.
  std::optional<bool> (*holds)(double ratio, std::optional<double> of_rung,
                               std::optional<double> of_ablation);
};

constexpr AblationClaim ablations[] = {
    {"GC8",
     "Staging a fixed loop's operand in registers by hand changes nothing: the compiler does it",
     "about the same",
     "column_major/02_shared_memory",
     "column_major/08_staged_registers",
     "the array in which the source stages A's elements",
     {{"shared_load_wavefronts", "wavefronts of shared-memory reads"},
      {"stall_short_scoreboard", "warps per issue that wait for shared memory"}},
     [](double ratio, auto, auto) -> std::optional<bool> {
       return std::abs(ratio - 1) <= same_throughput;
     }},
    {"GC9",
     "An 8x8 thread tile loses coalesced stores against 4x16, which is faster",
     "4x16 is faster",
     "column_major/06_tile_128",
     "column_major/09_tile_8x8",
     "the thread tile",
     {{"global_store_sectors", "sectors that stores touch"},
      {"shared_load_wavefronts", "wavefronts of shared-memory reads"}},
     [](double ratio, auto of_rung, auto of_ablation) -> std::optional<bool> {
       if (!of_rung || !of_ablation) return std::nullopt;
       return ratio > 1 + same_throughput && *of_ablation > *of_rung;
     }},
    {"GC13",
     "Storing float4 by a 4x1 thread tile instead of staging is slower: MIO throttle rises",
     "slower",
     "column_major/03_tile_2x2",
     "column_major/10_vector_store",
     "the thread tile and its way to C",
     {{"stall_mio_throttle", "warps per issue that wait for the MIO queue"},
      {"shared_load_wavefronts", "wavefronts of shared-memory reads"}},
     [](double ratio, auto of_rung, auto of_ablation) -> std::optional<bool> {
       if (!of_rung || !of_ablation) return std::nullopt;
       return ratio > 1 + same_throughput && *of_ablation > *of_rung;
     }},
};

/// A number of events, or a mean.
std::string told(double value) {
  return value < 1000 && value != std::floor(value) ? fmt::format("{:.2f}", value)
                                                    : format_count(value);
}

Claim ablation_claim(std::span<const Entry> entries, const AblationClaim& row) {
  Claim claim = make_claim(row.id, row.statement, row.claimed);
  const Entry* rung = ladder_entry(entries, "fp32", row.rung);
  const Entry* ablation = ladder_entry(entries, "fp32", row.ablation);
  if (rung == nullptr || ablation == nullptr) return claim;
  const double ratio = throughput(*rung) / throughput(*ablation);
  claim.figure =
      fmt::format("{} has {:.3f} x the {} of {}; they differ in nothing but {}", row.rung, ratio,
                  format_quantity(throughput(*ablation), "FLOP/s"), row.ablation, row.difference);
  for (const auto& [role, words] : row.counters) {
    const auto of_rung = counter_value(*rung, role), of_ablation = counter_value(*ablation, role);
    if (of_rung && of_ablation)
      claim.figure += fmt::format("; {}: {} against {}", words, told(*of_rung), told(*of_ablation));
  }
  const auto registers = rung->extras.find("registers"),
             of_other = ablation->extras.find("registers");
  if (registers != rung->extras.end() && of_other != ablation->extras.end())
    claim.figure +=
        fmt::format("; registers: {} against {}", told(registers->second), told(of_other->second));
  const char* first = row.counters[0].role;
  const auto holds = row.holds(ratio, counter_value(*rung, first), counter_value(*ablation, first));
  if (holds) claim.verdict = *holds ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.evidence = {rung->name, ablation->name};
  return claim;
}

Claim g2(std::span<const Entry> entries) {
  Claim claim = make_claim("G2",
                           "128x128x16 tile, 8x8 per thread, both shared memory and registers "
                           "double buffered, one barrier per step",
                           "near the top of the simple fp32 kernels");
  const Entry* rung = ladder_entry(entries, "fp32", "row_major/14_registers_buffered");
  std::vector<const Entry*> lessons = ladder_of(entries, "fp32", compared_size);
  std::erase_if(lessons, [](const Entry* e) { return rung_of(*e).find('/') == std::string::npos; });
  const Entry* top = best(lessons);
  if (rung == nullptr || lessons.size() < 2) return claim;
  constexpr double near_the_top = 0.9;
  const double share = throughput(*rung) / throughput(*top);
  claim.verdict = share >= near_the_top ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{}, {:.1f} % of the fastest lesson's {}",
                             format_quantity(throughput(*rung), "FLOP/s"), 100 * share,
                             format_quantity(throughput(*top), "FLOP/s"));
  claim.evidence = {rung->name, top->name};
  return claim;
}

}  // namespace

std::span<const LadderClaim> ladder_claims() { return table; }

std::vector<std::string> claim_ids() {
  std::vector<std::string> ids;
  for (const Claim& claim : conclude_claims({})) ids.push_back(claim.id);
  return ids;
}

std::vector<Claim> conclude_claims(std::span<const Entry> entries) {
  std::vector<Claim> claims;
  for (const LadderClaim& row : table) claims.push_back(share_claim(entries, row));
  for (const RatioClaim& row : ratios) claims.push_back(ratio_claim(entries, row));
  for (const AblationClaim& row : ablations) claims.push_back(ablation_claim(entries, row));
  claims.push_back(g2(entries));
  claims.push_back(conflicts_of_doubles(entries));
  claims.push_back(doubles_by_shared_tiles(entries));
  for (const Claim& claim : traffic_claims(entries)) claims.push_back(claim);
  for (const Claim& claim : half_claims(entries)) claims.push_back(claim);
  claims.push_back(tile_claim(entries));
  for (Claim& claim : claims) {
    const ClaimSource& source = source_of(claim.id);
    claim.author = source.author;
    claim.gpu = source.gpu;
  }
  return claims;
}

}  // namespace fathom::gemm
