#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "results/document_io.h"
#include "results/fields.h"
#include "results/text.h"
#include "sample_document.h"
#include "tests/testing.h"

using namespace fathom;
namespace fs = std::filesystem;

namespace {

/// How a document is refused. Every sentence names the file, and is one line for a terminal.
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

std::string repeated(std::string_view piece, std::size_t times) {
  return fmt::format("{}", fmt::join(std::vector(times, piece), ""));
}

}  // namespace

TEST_CASE("What is not JSON is refused with its place", "[results]") {
  for (const auto& [text, said] :
       {std::pair<std::string, const char*>{"", "unexpected end of input"},
        {" \n\t\r\n ", "unexpected end of input"},
        {"{\n  \"context\": {,\n", "line 2, column 15"},
        {"{\"a\": NaN}", "line 1, column 7"},
        {"{\"a\": 1e999}", "1e999"},
        {"{\"a\": 1}{\"a\": 1}", "line 1, column 9"},
        {"{\"a\": 1 /* one */}", "line 1, column 9"},
        {"{\"a\": \"\xff\"}", "line 1, column 8"},
        {std::string("{\"a\": \0}", 8), "line 1, column 7"},
        {to_text(sample::empty_run()).substr(0, 900), "truncated"},
        {"{\"" + std::string(100000, 'x'), "line 1, column"}})
    check_malformed(text, said);
}

TEST_CASE("Hostile JSON is refused quickly and in little memory", "[results]") {
  const auto start = std::chrono::steady_clock::now();
  check_malformed(repeated("[", 1000000), "line 1, column 1000001");
  check_malformed(repeated("{\"a\":", 1000000), "line 1, column 5000001");
  check_malformed(repeated("[", 65) + repeated("]", 65), "deeper than 64");
  check_malformed(repeated("[", 1000000) + repeated("]", 1000000), "deeper than 64");
  const auto with = [](const std::string& place, const std::string& members) {
    std::string text = to_text(sample::document());
    const std::string key = "\"" + place + "\": {";
    return text.replace(text.find(key), key.size(), key + members);
  };
  check_malformed(with("metric", "\"b\": 1, \"c\": 2, \"b\": 3, "),
                  "/benchmarks/0/fathom/metric has the key \"b\" twice");
  check_malformed(with("context", "\"a\": 1, \"a\": 1, "), "/context has the key \"a\" twice");
  check_malformed(with("extras", "\"" + std::string(5000, 'k') + "\": null, "), "k... is null");
  // Time in proportion to the objects of an array, not to their square.
  CHECK(parse_strict_json("[" + repeated("{},", 500'000) + "{}]", "text").size() == 500'001);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  // As deep as is allowed is no fault of the JSON.
  CHECK(parse_strict_json(repeated("[", 64) + repeated("]", 64), "text").is_array());
}

TEST_CASE("What breaks the schema is refused with its path and what was expected", "[results]") {
  using Json = nlohmann::ordered_json;
  const Json taken_out(Json::value_t::discarded);
  struct Fault {
    const char* place;
    Json value;
    std::string said, expected;  ///< of the place itself, unless a path begins it
  };
  // One for each sentence; that every field is checked is results_schema_test's.
  for (const Fault& fault : std::initializer_list<Fault>{
           {"/benchmarks/3/fathom/metric/value", "fast", "is a string", "a number"},
           {"/benchmarks/0/fathom/samples", taken_out, "/benchmarks/0/fathom",
            "no member \"samples\""},
           {"/benchmarks/1/fathom/samples/7", nullptr, "is null", "a number"},
           {"/benchmarks/1/fathom/interval", 0.5, "is a number", "an object"},
           {"/benchmarks/2/fathom/verdict/status", "good", "is \"good\"",
            "one of \"ok\", \"noisy\""},
           {"/benchmarks/2/fathom/extras/a", true, "is true or false", "a number"},
           {"/benchmarks/2/fathom/axes/0/value", Json::array(), "is an array", "a number"},
           {"/benchmarks/2/iterations", -1, "is -1", "a whole number from 0 to"},
           {"/benchmarks/2/iterations", 18446744073709551615ull, "", "to 9007199254740991"},
           {"/benchmarks/2/iterations", 1.5, "is 1.5", "a whole number"},
           {"/benchmarks/2/fathom/real_time_s", "\x1b[31m" + std::string(5000, 'x'), "is a string",
            "a number"},
           {"/context/fathom/source", "\x1b[31m" + std::string(5000, 'x'), "is \"<U+001B>",
            "one of \"measured\""},
           {"/fathom/probes/0/views/0/where/0/values", 1, "is a number", "an array"},
           {"/fathom/probes/0/views/0/overview", 1, "is a number", "true or false"},
           {"/fathom", taken_out, "the document", "no member \"fathom\""}}) {
    CAPTURE(fault.place);
    const Json::json_pointer place(fault.place);
    const Refusal refused = refusal(changed([&](Json& json) {
      if (fault.value.is_discarded())
        json[place.parent_pointer()].erase(place.back());
      else
        json[place] = fault.value;
    }));
    CHECK(refused.code == ExitCode::document_malformed);
    CHECK_THAT(refused.text, contains(fault.expected) && contains(fault.said));
    if (!fault.value.is_discarded() && !fault.said.starts_with('/'))
      CHECK_THAT(refused.text, contains(fault.place));
  }
}

TEST_CASE("A member that this version does not know is ignored, another version is refused",
          "[results]") {
  const std::string text = changed([](auto& json) {
    json["benchmarks"][0]["fathom"]["later"] = {1, 2};
    json["context"]["later"] = "x";
  });
  CHECK(parse_document(text, "text") == sample::document());
  const Refusal refused =
      refusal(changed([](auto& json) { json["context"]["fathom"]["schema_version"] = 7; }));
  CHECK(refused.code == ExitCode::document_version);
  CHECK_THAT(refused.text, contains("version 7 of the schema") && contains("reads version 1"));
}

TEST_CASE("JSON of another kind is told apart", "[results]") {
  for (const char* text : {R"({"context": {"date": "x"}, "benchmarks": []})",
                           R"({"benchmarks": []})", "[]", "7", R"({"context": 7})"})
    check_malformed(text, "no result document");
}

TEST_CASE("A file that cannot be read says why", "[results]") {
  // What never ends is refused at the limit, not at the end of memory.
  for (const auto& [path, code] : {std::pair{"/nonexistent/result.json", ExitCode::bad_input},
                                   {"/tmp", ExitCode::bad_input},
                                   {"/dev/null", ExitCode::document_malformed},
                                   {"/dev/zero", ExitCode::document_malformed}}) {
    const Refusal refused = refusal_of([&] { read_document(path); });
    CHECK(refused.code == code);
    CHECK_THAT(refused.text, contains(path));
  }
}
