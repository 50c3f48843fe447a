#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
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

/// Answers of `fathom explain`, from explained.h.
using Explained = std::vector<nlohmann::json>;

/// One HTML page that shows the documents over each other, and the answers. It asks no network for
/// anything, and no text of a document becomes markup.
std::string html_page(const std::vector<ShownDocument>& documents, const Explained& explained);

/// What the page knows, as JSON without a `<`: the documents less what no view shows, the answers,
/// the sources of the ladder, and what models/ says of warps.
std::string page_data(const std::vector<ShownDocument>& documents, const Explained& explained);

}  // namespace fathom::reports
