#include "probes/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/query.h"

namespace fathom::warp_reduce {
namespace {

constexpr std::int64_t GiB = std::int64_t{1} << 30;

/// "At copy bandwidth": the author's own sum was 1 % above his copy; as much below is not less.
constexpr double same_bandwidth = 0.99;

AxisFilter sum_of(const char* recipe, std::int64_t bytes) {
  return {{"part", "sum"},           {"recipe", recipe},
          {"type", "float"},         {"size (B)", bytes},
          {"further elements", std::int64_t{0}}, {"offset (elements)", std::int64_t{0}}};
}

/// The fastest of a recipe's block sizes, or null.
const Entry* best_sum(std::span<const Entry> entries, const char* recipe, std::int64_t bytes) {
  return best(select(entries, sum_of(recipe, bytes)));
}

std::string gigabytes_per_second(const Entry& entry) {
  return fmt::format("{:.0f} GB/s", *entry.metric.value * 1e-9);
}

/// Ratio to the fastest of an entry's opponents: the lowest of its ratios, or nothing.
std::optional<double> worst_ratio(const Entry& entry) {
  std::optional<double> worst;
  for (const Opponent& opponent : entry.opponents) {
    if (opponent.ratio && (!worst || *opponent.ratio < *worst)) worst = opponent.ratio;
  }
  return worst;
}

Claim r1(std::span<const Entry> entries) {
  Claim claim = make_claim("R1",
                           "Vectorised thread loop + warp shuffle + block stage + one atomic per block "
                           "reduces 1 GiB of float at copy bandwidth",
                           "930 against 921 GB/s");
  const Entry* sum = best_sum(entries, "tile", GiB);
  const Entry* copy = find_measured(entries, {{"part", "copy"}, {"size (B)", GiB}});
  if (sum == nullptr || copy == nullptr) return claim;
  const double ratio = *sum->metric.value / *copy->metric.value;
  claim.verdict = ratio >= same_bandwidth ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  claim.figure = fmt::format("{} against a copy's {} ({:.3f} x)", gigabytes_per_second(*sum),
                             gigabytes_per_second(*copy), ratio);
  claim.evidence = {sum->name, copy->name};
  if (const auto cub = worst_ratio(*sum)) {
    claim.figure += fmt::format(", {:.3f} x cub::DeviceReduce::Sum", *cub);
  }
  for (const auto& [recipe, text] : {std::pair{"loop", "as one wave of looping blocks"},
                                     {"scalar-loop", "the same without vectors"}}) {
    const Entry* other = best_sum(entries, recipe, GiB);
    if (other == nullptr) continue;
    claim.figure += fmt::format("; {} {}", text, gigabytes_per_second(*other));
    claim.evidence.push_back(other->name);
  }
  return claim;
}

const Entry* stage(std::span<const Entry> entries, const char* method, const char* type,
                   const char* mode) {
  return find_measured(
      entries, {{"part", "warp stage"}, {"method", method}, {"type", type}, {"mode", mode}});
}

/// The cheaper of two ways, or the one that was measured, or null.
const Entry* cheaper(const Entry* a, const Entry* b) {
  if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
  return *b->metric.value < *a->metric.value ? b : a;
}

Claim r2(std::span<const Entry> entries) {
  Claim claim = make_claim("R2", "Shuffle beats a shared-memory tree for the warp stage",
                           "cycles per warp reduction");
  int compared = 0, beaten = 0;
  for (const char* type : {"float", "int32", "double"}) {
    for (const char* mode : {"latency", "throughput"}) {
      const Entry* shuffle = cheaper(stage(entries, "shuffle-xor", type, mode),
                                     stage(entries, "shuffle-down", type, mode));
      const Entry* shared = cheaper(stage(entries, "shared-tree", type, mode),
                                    stage(entries, "shared-butterfly", type, mode));
      if (shuffle == nullptr || shared == nullptr) continue;
      ++compared;
      beaten += *shuffle->metric.value < *shared->metric.value;
      claim.figure += fmt::format("{}{} {}: {:.1f} against {:.1f}", claim.figure.empty() ? "" : ", ",
                                  type, mode, *shuffle->metric.value, *shared->metric.value);
      claim.evidence.push_back(shuffle->name);
      claim.evidence.push_back(shared->name);
    }
  }
  if (compared == 0) return claim;
  claim.figure += " cycles";
  for (const char* mode : {"latency", "throughput"}) {
    const Entry* instruction = stage(entries, "reduce-add", "int32", mode);
    if (instruction == nullptr) continue;
    claim.figure += fmt::format("; the integer instruction's {} {:.1f}", mode, *instruction->metric.value);
    claim.evidence.push_back(instruction->name);
  }
  claim.verdict = beaten == compared ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

View sizes_plot() {
  View view;
  view.kind = View::Kind::plot;
  view.title = "Bandwidth of a float sum against its size";
  view.note = "Up to four times the L2 the input may be found there from the launch before; beyond, "
              "the L2 is flushed first. The zeroing of the result and the launch are in the time.";
  view.where = {{"part", {"sum"}}, {"type", {"float"}}, {"recipe", {"tile", "dynamic"}},
                {"block", {std::int64_t{512}}}, {"further elements", {std::int64_t{0}}},
                {"offset (elements)", {std::int64_t{0}}}};
  view.x = "size (B)";
  view.x_label = "Input (bytes)";
  view.y_label = "Bandwidth (B/s)";
  view.x_log2 = true;
  view.series = {"recipe"};
  return view;
}

std::vector<View> views() {
  View against;
  against.title = "Sums of 1 and 4 GiB against cub::DeviceReduce::Sum";
  against.note = "A ratio above 1 is faster than CUB, timed alternately in the same run.";
  against.where = {{"part", {"sum"}}, {"size (B)", {GiB, 4 * GiB}},
                   {"further elements", {std::int64_t{0}}}, {"offset (elements)", {std::int64_t{0}}}};
  against.columns = {"recipe", "type", "block", "size (B)", "metric", "interval", "of_bound", "expected",
                     "ratio:cub::DeviceReduce::Sum, int32 count",
                     "ratio:cub::DeviceReduce::Sum, int64 count", "verdict"};
  View ragged;
  ragged.title = "Tails and unaligned starts";
  ragged.where = {{"part", {"sum"}}, {"size (B)", {GiB}}, {"type", {"float", "int32"}},
                  {"recipe", {"tile", "dynamic", "loop"}}};
  ragged.columns = {"recipe", "type", "further elements", "offset (elements)", "metric",
                    "counter:global_load_sectors", "counter:global_load_requests",
                    "extra:absolute_error", "extra:allowed_error", "verdict"};
  View counted;
  counted.title = "Counters of the sums";
  counted.where = {{"part", {"sum"}}};
  counted.columns = {"recipe", "type", "block", "size (B)", "counter:global_load_sectors",
                     "counter:global_load_instructions", "counter:global_reduction_requests",
                     "counter:dram_read_bytes", "counter:achieved_occupancy"};
  View warp;
  warp.title = "Cycles of one warp's reduction";
  warp.note = "Latency: one warp, each reduction waits for the last. Throughput: cycles of the SM per "
              "reduction with 64 of them in flight.";
  warp.where = {{"part", {"warp stage"}}};
  warp.columns = {"method", "type", "mode", "metric", "interval", "bound", "expected",
                  "counter:shared_load_wavefronts", "counter:shared_store_wavefronts", "verdict"};
  return {sizes_plot(), against, ragged, counted, warp};
}

std::string answer(std::span<const Entry> entries) {
  std::string text;
  for (const std::int64_t bytes : {GiB, 4 * GiB}) {
    const Entry* tile = best_sum(entries, "tile", bytes);
    const Entry* dynamic = best_sum(entries, "dynamic", bytes);
    std::vector<const Entry*> measured;
    for (const Entry* entry : {tile, dynamic}) {
      if (entry != nullptr) measured.push_back(entry);
    }
    const Entry* fastest = best(measured);
    if (fastest == nullptr) continue;
    text += fmt::format("{} {} GiB of float at {}", text.empty() ? "The best sum reads" : ",",
                        bytes / GiB, gigabytes_per_second(*fastest));
    if (fastest->bound) {
      text += fmt::format(", {:.1f} % of what the memory bus can carry",
                          100 * *fastest->metric.value / fastest->bound->value);
    }
    if (const auto cub = worst_ratio(*fastest)) text += fmt::format(" and {:.3f} x CUB", *cub);
  }
  const Entry* shuffle = stage(entries, "shuffle-xor", "float", "latency");
  const Entry* shared = cheaper(stage(entries, "shared-tree", "float", "latency"),
                                stage(entries, "shared-butterfly", "float", "latency"));
  if (shuffle != nullptr && shared != nullptr) {
    text += fmt::format("{} warp adds up its floats in {:.0f} cycles by shuffle, {:.0f} through shared "
                        "memory",
                        text.empty() ? "A" : "; a", *shuffle->metric.value, *shared->metric.value);
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  Findings findings;
  findings.answer = answer(entries);
  findings.claims = {r1(entries), r2(entries)};
  findings.views = views();
  return findings;
}

}  // namespace fathom::warp_reduce
