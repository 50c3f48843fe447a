#include "fleet/pictures.h"

#include "reports/plot.h"

namespace fathom::fleet {
namespace {

Source source_of(const Fleet& fleet) { return fleet.replay() ? Source::replay : Source::measured; }

}  // namespace

Entry point(std::string name, Axes axes, double percent) {
  Entry entry;
  entry.name = std::move(name);
  entry.probe = "fleet";
  entry.axes = std::move(axes);
  entry.metric = {"worse by", "%", Better::lower, percent};
  return entry;
}

void show(FleetWriting& to, const View& view, const std::vector<Entry>& entries,
          const std::string& stem) {
  if (!to.pictures || entries.empty()) return;
  if (const auto picture = draw_plot(view, entries, to.folder, stem, source_of(to.fleet)))
    to.page.picture(picture->light, picture->dark, picture->alt);
}

}  // namespace fathom::fleet
