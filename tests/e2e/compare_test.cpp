// `fathom compare` on the documents that are recorded.

#include <nlohmann/json.hpp>

#include "results/text.h"
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

TEST_CASE("Compare spoils no input, and says what two runs do not share", "[e2e]") {
  Sandbox box({});
  fs::copy(recorded, box.folder() / "own.json");
  expect(ExitCode::bad_input,
         box.fathom({"compare", recorded, "own.json", "--json", "./own.json"}));
  CHECK(file_text(box.folder() / "own.json") == file_text(recorded));
  expect(ExitCode::output_unwritable,
         box.fathom({"compare", recorded, recorded, "--json", "no/such/c.json"}));
  const auto atlas = fs::path(recorded).parent_path() / "atlas" / "result.json";
  refused(ExitCode::incomplete,
          box.fathom({"compare", recorded, atlas.string(), "--json", "c.json"}), "(suite default)",
          "(suite atlas)");
  CHECK_FALSE(fs::exists(box.folder() / "c.json"));
}

TEST_CASE("Two files of another tool stand side by side, what differs first", "[e2e]") {
  Sandbox box({});
  const fs::path data = FATHOM_GATE_DATA;
  auto slower = nlohmann::json::parse(file_text(data / "hyperfine.json"));
  for (auto& time : slower["results"][1]["times"]) time = time.get<double>() * 1.3;
  write_text(box.folder() / "slower.json", slower.dump());
  expect(0, box.fathom({"compare", data / "hyperfine.json", "slower.json", "--markdown", "c.md",
                        "--json", "c.json"}))
      .starts("A: hyperfine on ")
      .says("Machine: 0 of ", "Figures: 2 in both", "1 differs (0 better in B, 1 in A;");
  has(file_text(box.folder() / "c.md"), "| A better |");
  const auto first = nlohmann::json::parse(file_text(box.folder() / "c.json")).at("figures").at(0);
  CHECK(first.at("name") == "sort numbers");
  CHECK(first.at("better_in") == "a");
  CHECK(first.at("ratio_interval").at("low") > 1.005);
}

TEST_CASE("What two files of other tools cannot have in common is said", "[e2e]") {
  Sandbox box({});
  const fs::path data = FATHOM_GATE_DATA;
  const auto csv = [&](const char* name, const std::string& lines) {
    write_text(box.folder() / name, "name,unit,better,sample\n" + lines);
  };
  csv("a.csv", "one,ms,lower,1\ntwo,B/s,higher,5,6,7,5,6,7\nold,ms,lower,1\n");
  csv("b.csv", "one,ms,lower,2\ntwo,ms,lower,5\nnew,ms,lower,1\n");
  expect(0, box.fathom({"compare", "a.csv", "b.csv"}))
      .says("  one  1 ms  2 ms      2  undecided", "1 figure (two): B/s in A, s in B.",
            "Only in A: 1 entry of old.", "Only in B: 1 entry of new.");
  expect(0, box.fathom({"compare", "--help"})).says("3 for files\nof two tools");
  csv("nan.csv", "one,ms,lower,nan\n");
  csv("other.csv", "three,ms,lower,1\n");
  for (const auto& [other, expected, words] :
       {std::tuple{std::string("nan.csv"), ExitCode::bad_input, "has the sample \"nan\""},
        {std::string("other.csv"), ExitCode::incomplete, "a.csv and other.csv share no figure"},
        {(data / "hyperfine.json").string(), ExitCode::inconclusive, "program: csv and hyperfine"},
        {recorded, ExitCode::inconclusive, "program: another tool and Fathom"}}) {
    refused(expected, box.fathom({"compare", "a.csv", other, "--json", "c.json"}), words);
    CHECK_FALSE(fs::exists(box.folder() / "c.json"));
  }
}
