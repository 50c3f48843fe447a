#include "gemm/bench/tile_sweep.h"

#include <algorithm>
#include <cmath>

#include "gemm/bench/claimed_products.h"
#include "results/query.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

/// Empty where the entry does not say.
std::string kernel_of(const Entry& entry) {
  const auto note = entry.notes.find(kernel_note);
  return note == entry.notes.end() ? "" : note->second;
}

bool has_figure_and_model(const Entry& entry) {
  const AxisValue* m = find_axis(entry, "m");
  const auto positive = [&](const char* extra) {
    const auto found = entry.extras.find(extra);
    return found != entry.extras.end() && found->second > 0;
  };
  return m != nullptr && std::holds_alternative<std::int64_t>(*m) && entry.metric.value &&
         entry.real_time_s > 0 && positive("flop") && positive("tile_efficiency");
}

}  // namespace

double swept_m(const Entry& entry) {
  return static_cast<double>(std::get<std::int64_t>(*find_axis(entry, "m")));
}

double paid_flop(const Entry& entry) {
  return entry.extras.at("flop") / entry.extras.at("tile_efficiency");
}

bool knows_kernel(const Entry& entry) {
  const std::string kernel = kernel_of(entry);
  return !kernel.empty() && !kernel.starts_with(unknown_kernel);
}

bool same_kernel(const Entry& a, const Entry& b) {
  return knows_kernel(a) && kernel_of(a) == kernel_of(b);
}

TileSweep::TileSweep(std::span<const Entry> entries, const std::string& type)
    : entries_(select(entries, {{"part", "tiles"}, {"type", type}})) {
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

double TileSweep::taken(const Entry& entry) const {
  return in_cycles_ ? entry.real_time_s * *entry.timing.sm_clock_hz : entry.real_time_s;
}

double TileSweep::modelled(const Entry& entry) const {
  return paid_flop(entry) * taken_per_flop_.at(kernel_of(entry));
}

double TileSweep::farthest() const {
  double most = 0;
  for (const Entry* entry : entries_)
    most = std::max(most, std::abs(taken(*entry) / modelled(*entry) - 1));
  return most;
}

}  // namespace fathom::gemm
