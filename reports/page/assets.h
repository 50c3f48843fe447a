#pragma once

#include <string_view>

namespace fathom::reports {

// Files of this folder, and the sources of the ladder, as the build found them.

std::string_view page_template();   ///< page.html
std::string_view page_style();      ///< page.css
std::string_view page_script();     ///< every script of views/, one after the other
std::string_view chart_library();   ///< vendor/vega.js
std::string_view ladder_sources();  ///< each after a line `//// <path below gemm>`
std::string_view lessons_page();    ///< docs/ladder.md, with a diagram of each lesson

}  // namespace fathom::reports
