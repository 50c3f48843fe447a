// `fathom compare` on the documents that are recorded.

#include <nlohmann/json.hpp>

#include "results/format.h"
#include "sandbox.h"

using namespace fathom;

const std::string recorded = FATHOM_RECORDING_FILE;
const auto recordings = fs::path(recorded).parent_path().parent_path();

TEST_CASE("The lines of docs/h100-h200.md stand in the comparison of the recorded GPUs", "[e2e]") {
  Sandbox box({});
  const auto h100 = recordings / "h100-80gb-hbm3" / "result.json";
  const CapturedRun run = expect(0, box.fathom({"compare", h100.string(), recorded}));
  const std::string page = file_text(recordings.parent_path() / "docs/h100-h200.md");
  const auto begin = page.find("```\n") + 4;
  int found = 0;
  for (const std::string& line : lines_of(page.substr(begin, page.find("```", begin) - begin))) {
    if (line == "…") continue;
    has(run.output, line + "\n");
    ++found;
  }
  CHECK(found == 7);
}

TEST_CASE("Every figure of docs/h100-h200.md is what compare finds in the recordings", "[e2e]") {
  Sandbox box({});
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
  for (const std::string& line :
       lines_of(file_text(recordings.parent_path() / "docs/h100-h200.md"))) {
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
