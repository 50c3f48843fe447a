#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::plots {

/// Colours of one background. The series' are Okabe and Ito's, which stay apart for readers who see
/// few colours, darkened or lightened for contrast; its yellow is left out.
struct Theme {
  std::string background, text, frame, grid, watermark;
  std::array<std::string, 8> series;
};

const Theme& light_theme();
const Theme& dark_theme();

// Sizes in pixels of a picture 800 wide: text stays readable where a page shows it at half of that.
inline constexpr int picture_width = 800;
inline constexpr int font_size = 17;
inline constexpr int title_size = 21, title_line_height = 30;
/// Mean width of a character in a wide sans-serif font: the reader's may be any.
inline constexpr double character_width = 0.62 * font_size;

/// gnuplot's point types: filled ones first, then open ones.
int point_type(std::size_t series);
const std::string& series_color(const Theme& theme, std::size_t series);

/// The title as it is drawn: of a replay it says so.
std::vector<std::string> title_lines(const std::string& title, Source source);

/// The command that writes REPLAY behind the curves, at a place that gnuplot understands.
std::string watermark(const Theme& theme, const std::string& place, int size, int rotation);

/// The commands with which each script begins: terminal, fonts, frame and title.
std::string preamble(const Theme& theme, int height, const std::string& title, Source source);

}  // namespace fathom::plots
