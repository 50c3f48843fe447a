// Products over sizes: around multiples of a tile, and what those pay whose size just passes one
// (claim T2); over squares; in other layouts.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gemm/bench/conclude.h"
#include "results/format.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

/// Empty where the entry does not say.
std::string kernel_of(const Entry& entry) {
  const auto note = entry.notes.find(kernel_note);
  return note == entry.notes.end() ? "" : note->second;
}

/// m of an entry of a sweep over it, and the FLOP paid for, what whole tiles in whole waves could
/// do.
double swept_m(const Entry& entry) { return axis_of("m")(entry); }
double paid_flop(const Entry& entry) {
  return extra_of("flop")(entry) / extra_of("tile_efficiency")(entry);
}
bool has_figure_and_model(const Entry& entry) {
  return has_figure(entry) && entry.real_time_s > 0 && swept_m(entry) > 0 &&
         extra_of("flop")(entry) > 0 && extra_of("tile_efficiency")(entry) > 0;
}

bool knows_kernel(const Entry& entry) {
  const std::string kernel = kernel_of(entry);
  return !kernel.empty() && !kernel.starts_with(unknown_kernel);
}
/// Whether both are known to have run one and the same kernel.
bool same_kernel(const Entry& a, const Entry& b) {
  return knows_kernel(a) && kernel_of(a) == kernel_of(b);
}

/// A type's products around multiples of a tile, by m, and what a model makes of them: a product
/// pays for whole tiles in whole waves, each kernel at its own speed (the median of its entries).
class TileSweep {
 public:
  /// The type's entries with figure and model.
  TileSweep(std::span<const Entry> all, const std::string& type)
      : entries_(select(all, {{"part", "tiles"}, {"type", type}})) {
    std::erase_if(entries_, [](const Entry* entry) { return !has_figure_and_model(*entry); });
    std::ranges::sort(entries_, {}, [](const Entry* entry) { return swept_m(*entry); });
    in_cycles_ = !entries_.empty() && std::ranges::all_of(entries_, [](const Entry* entry) {
      return entry->timing.sm_clock_hz.value_or(0) > 0;
    });
    std::map<std::string, std::vector<double>> by_kernel;
    for (const Entry* entry : entries_)
      by_kernel[kernel_of(*entry)].push_back(taken(*entry) / paid_flop(*entry));
    for (const auto& [kernel, per_flop] : by_kernel) taken_per_flop_[kernel] = median(per_flop);
  }

  const std::vector<const Entry*>& entries() const { return entries_; }
  /// Whether what a product takes is counted in cycles, its time by the SM clock of its samples:
  /// neighbours are timed at whatever clock power leaves each. In seconds where one has no such
  /// clock.
  bool in_cycles() const { return in_cycles_; }
  double taken(const Entry& entry) const {
    return in_cycles_ ? entry.real_time_s * *entry.timing.sm_clock_hz : entry.real_time_s;
  }
  double modelled(const Entry& entry) const {
    return paid_flop(entry) * taken_per_flop_.at(kernel_of(entry));
  }
  /// Largest relative distance of an entry from the model.
  double farthest() const {
    double most = 0;
    for (const Entry* entry : entries_)
      most = std::max(most, std::abs(taken(*entry) / modelled(*entry) - 1));
    return most;
  }

 private:
  std::vector<const Entry*> entries_;
  bool in_cycles_ = false;
  std::map<std::string, double> taken_per_flop_;  ///< by kernel
};

/// Sizes this close stand for "just past": their own work differs by about half a percent.
constexpr double just_past = 32;
/// Jumps of the model below this would be lost in the noise of a curve.
constexpr double least_jump = 1.05;
/// A product pays for a step if what it takes jumps by at least this share of what the model says.
constexpr double paid_share = 0.5;

/// A step of the model between two neighbours, and what the product took there.
struct Jump {
  const Entry *before, *after;
  double model, measured;  ///< ratios of cycles, or of time

  double paid() const { return (measured - 1) / (model - 1); }
};

/// A type's jumps that say what tiles cost, and why others do not.
struct Jumps {
  std::vector<Jump> judged;
  std::size_t left_out = 0;  ///< so many more where the kernel changes with the size
  std::size_t unknown = 0;   ///< or, of these, where nobody could tell whether it does
  double largest_step = 1;   ///< of the model, whatever its size
};

Jumps jumps_of(const TileSweep& sweep) {
  Jumps jumps;
  for (std::size_t i = 1; i < sweep.entries().size(); ++i) {
    const Entry &before = *sweep.entries()[i - 1], &after = *sweep.entries()[i];
    if (swept_m(after) - swept_m(before) > just_past) continue;
    const double model = paid_flop(after) / paid_flop(before);
    jumps.largest_step = std::max(jumps.largest_step, model);
    if (model < least_jump) continue;
    if (same_kernel(before, after)) {
      jumps.judged.push_back({&before, &after, model, sweep.taken(after) / sweep.taken(before)});
    } else {
      ++jumps.left_out;
      if (!knows_kernel(before) || !knows_kernel(after)) ++jumps.unknown;
    }
  }
  return jumps;
}

/// The share of the model's jump that half of them exceed: a few that something else disturbed do
/// not decide.
double median_paid(const Jumps& jumps) {
  std::vector<double> paid;
  for (const Jump& jump : jumps.judged) paid.push_back(jump.paid());
  return median(paid);
}

std::string cause(const Jumps& jumps) {
  if (jumps.unknown == 0) return "another kernel takes over";
  return jumps.unknown == jumps.left_out ? "the kernel is not known"
                                         : "another kernel takes over or the kernel is not known";
}

std::string why_left_out(const Jumps& jumps) {
  if (jumps.left_out == 0)
    return fmt::format("no jump of its model reaches {:.2f} x (the largest is {:.3f} x)",
                       least_jump, jumps.largest_step);
  const std::string these =
      jumps.left_out == 1 ? "its only jump" : fmt::format("all {} jumps", jumps.left_out);
  return fmt::format("at {} {}", these, cause(jumps));
}

/// What the claim's evidence is.
const Jump& largest(const Jumps& jumps) {
  return *std::ranges::max_element(jumps.judged, {}, &Jump::model);
}

std::string figure_of(const TileSweep& sweep, const Jumps& jumps) {
  const Jump& jump = largest(jumps);
  std::string text = fmt::format(
      "pays {:.0f} % of the model's jump ({}; from m = {:.0f} to {:.0f} its {} {:.3f} x, what "
      "whole waves of whole tiles take {:.3f} x",
      100 * median_paid(jumps),
      jumps.judged.size() == 1 ? "one jump"
                               : fmt::format("the median of {} jumps", jumps.judged.size()),
      swept_m(*jump.before), swept_m(*jump.after),
      sweep.in_cycles() ? "cycles grow" : "time, for want of the clock, grows", jump.measured,
      jump.model);
  if (jumps.left_out > 0)
    text += fmt::format("; {} more left out, where {}", jumps.left_out, cause(jumps));
  return text + fmt::format("); all {} sizes are within {} of that model", sweep.entries().size(),
                            format_percent(sweep.farthest()));
}

/// Whether two products pay for as many whole waves, up to rounding.
bool same_waves(const Entry& a, const Entry& b) {
  return std::abs(paid_flop(a) / paid_flop(b) - 1) < 1e-9;
}

/// The model's saw-tooth, in FLOP a cycle or a second as the sweep counts: between two steps it
/// grows with m, and another kernel is another tooth.
std::vector<PlotStretch> saw_tooth(const TileSweep& sweep) {
  const std::vector<const Entry*>& entries = sweep.entries();
  std::vector<PlotStretch> teeth;
  const auto height = [&](const Entry& entry) {
    return extra_of("flop")(entry) / sweep.modelled(entry);
  };
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t last = i;
    while (last + 1 < entries.size() && same_waves(*entries[last + 1], *entries[i]) &&
           same_kernel(*entries[last + 1], *entries[i])) {
      ++last;
    }
    const Entry &first = *entries[i], &end = *entries[last];
    if (last > i) teeth.push_back({swept_m(first), height(first), swept_m(end), height(end), ""});
    i = last + 1;
  }
  return teeth;
}

/// Under which conditions a curve's points were timed, and what the clock did meanwhile: a reader
/// must not blame the kernel for it.
std::string conditions(const std::vector<const Entry*>& entries) {
  std::vector<double> clocks;
  double highest = 0;
  bool rested = false;
  for (const Entry* entry : entries) {
    rested = rested || entry->timing.rest > 0;
    if (entry->bound) highest = std::max(highest, entry->bound->clock_hz.value_or(0));
    if (entry->timing.sm_clock_hz) clocks.push_back(*entry->timing.sm_clock_hz);
  }
  std::string text = rested ? "Timed in bursts" : "Timed without rests, rung and library in turn";
  if (clocks.empty()) return text + ", at clocks that are not known.";
  const auto [low, high] = std::ranges::minmax(clocks);
  text += fmt::format(", at the clock that power left {}: {} to {}", rested ? "it" : "both",
                      format_quantity(low, "Hz"), format_quantity(high, "Hz"));
  if (highest > 0) text += fmt::format(" of at most {}", format_quantity(highest, "Hz"));
  if (clocks.size() < entries.size()) {
    text +=
        fmt::format(", and not known of {} of {}", entries.size() - clocks.size(), entries.size());
  }
  return text +
         ". Where throughput falls and the share of the bound at that clock does not, it is the "
         "clock and not the kernel.";
}

/// The picture of a curve over m, and the table of what each of its points took, at what clock.
View picture_of(const char* part, const std::string& type) {
  return {.kind = View::Kind::plot,
          .where = {{"part", {part}}, {"type", {type}}},
          .section = type,
          .x = "m",
          .series = {"rung"},
          .show_opponents = true};
}

View table_of(std::span<const Entry> entries, const char* part, const std::string& type) {
  return {.note = conditions(select(entries, {{"part", part}, {"type", type}})),
          .where = {{"part", {part}}, {"type", {type}}},
          .section = type,
          .columns = {"m", "time", "metric", "of_bound", "of_bound_at_clock", "sm_clock",
                      "throttle_reasons", "extra:waves", "extra:tile_efficiency", ratio_to_cublas,
                      ratio_to_cublaslt, std::string("note:") + kernel_note, "verdict"}};
}

}  // namespace

Claim tile_claim(std::span<const Entry> entries) {
  Claim claim = make_claim(
      "T2",
      "Tile quantisation does the same to a matrix product whose size just passes a tile multiple",
      "sweep of m around multiples of the tile");
  bool all_pay = true;
  for (const ClassTraits& row : all_classes()) {
    const TileSweep sweep(entries, row.name);
    const Jumps jumps = jumps_of(sweep);
    if (jumps.left_out == 0 && jumps.largest_step == 1) continue;  // no step to speak of
    claim.figure += fmt::format("{}{} ", claim.figure.empty() ? "" : "; ", row.name);
    if (jumps.judged.empty()) {
      claim.figure += "is left out: " + why_left_out(jumps);
      continue;
    }
    all_pay = all_pay && median_paid(jumps) >= paid_share;
    claim.figure += figure_of(sweep, jumps);
    claim.evidence.push_back(largest(jumps).before->name);
    claim.evidence.push_back(largest(jumps).after->name);
  }
  if (!claim.evidence.empty())
    claim.verdict = all_pay ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
  return claim;
}

View layouts_view(std::span<const Entry> entries, const std::string& type) {
  std::vector<AxisValue> rungs;
  for (const Entry* entry : select(entries, {{"part", "layouts"}, {"type", type}}))
    rungs.emplace_back(rung_of(*entry));
  return {.title = "In each layout: " + type,
          .note =
              "First op(A), then op(B): T is transposed. An own path of 0 is a slower one, such as "
              "a copy before the product, inside the time. No ratio: the library does not take the "
              "layout.",
          // The ladder's own layout among them.
          .where = {{"part", {"ladder", "layouts"}},
                    {"type", {type}},
                    {"m", {ladder_size}},
                    {"rung", rungs}},
          .section = type,
          .columns = {"rung", "layout", "time", "metric", "of_bound", "of_bound_at_clock",
                      ratio_to_cublas, ratio_to_cublaslt, "extra:own_path", "verdict"}};
}

std::vector<View> sizes_views(std::span<const Entry> entries, const std::string& type) {
  View picture = picture_of("sizes", type), table = table_of(entries, "sizes", type);
  picture.title = "Throughput by size: " + type;
  picture.note = "The top rung and the library as it is called by default, m = n = k.";
  picture.x_label = "m = n = k";
  picture.x_log2 = true;
  picture.y_label = "Throughput (FLOP/s)";
  table.title = "Throughput by size, in figures: " + type;
  return {picture, table};
}

std::vector<View> tiles_views(std::span<const Entry> entries, const std::string& type) {
  const TileSweep sweep(entries, type);
  View picture = picture_of("tiles", type), table = table_of(entries, "tiles", type);
  picture.title = fmt::format("Throughput{} around multiples of the tile: {}",
                              sweep.in_cycles() ? " a cycle" : "", type);
  picture.note = fmt::format(
      "n = k = 4096, m at each multiple of 256, just past it and halfway to the next. The grey "
      "bands are the model: what whole waves of whole tiles take, at the median speed of the "
      "kernel that ran (claim T2), in {}.",
      sweep.in_cycles()
          ? "cycles of the SM clock, which was measured of rung and library together"
          : "seconds, since that clock is not known of all: the bands and T2 mix tiles and clocks");
  picture.x_label = "m";
  picture.y = sweep.in_cycles() ? "metric_per_cycle" : "metric";
  picture.y_label = "Throughput";
  picture.y_from_zero = false;
  picture.show_bound = false;
  picture.stretches = saw_tooth(sweep);
  table.title = "What whole tiles and waves cost: " + type;
  table.note =
      "Tile efficiency is the share of whole waves of whole tiles that the product fills. " +
      table.note;
  return {picture, table};
}

}  // namespace fathom::gemm
