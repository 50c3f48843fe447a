#include <nlohmann/json.hpp>

#include "results/clean_text.h"
#include "results/document_io.h"
#include "results/strict_json.h"
#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;
namespace fs = std::filesystem;

namespace {

/// How a text is refused. Every sentence names the file, and is one line for a terminal.
Refusal refusal(const std::string& text) {
  const Refusal refused = refusal_of([&] { parse_document(text, "some/result.json"); });
  if (refused.code == ExitCode::ok) return refused;
  CHECK(refused.text.starts_with("some/result.json: "));
  CHECK(refused.text.size() < 500);
  CHECK(refused.text.ends_with("."));
  CHECK(clean(refused.text) == refused.text);
  return refused;
}

void check_malformed(const std::string& text, const std::string& part) {
  const Refusal refused = refusal(text);
  CHECK(refused.code == ExitCode::document_malformed);
  CHECK_THAT(refused.text, contains(part));
}

/// The sample document with something changed in its JSON.
std::string changed(const std::function<void(nlohmann::ordered_json&)>& change) {
  nlohmann::ordered_json json = to_json(sample::document());
  change(json);
  return json.dump();
}

std::string repeated(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace

TEST_CASE("What is not JSON is refused with its place", "[results]") {
  check_malformed("", "is empty");
  check_malformed(" \n\t\r\n ", "is empty");
  check_malformed("{\n  \"context\": {,\n", "line 2, column 15");
  check_malformed("no json", "line 1, column 2");
  check_malformed("{\"a\": NaN}", "line 1, column 7");
  check_malformed("{\"a\": -Infinity}", "line 1, column 8");
  check_malformed("{\"a\": 1e999}", "1e999");
  check_malformed("{\"a\": 'x'}", "line 1, column 7");
  check_malformed("{\"a\": 1} x", "line 1, column 10");
  check_malformed("{\"a\": 1}{\"a\": 1}", "line 1, column 9");
  check_malformed("[1, 2,]", "line 1, column 7");
  check_malformed("{\"a\": 1 /* one */}", "line 1, column 9");
  check_malformed("{\"a\": \"\xff\"}", "line 1, column 8");
  check_malformed(std::string("{\"a\": \0}", 8), "line 1, column 7");
  check_malformed("{\"a\": 012}", "line 1, column 9");
  check_malformed("{\"" + std::string(100000, 'x'), "line 1, column");
}

TEST_CASE("A document cut anywhere is refused", "[results]") {
  Document document = sample::empty_run();
  document.entries = {sample::conflict_entry(2, 2, 2000)};
  const std::string text = to_text(document);
  REQUIRE(refusal(text).code == ExitCode::ok);
  const std::size_t json_end = text.find_last_of('}');
  for (std::size_t length = 0; length <= json_end; ++length) {
    if (refusal(text.substr(0, length)).code != ExitCode::document_malformed) {
      FAIL("accepted the first " << length << " bytes");
    }
  }
}

TEST_CASE("Hostile JSON is refused quickly and in little memory", "[results]") {
  const auto start = std::chrono::steady_clock::now();
  check_malformed(repeated("[", 1000000), "deeper than 64");
  check_malformed(repeated("{\"a\":", 1000000), "deeper than 64");
  check_malformed(repeated("[", 65) + repeated("]", 65), "deeper than 64");
  check_malformed("{\"a\": {\"b\": 1, \"c\": 2, \"b\": 3}}", "/a has the key \"b\" twice");
  check_malformed("{\"a\": [0, {\"b\": {\"c\": 1, \"c\": 1}}]}", "/a/1/b has the key \"c\" twice");
  check_malformed("{\"a\": 1, \"a\": 1}", "the outermost object has the key \"a\" twice");
  std::string keys = "{\"k\": 0";
  for (int i = 0; i < 100000; ++i) keys += ",\"" + std::to_string(i) + "\":0";
  check_malformed(keys + "}", "more than 1000 keys");
  check_malformed("[" + repeated("0,", 21'000'000) + "0]", "more than 20000000 values");
  // Time in proportion to the objects of an array, not to their square.
  CHECK(parse_strict_json("[" + repeated("{},", 500'000) + "{}]", "text").size() == 500'001);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  // As deep as is allowed is no fault of the JSON.
  CHECK(parse_strict_json(repeated("[", 64) + repeated("]", 64), "text").is_array());
}

TEST_CASE("What breaks the schema is refused with its path and what was expected", "[results]") {
  using Json = nlohmann::ordered_json;
  struct Fault {
    std::function<void(Json&)> change;
    std::string path, expected;
  };
  // One for each sentence; that every field is checked is results_schema_test's.
  const Fault faults[] = {
      {[](Json& j) { j["benchmarks"][3]["fathom"]["metric"]["value"] = "fast"; },
       "/benchmarks/3/fathom/metric/value is \"fast\"", "a number or null"},
      {[](Json& j) { j["benchmarks"][0]["fathom"].erase("samples"); }, "/benchmarks/0/fathom",
       "has no member \"samples\""},
      {[](Json& j) { j["benchmarks"][1]["fathom"]["samples"][7] = nullptr; },
       "/benchmarks/1/fathom/samples/7 is null", "a number"},
      {[](Json& j) { j["benchmarks"][1]["fathom"]["interval"]["confidence"] = 95; },
       "/benchmarks/1/fathom/interval/confidence is 95", "at most 1"},
      {[](Json& j) { j["benchmarks"][1]["fathom"]["timing"]["sm_clock_hz"] = 0; },
       "/benchmarks/1/fathom/timing/sm_clock_hz is 0", "above 0"},
      {[](Json& j) { j["benchmarks"][1]["fathom"]["interval"] = 0.5; },
       "/benchmarks/1/fathom/interval is 0.5", "an object"},
      {[](Json& j) { j["benchmarks"][2]["fathom"]["verdict"]["status"] = "good"; },
       "/benchmarks/2/fathom/verdict/status is \"good\"", "one of \"ok\", \"noisy\""},
      {[](Json& j) { j["benchmarks"][2]["fathom"]["counters"][0]["role"] = ""; },
       "/benchmarks/2/fathom/counters/0/role", "not empty"},
      {[](Json& j) { j["benchmarks"][2]["fathom"]["extras"]["a"] = true; },
       "/benchmarks/2/fathom/extras/a is true", "a number"},
      {[](Json& j) { j["benchmarks"][2]["fathom"]["axes"][0]["value"] = Json::array(); },
       "/benchmarks/2/fathom/axes/0/value is an array", "an integer or a number or a string"},
      {[](Json& j) { j["benchmarks"][2]["iterations"] = -1; }, "/benchmarks/2/iterations is -1",
       "at least 0"},
      {[](Json& j) { j["benchmarks"][2]["iterations"] = 18446744073709551615ull; },
       "/benchmarks/2/iterations", "at most 9007199254740991"},
      {[](Json& j) { j["benchmarks"][2]["iterations"] = 1.5; }, "/benchmarks/2/iterations is 1.5",
       "an integer"},
      {[](Json& j) { j["benchmarks"][2]["real_time"] = "\x1b[31m" + std::string(5000, 'x'); },
       "/benchmarks/2/real_time is a string of", "a number"},
      {[](Json& j) { j["benchmarks"][2] = 1; }, "/benchmarks/2 is 1", "an object"},
      {[](Json& j) { j["context"]["fathom"]["source"] = "invented"; },
       "/context/fathom/source is \"invented\"", "\"measured\", \"replay\""},
      {[](Json& j) { j["context"]["fathom"].erase("schema_version"); }, "/context/fathom",
       "has no member \"schema_version\""},
      {[](Json& j) { j["context"]["fathom"]["fingerprint"]["sms"] = "132"; },
       "/context/fathom/fingerprint/sms is \"132\"", "an integer or null"},
      {[](Json& j) { j["fathom"]["probes"][0]["views"][0]["where"][0]["values"] = 1; },
       "/fathom/probes/0/views/0/where/0/values is 1", "an array"},
      {[](Json& j) { j["fathom"]["facts"][1]["id"] = j["fathom"]["facts"][0]["id"]; },
       "/fathom/facts/1/id is that of an earlier fact", "one of its own"},
      {[](Json& j) { j["fathom"]["facts"][0]["value"] = nullptr; },
       "/fathom/facts/0/reason is empty", "why there is none"},
      {[](Json& j) { j["fathom"]["facts"][0]["reason"] = "x"; },
       "/fathom/facts/0/reason is there beside a value", "an empty string"},
      {[](Json& j) { j.erase("fathom"); }, "the document", "has no member \"fathom\""}};
  for (const Fault& fault : faults) {
    const Refusal refused = refusal(changed(fault.change));
    CHECK(refused.code == ExitCode::document_malformed);
    CHECK_THAT(refused.text, contains(fault.path) && contains(fault.expected));
  }
}

TEST_CASE("Views that lack what they are made of are refused, and profiles that are none",
          "[results]") {
  const std::string view = "/fathom/probes/0/views/0", profile = "/benchmarks/1/fathom/profile";
  using Json = nlohmann::ordered_json;
  using Pointer = Json::json_pointer;
  const auto check = [](const std::function<void(Json&)>& change, const std::string& said) {
    Json json = to_json(sample::heat_map_document());
    change(json);
    check_malformed(json.dump(), said);
  };
  const auto with_kind = [&](const char* kind) {
    return [&view, kind](Json& j) { j[Pointer(view)].update({{"kind", kind}, {"x", ""}}); };
  };
  check(with_kind("roofline"), view + " is a roofline that lacks x, work or memory");
  check(with_kind("steps"), view + " is of steps and lacks x");
  check([&](Json& j) { j[Pointer(view)]["y_axis"] = ""; },
        view + " is a heat map that lacks x or y_axis");
  check([&](Json& j) { j[Pointer(view)].erase("y_axis"); },
        view + " is a heat map that lacks x or y_axis");
  check([&](Json& j) { j[Pointer(view)]["overview"] = 1; },
        view + "/overview is 1; expected: a boolean");
  check([&](Json& j) { j[Pointer(profile)]["values"][3] = "x"; },
        profile + "/values/3 is \"x\"; expected: a number");
  check([&](Json& j) { j[Pointer(profile)].erase("unit"); }, profile + " has no member \"unit\"");
  Document document = sample::heat_map_document();
  document.entries[2].profile->values[5] = std::nan("");
  CHECK_THROWS_AS(to_text(document), Error);
}

TEST_CASE("A member that this version does not know is ignored", "[results]") {
  const std::string text = changed([](auto& json) {
    json["benchmarks"][0]["fathom"]["later"] = {1, 2};
    json["context"]["later"] = "x";
  });
  CHECK(parse_document(text, "text") == sample::document());
}

TEST_CASE("Another version of the schema is refused as such", "[results]") {
  const Refusal refused =
      refusal(changed([](auto& json) { json["context"]["fathom"]["schema_version"] = 7; }));
  CHECK(refused.code == ExitCode::document_version);
  CHECK_THAT(refused.text, contains("schema version 7") && contains("reads version 1"));
  check_malformed(changed([](auto& json) { json["context"]["fathom"]["schema_version"] = "1"; }),
                  "/context/fathom/schema_version");
}

TEST_CASE("JSON of another kind is told apart", "[results]") {
  check_malformed(R"({"context": {"date": "x"}, "benchmarks": []})", "Google Benchmark file");
  check_malformed(R"({"benchmarks": []})", "Google Benchmark file");
  check_malformed("[]", "no result document");
  check_malformed("7", "no result document");
  check_malformed(R"({"context": 7})", "no result document");
}

TEST_CASE("A document with random bytes changed is read or refused", "[results]") {
  Document document = sample::empty_run();
  document.entries = {sample::conflict_entry(2, 2, 2000)};
  const std::string text = to_text(document);
  std::mt19937_64 random(99);
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string broken = text;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) {
      broken[random() % broken.size()] = static_cast<char>(random());
    }
    refused += refusal(broken).code != ExitCode::ok;
  }
  CHECK(refused > 500);
}

TEST_CASE("A file that cannot be read says why", "[results]") {
  const auto code_of_reading = [](const fs::path& path) {
    const Refusal refused = refusal_of([&] { read_document(path); });
    CHECK_THAT(refused.text, contains(path.string()));
    return refused.code;
  };
  CHECK(code_of_reading("/nonexistent/result.json") == ExitCode::bad_input);
  CHECK(code_of_reading("/tmp") == ExitCode::bad_input);
  CHECK(code_of_reading("/dev/null") == ExitCode::document_malformed);
  // Never ends: refused at the limit, not at the end of memory.
  CHECK(code_of_reading("/dev/zero") == ExitCode::document_malformed);
}
