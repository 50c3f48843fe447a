// The answer in JSON: the source that it takes along, and what the HTML page reads of it.
#include <nlohmann/json.hpp>

#include "explain/explain.h"
#include "reports/page/page.h"
#include "tests/testing.h"
#include "tests/unit/explain_trace.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::explain;
using test::pattern;
using test::strided;

namespace {

/// One kernel with a stride at offset 0 and a plain store at 16, in the files given.
Explanation explanation_of(const std::string& load, const std::string& store) {
  test::TraceBytes trace;
  trace.module(1, "machine code");
  trace.launch("f", {pattern(Space::global, Op::load, 4, strided(16), 0, 8),
                     pattern(Space::global, Op::store, 4, strided(4), 16, 8)});
  const auto find_line = [&](const auto&, const auto&, std::uint64_t offset) {
    return std::optional(SourceLine{offset == 0 ? load : store, 2});
  };
  return explain::explain(test::read({trace.bytes}), find_line);
}

std::vector<std::string> files_of(const Explanation& explanation) {
  std::vector<std::string> files;
  const auto json = nlohmann::json::parse(page_of(explanation, "", "json"));
  for (const auto& source : json.at("sources")) files.push_back(source.at("file"));
  return files;
}

}  // namespace

TEST_CASE("The answer in JSON has the source, the text only its file's name", "[explain]") {
  const TestFolder folder;
  const std::string app = folder.write("app.cu", "// \x1B[2J \xFF\r\n\tx = </script>;\n").string();
  const Explanation all = explanation_of(app, app);
  const auto json = nlohmann::json::parse(page_of(all, "", "json"));
  CHECK(json.at("format") == "fathom explain 1");
  CHECK(json.at("kernels").at(0).at("lines").at(0).at("file") == app);
  REQUIRE(json.at("sources").size() == 1);
  CHECK(json.at("sources").at(0).at("file") == app);
  CHECK(json.at("sources").at(0).at("text") == "// <U+001B>[2J \xEF\xBF\xBD\n    x = </script>;\n");
  CHECK_THAT(page_of(all, "", "text"), contains("\n  app.cu:2  global load"));
}

TEST_CASE("Sources that cannot be shown are left out", "[explain]") {
  const TestFolder folder;
  const std::string app = folder.write("app.cu", "x\n").string();
  const std::string header = folder.write("include/cub/load.cuh", "y\n").string();
  CHECK(files_of(explanation_of(app, header)) == std::vector{app, header});
  Explanation waiting = explanation_of("gone.cu", "gone.cu");
  waiting.kernels[0].measured.emplace();
  for (const std::string& file : {app, header})
    waiting.kernels[0].measured->waits.push_back({{file, 1, 0}, 10, 1, {}});
  CHECK(files_of(waiting) == std::vector{app, header});
  const std::string large = folder.write("large.cu", std::string((1u << 20) + 1, 'x')).string();
  for (const std::string& file : {large, app + ".gone", std::string("/dev/zero"), std::string()})
    CHECK(files_of(explanation_of(app, file)) == std::vector{app});
}

TEST_CASE("The page's data has an answer of explain, and nothing in it is markup", "[explain]") {
  const TestFolder folder;
  const std::string app =
      folder.write("</script>.cu", "</script><img onerror='x'><!--\n\n").string();
  const auto answer =
      reports::read_explained(page_of(explanation_of(app, app), "", "json"), "why.json");
  REQUIRE(answer);
  const std::string data = reports::page_data({}, {*answer});
  CHECK_THAT(data, !contains("<"));
  const auto shown = nlohmann::json::parse(data).at("explained").at(0);
  CHECK(shown.at("origin") == "why.json");
  CHECK(shown.at("sources").at(0).at("text") == "</script><img onerror='x'><!--\n\n");
  CHECK(shown.at("kernels").at(0).at("lines").at(0).at("sectors") == 128);
}

TEST_CASE("A file that is no answer of explain, or a damaged one, is told from it", "[explain]") {
  CHECK_FALSE(reports::read_explained("{\"context\": {}}", "result.json"));
  CHECK_FALSE(reports::read_explained("{\"note\": \"fathom explain 1\"}", "result.json"));
  const std::string whole = page_of(explanation_of("a.cu", "a.cu"), "", "json");
  for (const auto& [from, to, code, said] :
       {std::tuple<std::string, std::string, int, const char*>{whole.substr(whole.size() / 2), "",
                                                               12, "why.json: is not JSON"},
        {"explain 1", "explain 2", 13, "this Fathom reads \"fathom explain 1\""},
        {"\"saved\": 96", "\"saved\": \"96\"", 12,
         "why.json: /kernels/0/lines/0/faults/0/saved is a string; expected: a number."},
        {"\"launches\"", "\"other\"", 12,
         "why.json: /kernels/0 has no member \"launches\", which was expected."},
        {"\"sectors\": 128", "\"sectors\": \"x\"", 12, ""},
        {"\"line\": 2", "\"line\": {}", 12, ""}}) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    const Refusal refused = refusal_of([&] { reports::read_explained(text, "why.json"); });
    CHECK(to_int(refused.code) == code);
    CHECK_THAT(refused.text, contains(said));
  }
}
