#include <nlohmann/json.hpp>

#include "results/document_io.h"
#include "results/findings.h"
#include "sample_document.h"
#include "test_folder.h"
#include "tests/testing.h"

using namespace fathom;
namespace fs = std::filesystem;

TEST_CASE("A document comes back from disk as it was", "[results]") {
  const TestFolder folder;
  for (const Document& document :
       {sample::document(), sample::replay(), sample::empty_run(), sample::heat_map_document(),
        read_document(fs::path(FATHOM_SOURCE_DIR) / "recordings/h200/gemm/result.json"),
        read_document(fs::path(FATHOM_SOURCE_DIR) / "recordings/h200/atlas/result.json"),
        sample::small_document(), Document{}}) {
    write_document(document, folder / "result.json");
    const Document read = read_document(folder / "result.json");
    CHECK(read == document);
    CHECK(to_text(read) == file_text(folder / "result.json"));
  }
  const std::filesystem::path file = FATHOM_SOURCE_DIR "/tests/unit/data/sample.json";
  if (std::getenv("FATHOM_UPDATE_GOLDEN")) write_document(sample::small_document(), file);
  CHECK(to_text(sample::small_document()) == file_text(file));
  const std::string mark = "\xEF\xBB\xBF", text = to_text(sample::small_document());
  CHECK(to_text(parse_document(mark + text, "file")) == text);
  CHECK_THROWS_AS(parse_document(mark, "file"), Error);
}

TEST_CASE("Any number and any text comes back as it was", "[results]") {
  using Limits = std::numeric_limits<double>;
  const std::string text = "a\"\\\n\x01\t/µ🙂{";
  Document d = sample::small_document();
  d.warnings = {text, ""};
  Entry& e = d.entries.front();
  e.name = text;
  e.axes = {{text, 0.1}, {"", std::numeric_limits<std::int64_t>::min()}, {"x" + text, text}};
  e.metric = {"m" + text, text, Better::lower, -Limits::max()};
  e.samples = {Limits::denorm_min(), Limits::max(), -0.0, 1 + Limits::epsilon(), 1.0 / 3, 1e300};
  e.extras = {{text, -Limits::min()}};
  e.notes = {{text, text}, {"z" + text, text}};
  CHECK(parse_document(to_text(d), "text") == d);
}

TEST_CASE("A document from before some of its fields is read without them", "[results]") {
  using Json = nlohmann::ordered_json;
  const std::function<void(Json&)> age = [&](Json& json) {
    for (const char* key :
         {"facts", "profile", "markers", "stretches", "overview", "y_axis", "row_order", "section",
          "show_opponents", "levels", "work", "memory", "page", "page_title", "notes"})
      if (json.is_object()) json.erase(key);
    for (Json& part : json)
      if (part.is_structured()) age(part);
  };
  Document document = sample::document();
  for (Entry& entry : document.entries) entry.profile = Profile{"line", "cycles", {1, 2}};
  REQUIRE_FALSE(document.facts.empty());
  Json older = to_json(document);
  age(older);
  const Document read = parse_document(older.dump(), "text");
  CHECK(read.facts.empty());
  CHECK_FALSE(read.entries.front().profile);
  const View& view = read.probes.front().views.front();
  CHECK_FALSE((view.overview || view.show_opponents));
  CHECK(view.markers.empty());
  Json rest = to_json(read);
  age(rest);
  CHECK(rest == older);
}

TEST_CASE("Readers of Google Benchmark's JSON find what they look for", "[results]") {
  // Beside what the golden file has.
  const Document document = sample::document();
  const nlohmann::ordered_json json = to_json(document);
  REQUIRE(json["benchmarks"].size() == document.entries.size());
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    const auto& row = json["benchmarks"][i];
    const Entry& entry = document.entries[i];
    for (const Counter& counter : entry.counters)
      CHECK(row.contains(counter.role) == counter.value.has_value());
    CHECK(row.contains("error_occurred") == (entry.verdict.status == VerdictStatus::wrong_output));
  }
}

TEST_CASE("A user counter never takes the place of a field", "[results]") {
  Document document = sample::small_document();
  document.entries[0].extras = {
      {"real_time", 7}, {"name", 7}, {"fathom", 7}, {"cycles_per_access", 7}, {"further", 7}};
  const nlohmann::ordered_json row = to_json(document)["benchmarks"][0];
  CHECK(row["real_time"] == document.entries[0].real_time_s * 1e9);
  CHECK((row["name"].is_string() && row["fathom"].is_object()));
  CHECK(row["cycles_per_access"] == 2.25);
  CHECK(row["further"] == 7);
  CHECK(parse_document(to_text(document), "text") == document);
}

TEST_CASE("A number that is not finite is refused by its path, and text is UTF-8", "[results]") {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Document document = sample::document();
    document.entries[2].samples[5] = bad;
    const Refusal refused = refusal_of([&] { to_text(document); });
    CHECK(refused.code == ExitCode::document_malformed);
    CHECK_THAT(refused.text, contains("/benchmarks/2/fathom/samples/5"));
  }
  Document document = sample::small_document();
  document.probes[0].status_reason = "last words: \xff\xfe";
  CHECK(parse_document(to_text(document), "text").probes[0].status_reason ==
        "last words: \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("A replay stays one", "[results]") {
  // Other programs see it in every name.
  const nlohmann::ordered_json json = to_json(sample::replay());
  for (const auto& row : json["benchmarks"]) {
    CHECK(row["name"].get<std::string>().starts_with("REPLAY/"));
    CHECK(row["run_name"] == row["name"]);
  }
  // Changing the one word that says so makes the file unreadable, either way.
  for (const auto& [document, from, to] : {std::tuple{sample::replay(), "replay", "measured"},
                                           {sample::document(), "measured", "replay"}}) {
    nlohmann::ordered_json changed = to_json(document);
    REQUIRE(std::exchange(changed["context"]["fathom"]["source"], to) == from);
    CHECK_THROWS_AS(parse_document(changed.dump(), "text"), Error);
  }
}
