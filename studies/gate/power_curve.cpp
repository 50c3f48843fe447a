#include "studies/gate/power_curve.h"

#include <fmt/format.h>

namespace fathom::gate {

std::string share_text(const Share& share) {
  const Interval interval = share.interval();
  return fmt::format("{:.2f} % ({:.2f} to {:.2f} %)", 100 * share.value(), 100 * interval.low,
                     100 * interval.high);
}

std::optional<Picture> draw_power(const std::vector<PowerPoint>& curve, const std::string& title,
                                  const std::filesystem::path& folder, const std::string& stem) {
  View view;
  view.kind = View::Kind::plot;
  view.title = title;
  view.x = "slowdown";
  view.x_label = "slowdown (%)";
  view.y_label = "confirmed (%)";
  view.series = {"metrics"};
  std::vector<Entry> entries;
  for (const PowerPoint& point : curve) {
    Entry entry;
    entry.name = fmt::format("power/{}", point.slower);
    entry.probe = "gate";
    entry.axes = {{"metrics", std::string("all")}, {"slowdown", 100 * point.slower}};
    entry.metric = {"confirmed", "%", Better::higher, 100 * point.caught.value()};
    const Interval interval = point.caught.interval();
    entry.interval = {100 * interval.low, 100 * interval.high, interval.confidence,
                      interval.method};
    entries.push_back(std::move(entry));
  }
  return draw_plot(view, entries, folder, stem, Source::measured);
}

}  // namespace fathom::gate
