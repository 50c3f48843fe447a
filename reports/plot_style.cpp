#include "reports/plot_style.h"

#include <fmt/format.h>

#include "reports/plot_text.h"

namespace fathom::plots {

const Theme& light_theme() {
  static const Theme theme{
      "#ffffff",
      "#1f2328",
      "#59636e",
      "#e1e4e8",
      "#e6e9ed",
      {"#0072b2", "#d55e00", "#009e73", "#b8528f", "#c98a00", "#3a9fd8", "#6f42c1", "#57606a"}};
  return theme;
}

const Theme& dark_theme() {
  static const Theme theme{
      "#0d1117",
      "#e6edf3",
      "#9198a1",
      "#2a3038",
      "#303843",
      {"#4da3e0", "#ff8c42", "#2bc49a", "#e59ac6", "#f2b93b", "#9bd8f7", "#b794f4", "#b1bac4"}};
  return theme;
}

int point_type(std::size_t series) {
  static constexpr std::array<int, 12> types{7, 5, 9, 13, 11, 15, 6, 4, 8, 12, 10, 14};
  // After each round of colours the types move on by one, so that no pair of the two repeats soon.
  const std::size_t rounds = series / light_theme().series.size();
  return types[(series + rounds) % types.size()];
}

const std::string& series_color(const Theme& theme, std::size_t series) {
  return theme.series[series % theme.series.size()];
}

std::vector<std::string> title_lines(const std::string& title, Source source) {
  return wrapped(source == Source::replay ? "REPLAY: " + title : title, 62, 2);
}

std::string watermark(const Theme& theme, const std::string& place, int size, int rotation) {
  return fmt::format(
      "set label 'REPLAY' at {} center rotate by {} font 'sans-serif,{}' textcolor rgb '{}' back\n",
      place, rotation, size, theme.watermark);
}

std::string preamble(const Theme& theme, int height, const std::string& title, Source source) {
  return fmt::format(
      "set encoding utf8\nset zero 0\nset samples 2\n"
      "set terminal svg size {},{} dynamic noenhanced rounded font 'sans-serif,{}' background "
      "'{}'\n"
      "set label {} at screen 0.5, screen {} center font 'sans-serif,{}' textcolor rgb '{}'\n"
      "set border 3 lc rgb '{}' lw 1.2\nset tics nomirror out scale 0.6 textcolor rgb '{}'\n"
      "set xtics offset 0,0.35\n"
      "set grid back lt 1 lw 1 dt 1 lc rgb '{}'\n",
      picture_width, height, font_size, theme.background, quoted(title_lines(title, source)),
      1 - 26.0 / height, title_size, theme.text, theme.frame, theme.text, theme.grid);
}

}  // namespace fathom::plots
