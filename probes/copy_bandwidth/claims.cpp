#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/format.h"
#include "results/query.h"

namespace fathom::copy_bandwidth {
std::vector<View> views();

namespace {

using I = std::int64_t;

/// "The same bandwidth" and "catches up": within this of the other. "Falls short": beyond it.
constexpr double same_share = 0.97;
/// No visible cost: the tail may take this much.
constexpr double visible_cost = 0.01;
/// "About sevenfold": from half of it on.
constexpr double about_sevenfold = 3.5;

double value(const Entry* entry) { return *entry->metric.value; }
std::string shown(const Entry* entry) { return format_bandwidth(value(entry)); }

const Entry* width(std::span<const Entry> entries, I bytes, I block) {
  return find_measured(entries, {{"sweep", "width"}, {"bytes per thread", bytes}, {"block", block}});
}

/// The entries of one block size with these widths; empty unless all are there.
std::vector<const Entry*> widths(std::span<const Entry> entries, std::initializer_list<I> bytes, I block) {
  std::vector<const Entry*> found;
  for (const I b : bytes) {
    const Entry* entry = width(entries, b, block);
    if (entry == nullptr) return {};
    found.push_back(entry);
  }
  return found;
}

void conclude_with(Claim& claim, bool holds, std::string figure,
                   const std::vector<const Entry*>& evidence) {
  claim.verdict = holds ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = std::move(figure);
  for (const Entry* entry : evidence) claim.evidence.push_back(entry->name);
}

std::string listed(const std::vector<const Entry*>& entries) {
  std::string text;
  for (const Entry* entry : entries) text += (text.empty() ? "" : " / ") + shown(entry);
  return text;
}

Claim v1(std::span<const Entry> entries) {
  Claim claim = make_claim("V1", "A copy of 1 GiB reaches the same bandwidth with 4, 8, 16 and 32 bytes per thread",
                           "923 / 921 / 921 / 921 GB/s of 1008 peak, 1024 threads a block");
  const auto all = widths(entries, {4, 8, 16, 32}, 1024);
  if (all.empty()) return claim;
  const auto [low, high] = std::minmax_element(all.begin(), all.end(), [](auto* a, auto* b) { return value(a) < value(b); });
  conclude_with(claim, value(*low) >= same_share * value(*high),
                fmt::format("{}, 1024 threads a block; the slowest has {} of the fastest", listed(all),
                            format_percent(value(*low) / value(*high))), all);
  return claim;
}

Claim v2(std::span<const Entry> entries) {
  Claim claim = make_claim("V2", "2-byte accesses fall short at 1024 threads a block", "806 GB/s against 921");
  const Entry* narrow = width(entries, 2, 1024);
  const Entry* wide = best(widths(entries, {4, 8, 16, 32}, 1024));
  if (narrow == nullptr || wide == nullptr) return claim;
  const double share = value(narrow) / value(wide);
  conclude_with(claim, share < same_share,
                fmt::format("{} against {}, {}", shown(narrow), shown(wide), format_percent(share)), {narrow, wide});
  return claim;
}

Claim v3(std::span<const Entry> entries) {
  Claim claim = make_claim("V3", "2-byte accesses catch up at 256 threads a block, because more resident warps hide the half-used load/store units",
                           "917 GB/s against 921");
  const Entry* narrow = width(entries, 2, 256);
  const Entry* before = width(entries, 2, 1024);
  const Entry* wide = best(widths(entries, {4, 8, 16, 32}, 1024));
  if (narrow == nullptr || before == nullptr || wide == nullptr) return claim;
  std::string figure = fmt::format("{} ({} at 1024) against {}", shown(narrow), shown(before), shown(wide));
  const auto occupancy = counter_value(*narrow, "achieved_occupancy");
  const auto occupancy_before = counter_value(*before, "achieved_occupancy");
  if (occupancy && occupancy_before) {
    figure += fmt::format("; achieved occupancy {:.1f} % ({:.1f} % at 1024)", *occupancy, *occupancy_before);
  }
  conclude_with(claim, value(narrow) >= same_share * value(wide), std::move(figure), {narrow, before, wide});
  return claim;
}

Claim v4(std::span<const Entry> entries) {
  Claim claim = make_claim("V4", "2-byte accesses also catch up when each thread loops over several elements, strided by the block size", "not given");
  const Entry* once = width(entries, 2, 1024);
  const Entry* wide = best(widths(entries, {4, 8, 16, 32}, 1024));
  const Entry* looped = best(select(entries, {{"sweep", "unroll"}, {"type", "half"}, {"block", I{1024}}}));
  if (once == nullptr || wide == nullptr || looped == nullptr) return claim;
  conclude_with(claim, value(looped) >= same_share * value(wide),
                fmt::format("{} with {} elements a thread, {} with one, against {} ({} of it), 1024 threads a block",
                            shown(looped), format_axis_value(*find_axis(*looped, "unroll")), shown(once),
                            shown(wide), format_percent(value(looped) / value(wide))), {looped, once, wide});
  return claim;
}

/// One counter of entries that differ in width, each with its reading; empty if one is missing.
std::vector<double> readings(const std::vector<const Entry*>& entries, const std::string& role) {
  std::vector<double> found;
  for (const Entry* entry : entries) {
    const auto reading = counter_value(*entry, role);
    if (!reading) return {};
    found.push_back(*reading);
  }
  return found;
}

/// Why a claim that needs a counter was not measured.
void explain_missing(Claim& claim, const std::vector<const Entry*>& entries, const std::string& role) {
  for (const Entry* entry : entries) {
    const Counter* counter = find_counter(*entry, role);
    if (counter == nullptr || counter->value || counter->reason.empty()) continue;
    claim.figure = "not measured: " + counter->reason;
    return;
  }
}

std::string listed_counts(const std::vector<double>& counts) {
  std::string text;
  for (const double count : counts) text += (text.empty() ? "" : " / ") + format_count(count);
  return text;
}

Claim v5(std::span<const Entry> entries) {
  Claim claim = make_claim("V5", "A global load moves whole 32-byte sectors whatever the width: as many for 2, 4, 8 and 16 bytes per thread",
                           "33,554,432 sectors for 1 GiB");
  const auto all = widths(entries, {2, 4, 8, 16}, 1024);
  const auto sectors = readings(all, "global_load_sectors");
  if (sectors.empty()) return explain_missing(claim, all, "global_load_sectors"), claim;
  const bool equal = std::all_of(sectors.begin(), sectors.end(), [](double s) { return s == 33554432.0; });
  conclude_with(claim, equal, listed_counts(sectors) + " sectors", all);
  return claim;
}

Claim v6(std::span<const Entry> entries) {
  Claim claim = make_claim("V6", "32 bytes per thread doubles the sector count, since one access becomes two 16-byte instructions each touching every sector",
                           "67,108,864 sectors for 1 GiB");
  const auto all = widths(entries, {16, 32}, 1024);
  const auto sectors = readings(all, "global_load_sectors");
  const auto requests = readings(all, "global_load_requests");
  if (sectors.empty() || requests.empty()) return explain_missing(claim, all, "global_load_sectors"), claim;
  conclude_with(claim, sectors[1] == 2 * sectors[0] && requests[1] == requests[0],
                fmt::format("{} sectors in {} requests, against {} in {} with 16 bytes", format_count(sectors[1]),
                            format_count(requests[1]), format_count(sectors[0]), format_count(requests[0])), all);
  return claim;
}

Claim v7(std::span<const Entry> entries) {
  Claim claim = make_claim("V7", "Wider accesses win only by issuing fewer instructions and requests", "requests fall 1 : 1/2 : 1/4");
  const auto all = widths(entries, {4, 8, 16}, 1024);
  const auto requests = readings(all, "global_load_requests");
  const auto instructions = readings(all, "global_load_instructions");
  const auto sectors = readings(all, "global_load_sectors");
  if (requests.empty() || instructions.empty() || sectors.empty()) {
    return explain_missing(claim, all, "global_load_requests"), claim;
  }
  const bool falls = requests[1] * 2 == requests[0] && requests[2] * 4 == requests[0] && instructions == requests;
  const bool same_traffic = sectors[0] == sectors[1] && sectors[1] == sectors[2];
  conclude_with(claim, falls && same_traffic,
                fmt::format("{} requests and as many instructions for 4 / 8 / 16 bytes, {} sectors each; {}",
                            listed_counts(requests), format_count(sectors[0]), listed(all)), all);
  return claim;
}

/// The reason with the largest share among `share`'s counters, ", most of it long_scoreboard (40 %)".
std::string main_reason(const Entry& entry, const std::string& share) {
  const Counter* largest = nullptr;
  for (const Counter& counter : entry.counters) {
    if (!counter.role.starts_with(share + "_") || !counter.value) continue;
    if (largest == nullptr || *counter.value > *largest->value) largest = &counter;
  }
  if (largest == nullptr) return "";
  return fmt::format(" (most: {} {:.1f} %)", largest->role.substr(share.size() + 1), *largest->value);
}

Claim v8(std::span<const Entry> entries) {
  Claim claim = make_claim("V8", "The stall behind V2 sits on the 2-byte store instruction", "warp-stall breakdown");
  const Entry* narrow = width(entries, 2, 1024);
  if (narrow == nullptr) return claim;
  const auto load = counter_value(*narrow, "stall_share_load");
  const auto store = counter_value(*narrow, "stall_share_store");
  if (!load || !store) return explain_missing(claim, {narrow}, "stall_share_store"), claim;
  if (!(*load + *store > 0)) {
    claim.figure = "not measured: no sample could be given to the load or the store";
    return claim;
  }
  std::string figure = fmt::format("{:.1f} % of the waiting at the store{}, {:.1f} % at the load{}", *store,
                                   main_reason(*narrow, "stall_share_store"), *load,
                                   main_reason(*narrow, "stall_share_load"));
  // A warp is found waiting where it needs a value, not where it asked for it.
  const auto for_value = counter_value(*narrow, "stall_share_store_long_scoreboard");
  if (for_value && *for_value > *store / 2) {
    figure += ": at the store a warp waits for what the load brings, not for the store";
  }
  conclude_with(claim, *store > *load, figure, {narrow});
  return claim;
}

const Entry* offset_of(std::span<const Entry> entries, I bytes) {
  return find_measured(entries, {{"sweep", "offset"}, {"bytes per thread", I{4}}, {"base offset (B)", bytes}});
}

Claim v9(std::span<const Entry> entries) {
  Claim claim = make_claim("V9", "A 16-byte access needs a 16-byte aligned address; a warp wants a 32-byte aligned start and a multiple of 128 contiguous bytes",
                           "sweep of base offset and stride");
  const Entry* aligned = offset_of(entries, 0);
  const Entry* shifted = offset_of(entries, 4);
  const Entry* by_sector = offset_of(entries, 32);
  const Entry* spread = find_measured(entries, {{"sweep", "stride"}, {"strided", "loads"}, {"bytes per thread", I{4}}, {"stride (packs)", I{8}}});
  if (aligned == nullptr || shifted == nullptr || by_sector == nullptr || spread == nullptr) return claim;
  const std::vector<const Entry*> all{aligned, shifted, by_sector, spread};
  const auto sectors = readings(all, "global_load_sectors");
  const auto requests = readings(all, "global_load_requests");
  if (sectors.empty() || requests.empty()) return explain_missing(claim, all, "global_load_sectors"), claim;
  const auto per_request = [&](std::size_t i) { return sectors[i] / requests[i]; };
  const bool holds = sectors[1] > sectors[0] && sectors[2] == sectors[0] && per_request(3) > per_request(0) &&
                     value(spread) < same_share * value(aligned);
  conclude_with(claim, holds,
                fmt::format("a warp's 128 bytes touch {:.3g} sectors from an aligned start ({}), {:.3g} from 4 bytes "
                            "behind it ({}), {:.3g} from 32 ({}), {:.3g} with 32 bytes between its words ({}); a misaligned "
                            "16-byte access is a fault and was not run",
                            per_request(0), shown(aligned), per_request(1), shown(shifted), per_request(2),
                            shown(by_sector), per_request(3), shown(spread)), all);
  return claim;
}

Claim v10(std::span<const Entry> entries) {
  Claim claim = make_claim("V10", "The tail (element count not a multiple of the vector width) can be handled in the kernel at no visible cost", "n, n-1, n+1");
  const auto tail = [&](I more) {
    return find_measured(entries, {{"sweep", "tail"}, {"type", "float"}, {"elements beyond n", more}});
  };
  const Entry *whole = tail(0), *less = tail(-1), *more = tail(1);
  if (whole == nullptr || less == nullptr || more == nullptr) return claim;
  const double worst = std::min(value(less), value(more)) / value(whole);
  conclude_with(claim, worst >= 1 - visible_cost,
                fmt::format("{} / {} / {} for n, n-1, n+1 floats by 16 bytes: at most {} lost", shown(whole), shown(less),
                            shown(more), format_percent(std::max(0.0, 1 - worst))), {whole, less, more});
  return claim;
}

Claim v11(std::span<const Entry> entries) {
  Claim claim = make_claim("V11", "Rows read along the lanes (coalesced) instead of across them: throughput grows about sevenfold, with the same instructions in the binary",
                           "15 against 110 GB/s");
  const Entry* along = find_measured(entries, {{"sweep", "rows"}, {"lanes read", "along"}});
  const Entry* across = find_measured(entries, {{"sweep", "rows"}, {"lanes read", "across"}});
  if (along == nullptr || across == nullptr) return claim;
  const double ratio = value(along) / value(across);
  const auto instructions = readings({across, along}, "global_load_instructions");
  const auto sectors = readings({across, along}, "global_load_sectors");
  // One kernel runs both, so the binary's instructions are the same; the counter says the executed
  // ones are, too.
  const bool same = instructions.empty() || instructions[0] == instructions[1];
  std::string figure = fmt::format("{} against {}, {:.1f} times, by one and the same kernel", shown(along), shown(across), ratio);
  if (!sectors.empty()) {
    figure += fmt::format(" ({} against {} load sectors)", format_count(sectors[1]), format_count(sectors[0]));
  }
  conclude_with(claim, ratio >= about_sevenfold && same, std::move(figure), {along, across});
  return claim;
}

/// The best copy of the largest size that was measured, against the bound and the faster opponent.
std::string answer(std::span<const Entry> entries) {
  const Entry* top = nullptr;
  for (const Entry* entry : select(entries, {{"sweep", "best"}})) {
    if (!entry->metric.value) continue;
    const auto size = [](const Entry* e) { return std::get<I>(*find_axis(*e, "size")); };
    if (top == nullptr || size(entry) > size(top) || (size(entry) == size(top) && value(entry) > value(top))) top = entry;
  }
  if (top == nullptr) return "";
  std::string text = fmt::format("The best copy moves {} (read + write) at {}", shown(top),
                                 format_bytes(static_cast<double>(std::get<I>(*find_axis(*top, "size")))));
  if (top->bound) text += fmt::format(", {} of what the memory bus could", format_percent(value(top) / top->bound->value));
  const Opponent* faster = nullptr;
  for (const Opponent& opponent : top->opponents) {
    if (!opponent.value || !opponent.ratio) continue;
    if (faster == nullptr || *opponent.value > *faster->value) faster = &opponent;
  }
  if (faster != nullptr) {
    text += fmt::format(" and {} the faster library ({}, {})", format_ratio(*faster->ratio), faster->name, format_bandwidth(*faster->value));
  }
  text += fmt::format(": {} bytes a thread, {} threads a block", std::get<I>(*find_axis(*top, "bytes per thread")),
                      std::get<I>(*find_axis(*top, "block")));
  const std::string hint = std::get<std::string>(*find_axis(*top, "load hint"));
  return text + (hint == "none" ? "." : fmt::format(", loads with {}.", hint));
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.answer = answer(entries);
  for (const auto claim : {v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11}) findings.claims.push_back(claim(entries));
  findings.views = views();
  return findings;
}

}  // namespace fathom::copy_bandwidth
