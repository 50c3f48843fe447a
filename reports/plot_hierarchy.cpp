#include "reports/plot_hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reports/plot_text.h"
#include "results/clean_text.h"
#include "results/format.h"

namespace fathom::plots {
namespace {

// In pixels.
constexpr int row_height = 66, box_height = 58, head_height = 92, foot_height = 44;
constexpr int bar_height = 6, bar_from_top = 44;
constexpr int watermark_height = 92;
constexpr int box_right = 788, narrowest = 190, widest = 12;  // left edges: the first, the last
constexpr std::size_t figure_limit = 14;
constexpr int small_font = 14;

/// The three quantities: what they are called, and where their column stands.
struct Quantity {
  const char* name;
  LevelFigure LevelRow::*figure;
  int left;
};

constexpr int bar_width = 130;
constexpr std::array quantities{Quantity{"size", &LevelRow::size, 342},
                                Quantity{"latency", &LevelRow::latency, 494},
                                Quantity{"bandwidth", &LevelRow::bandwidth, 646}};

/// Bars are logarithmic, from this share of their room for the smallest figure to all of it for the
/// largest: a hierarchy spans factors of millions.
constexpr double shortest_bar = 0.06;

/// Whether a bar can show the figure beside those of `unit`.
bool comparable(const LevelFigure& figure, const std::string& unit) {
  return figure.value && figure.unit == unit && std::isfinite(*figure.value) && *figure.value > 0;
}

/// The range of one quantity over all levels, in the unit of the first that is known.
struct Span {
  std::string unit;
  double low = std::numeric_limits<double>::max(), high = 0;

  Span(const std::vector<LevelRow>& levels, LevelFigure LevelRow::*member) {
    const auto known = std::find_if(levels.begin(), levels.end(),
                                    [&](const LevelRow& l) { return (l.*member).value; });
    if (known == levels.end()) return;
    unit = ((*known).*member).unit;
    for (const LevelRow& level : levels) {
      if (!comparable(level.*member, unit)) continue;
      low = std::min(low, *(level.*member).value);
      high = std::max(high, *(level.*member).value);
    }
  }

  std::optional<double> share(const LevelFigure& figure) const {
    if (!comparable(figure, unit)) return std::nullopt;
    if (!(high > low)) return 1;
    return shortest_bar + (1 - shortest_bar) * std::log(*figure.value / low) / std::log(high / low);
  }
};

/// Commands that draw at places in pixels, from the left and the top.
class Canvas {
 public:
  explicit Canvas(int height) : height_(height) {}
  const std::string& script() const { return script_; }

  void label(const std::string& text, std::size_t limit, double x, double y, const char* side,
             const std::string& colour, int size = font_size) {
    script_ += fmt::format("set label {} at {} {} font 'sans-serif,{}' textcolor rgb '{}' front\n",
                           quoted(shortened(clean(text), limit)), at(x, y), side, size, colour);
  }
  void box(double left, double top, double right, double bottom, const std::string& fill,
           const std::string& border) {
    script_ += fmt::format(
        "set object rectangle from {} to {} back fillcolor rgb '{}' fillstyle solid 1 {}\n",
        at(left, bottom), at(right, top), fill, border);
  }
  std::string at(double x, double y) const {
    return fmt::format("screen {}, screen {}", x / picture_width, 1 - y / height_);
  }

 private:
  int height_;
  std::string script_;
};

void draw_level(Canvas& canvas, const LevelRow& level, int left, int top,
                const std::array<Span, 3>& spans, const Theme& theme) {
  const std::string& colour = theme.series[0];
  canvas.box(left, top, box_right, top + box_height, "#d0" + colour.substr(1),
             fmt::format("border lc rgb '{}' linewidth 1.4", colour));
  const double room = quantities.front().left - left - 20;
  const auto fits = static_cast<std::size_t>(room / character_width);
  // A long name has two lines.
  const std::vector<std::string> name = wrapped(clean(level.name), fits, 2);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const double middle = top + box_height / 2.0;
    canvas.label(name[i], fits, left + 10,
                 name.size() == 1 ? middle : middle - 11 + 22 * static_cast<double>(i), "left",
                 theme.text);
  }
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const LevelFigure& figure = level.*quantities[i].figure;
    const int x = quantities[i].left;
    canvas.label(text_of(figure), figure_limit, x, top + (figure.beside.empty() ? 22 : 16), "left",
                 figure.value ? theme.text : theme.frame);
    if (!figure.beside.empty()) {
      canvas.label(figure.beside, figure_limit + 3, x, top + 34, "left", theme.frame, small_font);
    }
    const auto share = spans[i].share(figure);
    if (!share) continue;
    canvas.box(x, top + bar_from_top, x + *share * bar_width, top + bar_from_top + bar_height,
               colour, "noborder");
  }
}

}  // namespace

std::string text_of(const LevelFigure& figure) {
  return figure.value ? clean(format_quantity(figure.value, figure.unit)) : "–";
}

std::string hierarchy_script(const std::vector<LevelRow>& levels, const Theme& theme,
                             Source source) {
  const auto rows = static_cast<int>(levels.size());
  // Boxes hide what is behind them: a replay's watermark has a strip of its own.
  const int strip = source == Source::replay ? watermark_height : 0;
  const int height = head_height + rows * row_height + strip + foot_height;
  Canvas canvas(height);
  std::string script = preamble(theme, height, "The memory hierarchy", source);
  script +=
      "unset border\nunset tics\nunset grid\nunset key\nset xrange [0:1]\nset yrange [0:1]\n"
      "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\n"
      "set bmargin at screen 0\n";
  std::array<Span, 3> spans{Span(levels, quantities[0].figure), Span(levels, quantities[1].figure),
                            Span(levels, quantities[2].figure)};
  for (const Quantity& quantity : quantities) {
    canvas.label(quantity.name, figure_limit, quantity.left, head_height - 16, "left", theme.frame);
  }
  for (int i = 0; i < rows; ++i) {
    // The level nearest to the cores is the narrowest.
    const int left = widest + (narrowest - widest) * (rows - 1 - i) / std::max(rows - 1, 1);
    draw_level(canvas, levels[static_cast<std::size_t>(i)], left, head_height + i * row_height,
               spans, theme);
  }
  const int end = head_height + rows * row_height;
  canvas.label(
      "Nearest to the cores at the top. Bandwidth: all SMs together. Bars: logarithmic, by column.",
      100, picture_width / 2.0, end + 16, "center", theme.frame, small_font);
  script += canvas.script();
  if (strip > 0) {
    script += watermark(theme, canvas.at(picture_width / 2.0, end + foot_height + strip / 2.0 - 8),
                        60, 0);
  }
  return script + "plot NaN notitle\n";
}

}  // namespace fathom::plots
