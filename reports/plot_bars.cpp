#include "reports/plot_bars.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/plot_text.h"
#include "results/clean_text.h"

namespace fathom::plots {
namespace {

constexpr int row_height = 38, frame_height = 118;
constexpr std::size_t label_limit = 28, text_limit = 32;

/// Bars end here, whatever their share: the text has the figure.
constexpr double longest_bar = 1.5;

}  // namespace

std::string bars_script(const std::vector<BoundBar>& bars, const Theme& theme, Source source) {
  std::size_t label_length = 0, text_length = 0;
  double longest = 1;
  for (const BoundBar& bar : bars) {
    label_length = std::max(label_length, std::min(label_limit, length(clean(bar.label))));
    text_length = std::max(text_length, std::min(text_limit, length(clean(bar.text))));
    longest = std::max(longest, std::min(bar.share, longest_bar));
  }
  const auto margin = [](std::size_t characters) {
    return (static_cast<double>(characters) * character_width + 38) / picture_width;
  };
  // Bars hide what is behind them: a replay's watermark has rows of its own.
  const int rows = static_cast<int>(bars.size()) + (source == Source::replay ? 2 : 0);
  const int height = frame_height + row_height * rows;
  std::string script = preamble(theme, height, "Best result as a share of its bound", source);
  script += fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset tmargin at screen {}\n"
      "set bmargin at screen {}\nunset key\nset style fill solid 1 noborder\nset border 1\n"
      "set xrange [0:{}] noextend\nset yrange [{}:-0.6] noextend\nset grid noytics\n"
      "set xtics ('0 %%' 0, '50 %%' 0.5, '100 %%' 1)\n",
      margin(label_length), 1 - margin(text_length), 1 - 62.0 / height, 50.0 / height, longest,
      rows - 0.4);
  if (source == Source::replay) {
    script += watermark(theme, fmt::format("graph 0.5, first {}", rows - 1.5), 60, 0);
  }
  std::string labels, within, above;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::string name = quoted_tick(shortened(clean(bars[i].label), label_limit));
    labels += fmt::format("{}{} {}", i == 0 ? "" : ", ", name, i);
    script += fmt::format("set label {} at graph 1, first {} left offset 1,0 textcolor rgb '{}'\n",
                          quoted(shortened(clean(bars[i].text), text_limit)), i, theme.text);
    (bars[i].share > 1 ? above : within) +=
        fmt::format("{} {}\n", std::clamp(bars[i].share, 0.0, longest_bar), i);
  }
  script += fmt::format("set ytics ({}) scale 0\n$within << END\n{}END\n$above << END\n{}END\n",
                        labels, within, above);
  // From the top of the first bar to the foot of the last.
  script +=
      fmt::format("set arrow from 1,graph 0 to 1,graph 1 nohead lw 2 dt (10,6) lc rgb '{}' front\n",
                  theme.text);
  std::string plot;
  const auto bars_of = [&](const char* block, const std::string& color) {
    plot += fmt::format("{}{} using (0):2:(0):1:($2-0.32):($2+0.32) with boxxyerror lc rgb '{}'",
                        plot.empty() ? "plot " : ", ", block, color);
  };
  if (!within.empty()) bars_of("$within", theme.series[0]);
  if (!above.empty()) bars_of("$above", theme.series[1]);
  return script + plot + "\n";
}

}  // namespace fathom::plots
