#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/card_check.h"
#include "results/document.h"

namespace fathom::reports {

/// A document that the page shows, and the name of the file it came from.
struct ShownDocument {
  const Document* document = nullptr;
  std::string file;
  std::optional<CardCheck> card = {};  ///< empty: not checked
};

/// Answers of `fathom explain`.
using Explained = std::vector<nlohmann::json>;

/// One HTML page that shows the documents over each other, and the answers. It asks no network for
/// anything, and no text of a document becomes markup.
std::string html_page(const std::vector<ShownDocument>& documents, const Explained& explained);

/// Writes the report and its HTML page (index.html) into the folder, and prints the summary and
/// where each page is. `name`: the document's file.
void publish(const Document& document, const std::filesystem::path& folder,
             const std::string& name, const std::optional<CardCheck>& card);

/// What the page knows, as JSON without a `<`: the documents less what no view shows, the answers,
/// the sources of the ladder, and what models/ says of warps.
std::string page_data(const std::vector<ShownDocument>& documents, const Explained& explained);

/// The answer that a text is, with its origin as member `origin`; nothing if it is no such answer.
/// Throws Error(document_malformed) naming what the page misses in it, or Error(document_version).
std::optional<nlohmann::json> read_explained(std::string_view text, const std::string& origin);

// Files of this folder, and the sources of the ladder, as the build found them.

std::string_view page_template();   ///< page.html, with marks for fmt
std::string_view page_style();      ///< page.css
std::string_view page_script();     ///< every script of views/, one after the other
std::string_view chart_library();   ///< vendor/vega.js
std::string_view ladder_sources();  ///< each after a line `//// <path below gemm>`
std::string_view lessons_page();    ///< docs/ladder.md, with a diagram of each lesson

}  // namespace fathom::reports
