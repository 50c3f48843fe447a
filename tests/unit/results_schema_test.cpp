// The check of a document against the schema, held against a library's, which knows all of JSON
// Schema.

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/files.h"
#include "sample_document.h"
#include "tests/testing.h"

namespace fathom {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

template <class Object, class Value>
Value value_of(Value Object::*member);

/// The JSON Schema of fields; those of lists that have a name are in `definitions`.
class SchemaOfFields {
 public:
  using Json = nlohmann::ordered_json;
  Json definitions = Json::object();

  template <class Value>
  Json of(const FieldRule& rule = {}) {
    Json schema;
    if constexpr (Listed<Value>) {
      return of_list(fields_of<Value>);
    } else if constexpr (Optional<Value>) {
      schema = of<typename Value::value_type>(rule);
      if (rule.presence == Presence::if_set) return schema;
      if (!schema.contains("type")) return {{"anyOf", {{{"type", "null"}}, schema}}};
      schema["type"] = Json::array({schema["type"], "null"});
      return schema;
    } else if constexpr (Vector<Value>) {
      schema = {{"type", "array"}, {"items", of<typename Value::value_type>()}};
    } else if constexpr (Map<Value>) {
      schema = {{"type", "object"}, {"additionalProperties", of<typename Value::mapped_type>()}};
    } else if constexpr (std::same_as<Value, AxisValue>) {
      schema["type"] = {"integer", "number", "string"};
    } else if constexpr (std::is_enum_v<Value>) {
      schema["enum"] = enum_words<Value>;
    } else if constexpr (std::same_as<Value, bool>) {
      schema["type"] = "boolean";
    } else if constexpr (std::same_as<Value, std::string>) {
      schema["type"] = "string";
    } else {
      schema["type"] = std::integral<Value> ? "integer" : "number";
      if constexpr (std::integral<Value>) {
        schema["minimum"] = 0;
        schema["maximum"] = static_cast<std::int64_t>(most_of<Value>);
      }
    }
    if (*rule.about != 0) schema["description"] = rule.about;
    return schema;
  }

  template <class List>
  Json of_list(const List& list) {
    Json required = Json::array(), properties = Json::object();
    for_each_field(list, [&]<class Item>(const Item& item) {
      if constexpr (requires { item.list; }) {
        required.push_back(item.name);
        properties[item.name] = of_list(item.list);
      } else {
        if (item.rule.presence == Presence::required) required.push_back(item.name);
        properties[item.name] = of<decltype(value_of(item.member))>(item.rule);
      }
    });
    Json schema{{"type", "object"},
                {"description", list.about},
                {"required", std::move(required)},
                {"properties", std::move(properties)}};
    const std::string name = list.name;
    if (name.empty()) return schema;
    definitions[name] = std::move(schema);
    return {{"$ref", "#/definitions/" + name}};
  }
};

nlohmann::ordered_json document_schema() {
  SchemaOfFields schema;
  nlohmann::ordered_json json{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", fmt::format("Result document of Fathom, version {}", schema_version)}};
  json.update(schema.of<Document>());
  json["definitions"] = std::move(schema.definitions);
  return json;
}

class Library {
 public:
  Library() {
    const Json json = Json(document_schema());
    valijson::SchemaParser().populateSchema(Adapter(json), schema_);
  }
  bool accepts(const Json& document) const {
    return valijson::Validator().validate(schema_, Adapter(document), nullptr);
  }

 private:
  valijson::Schema schema_;
};

bool accepts(const Json& json) {
  const std::string text = json.dump(), origin = "some/result.json";
  const auto read = [&] {
    Document document;
    read_fields(ParsedJson(text, origin).root(), {&origin}, {}, document);
  };
  return refusal_of(read).text.empty();
}

/// With the first elements of each array only, for the schema says nothing of how many there are.
void shorten(Json& value) {
  constexpr std::size_t enough = 3;
  if (value.is_array() && value.size() > enough) value.erase(value.begin() + enough, value.end());
  if (value.is_structured())
    for (Json& part : value) shorten(part);
}

/// Every place of a document, but one alone of those that differ in numbers of arrays only.
void collect(const Json& value, const std::string& path, const std::string& kind,
             std::set<std::string>& kinds, std::vector<Json::json_pointer>& places) {
  if (!kinds.insert(kind).second) return;
  if (!path.empty()) places.emplace_back(path);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      std::string step;  // as a JSON pointer has it
      for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
      collect(member, path + "/" + step, kind + "/" + step, kinds, places);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      collect(value[i], path + "/" + std::to_string(i), kind + "/*" + value[i].type_name(), kinds,
              places);
  }
}

void compare(const Document& sample) {
  const Library library;
  Json document = Json::parse(to_text(sample));
  shorten(document);
  REQUIRE(accepts(document));
  REQUIRE(library.accepts(document));
  std::set<std::string> kinds;
  std::vector<Json::json_pointer> places;
  collect(document, "", "", kinds, places);
  int refused = 0, accepted = 0;
  for (const Json::json_pointer& place : places) {
    const Json other_values =
        Json::parse(R"([null, true, 0, -1, 0.5, 1e30, "", "x", [], {}, [1], {"x": 1}])");
    for (std::size_t i = 0; i <= other_values.size(); ++i) {
      Json changed = document;
      if (i < other_values.size())
        changed[place] = other_values[i];
      else if (Json& above = changed[place.parent_pointer()]; above.is_object())
        above.erase(place.back());
      else
        above.push_back(nullptr);
      const bool ours = accepts(changed);
      ++(ours ? accepted : refused);
      if (ours == library.accepts(changed)) continue;
      CAPTURE(place.to_string(), i, ours);
      FAIL("the library says otherwise");
    }
  }
  CHECK(refused > 500);
  CHECK(accepted > 100);
}

/// What any member can be made of.
struct Anything {
  template <class Member>
  operator Member() const;
};

template <class Object, class... Members>
constexpr std::size_t members_of() {
  if constexpr (requires { Object{Members()..., Anything()}; })
    return members_of<Object, Members..., Anything>();
  else
    return sizeof...(Members);
}

template <class List>
constexpr std::size_t fields_in(const List& list) {
  std::size_t count = 0;
  for_each_field(list, [&](const auto& item) {
    if constexpr (requires { item.list; })
      count += fields_in(item.list);
    else
      ++count;
  });
  return count;
}

template <class... Objects>
constexpr bool are_whole = ((members_of<Objects>() == fields_in(fields_of<Objects>)) && ...);

static_assert(
    are_whole<Metric, Interval, Bound, Expectation, Opponent, Counter, Range, Telemetry, Timing,
              Profile, Verdict, Entry, Fingerprint, DeviceBound, PlotMarker, PlotStretch, PlotLevel,
              Term, MemoryLevel, View, ProbeSummary, Claim, Published, Fact, Document>,
    "a member that is in no list is neither written nor read");

}  // namespace

TEST_CASE("The schema's check accepts what a library for JSON Schema does", "[results]") {
  compare(sample::document());
}

TEST_CASE("The schema that is installed is that of the fields", "[results]") {
  const std::filesystem::path file =
      std::filesystem::path(FATHOM_SOURCE_DIR) / "results/schema.json";
  const std::string schema = to_text(document_schema());
  if (std::getenv("FATHOM_UPDATE_GOLDEN")) write_file_atomically(file, schema);
  CHECK(read_file_up_to(file, 1 << 20) == schema);
}

}  // namespace fathom
