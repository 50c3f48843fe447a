#include "reports/plot.h"

#include <fmt/format.h>

#include <functional>
#include <future>
#include <utility>

#include "reports/plot_data.h"
#include "reports/plot_heat_map.h"
#include "reports/plot_ladder.h"
#include "reports/plot_process.h"
#include "reports/plot_script.h"
#include "reports/plot_text.h"
#include "results/atomic_file.h"

namespace fathom {
namespace {

using plots::Theme;

/// Draws for both backgrounds first, so that no half of a pair is left behind.
std::optional<Picture> draw(const std::function<std::string(const Theme&)>& script,
                            const std::filesystem::path& folder, const std::string& stem,
                            std::string alt) {
  std::future<plots::ProgramOutput> drawing_light =
      std::async(std::launch::async,
                 [text = script(plots::light_theme())] { return plots::run_gnuplot(text); });
  const plots::ProgramOutput dark = plots::run_gnuplot(script(plots::dark_theme()));
  const plots::ProgramOutput light = drawing_light.get();
  for (const plots::ProgramOutput* drawn : {&light, &dark}) {
    // A picture that broke off is none.
    if (!drawn->problem.empty() || drawn->output.find("</svg>") == std::string::npos) return {};
  }
  Picture picture{stem + "-light.svg", stem + "-dark.svg", std::move(alt), ""};
  write_file_atomically(folder / picture.light, light.output);
  write_file_atomically(folder / picture.dark, dark.output);
  return picture;
}

std::string marked(Source source, std::string alt) {
  return source == Source::replay ? "REPLAY: " + std::move(alt) : std::move(alt);
}

std::optional<Picture> draw_heat_map(const View& view, std::span<const Entry> entries,
                                     const std::filesystem::path& folder, const std::string& stem,
                                     Source source) {
  const auto map = plots::collect_heat_map(view, entries);
  if (!map) return std::nullopt;
  const std::string alt =
      fmt::format("{}: {} as colour, {} rows by {}, {} columns by {}, from {} to {}.", map->title,
                  map->colour_label, map->cells.size(), map->y_label, map->cells.front().size(),
                  map->x_label, map->lowest, map->highest);
  auto picture =
      draw([&](const Theme& theme) { return plots::heat_map_script(*map, theme, source); }, folder,
           stem, marked(source, alt));
  if (picture) picture->note = map->note();
  return picture;
}

}  // namespace

std::optional<Picture> draw_plot(const View& view, std::span<const Entry> entries,
                                 const std::filesystem::path& folder, const std::string& stem,
                                 Source source) {
  if (view.kind == View::Kind::heat_map) return draw_heat_map(view, entries, folder, stem, source);
  const auto data = plots::collect(view, entries);
  if (!data) return std::nullopt;
  std::string alt = fmt::format("{}: {} against {}, from {} to {}", data->title, data->y_label,
                                data->x_label, data->lowest, data->highest);
  if (data->series.size() > 1) {
    alt += fmt::format(", {} lines{}", data->series.size(),
                       data->key_title.empty() ? "" : " by " + data->key_title);
  }
  if (data->bound) alt += ", " + data->bound_text;
  for (const plots::Level& level : data->levels) alt += ", " + level.label;
  const auto script = plots::reads_as_ladder(*data) ? plots::ladder_script : plots::script_of;
  auto picture = draw([&](const Theme& theme) { return script(*data, theme, source); }, folder, stem,
                      marked(source, alt + "."));
  if (picture && !data->beyond.empty()) picture->note = "Far above this range: " + data->beyond + ".";
  return picture;
}

}  // namespace fathom
