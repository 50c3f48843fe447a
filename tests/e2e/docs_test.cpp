// What docs/h100-h200.md quotes; for other pages see tests/golden/sessions/docs.txt.

#include <nlohmann/json.hpp>

#include "results/text.h"
#include "sandbox.h"

using namespace fathom;

TEST_CASE("Every figure of docs/h100-h200.md is what compare finds in the recordings", "[e2e]") {
  Sandbox box({});
  const fs::path source = FATHOM_SOURCE_DIR, recordings = source / "recordings";
  std::map<std::string, nlohmann::json> figures;
  for (const char* suite : {"", "atlas", "gemm"}) {
    const auto a = recordings / "h100-80gb-hbm3" / suite / "result.json";
    const auto b = recordings / "h200" / suite / "result.json";
    expect(0, box.fathom({"compare", a.string(), b.string(), "--json", "c.json"}));
    const auto json = nlohmann::json::parse(file_text(box.folder() / "c.json"));
    for (const auto& figure : json.at("figures"))
      figures.emplace(figure.at("title").get<std::string>(), figure);
  }
  const auto shown = [](const nlohmann::json& side, const std::string& unit) {
    return format_quantity(side.at("value").get<double>(), unit) +
           (side.at("noisy").get<bool>() ? " ~" : "");
  };
  int found = 0;
  for (const std::string& line : lines_of(file_text(source / "docs/h100-h200.md"))) {
    if (!line.starts_with("| `")) continue;
    CAPTURE(line);
    const std::string title = line.substr(3, line.find('`', 3) - 3);
    REQUIRE(figures.contains(title));
    const nlohmann::json& figure = figures.at(title);
    const std::string unit = figure.at("unit");
    CHECK(line.starts_with("| `" + title + "` | " + shown(figure.at("a"), unit) + " | " +
                           shown(figure.at("b"), unit) + " | " +
                           format_number(figure.at("ratio").get<double>()) + " | "));
    ++found;
  }
  CHECK(found == 13);
}
