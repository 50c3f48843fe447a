#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "results/clean_text.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/json_place.h"
#include "results/names.h"
#include "results/schema_fields.h"
#include "results/utc_time.h"

namespace fathom {

namespace {

using Json = nlohmann::json;

// --- by the lists of fields ----------------------------------------------------------------------

std::string expected_words(const nlohmann::ordered_json& schema) {
  if (schema.contains("const")) return schema["const"].dump();
  std::vector<std::string> words;
  if (schema.contains("enum")) {
    for (const auto& word : schema["enum"]) words.push_back(word.dump());
    return fmt::format("one of {}", fmt::join(words, ", "));
  }
  const nlohmann::ordered_json types =
      schema["type"].is_array() ? schema["type"] : nlohmann::ordered_json::array({schema["type"]});
  for (const auto& type : types) {
    const std::string word = type.get<std::string>();
    const bool vowel = word == "integer" || word == "object" || word == "array";
    words.push_back(word == "null" ? word : (vowel ? "an " : "a ") + word);
  }
  std::string text = fmt::format("{}", fmt::join(words, " or "));
  if (schema.contains("minimum")) text += ", at least " + schema["minimum"].dump();
  if (schema.contains("exclusiveMinimum")) text += ", above " + schema["exclusiveMinimum"].dump();
  if (schema.contains("maximum")) text += ", at most " + schema["maximum"].dump();
  if (schema.contains("minLength")) text += ", not empty";
  return text;
}

/// The value itself where it is short, else its kind. Bytes from a file go to no terminal as they
/// are.
std::string found_words(const Json& value) {
  if (value.is_structured()) return value.is_object() ? "an object" : "an array";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t short_enough = 60;
  return text.size() <= short_enough
             ? text
             : fmt::format("a {} of {} characters", value.type_name(), text.size());
}

/// Refuses a value in the words of what its schema asks for.
[[noreturn]] void refuse_value(const JsonPlace& place, const Json& found,
                               const nlohmann::ordered_json& schema) {
  place.refuse(fmt::format("is {}; expected: {}", found_words(found), expected_words(schema)));
}

[[noreturn]] void refuse_missing(const JsonPlace& place, const char* member) {
  place.refuse(fmt::format("has no member \"{}\", which was expected", member));
}

template <class List, class Object>
void read_list(const List& list, const Json& json, const JsonPlace& place, Object& to);

/// A value without parts; false where the schema does not allow it.
template <class Value>
bool read_plain(const Json& json, const FieldRule& rule, Value& to) {
  if constexpr (std::same_as<Value, bool>) {
    if (!json.is_boolean()) return false;
    to = json.get<bool>();
  } else if constexpr (std::same_as<Value, std::string>) {
    if (!json.is_string()) return false;
    to = json.get_ref<const std::string&>();
    return !rule.not_empty || !to.empty();
  } else if constexpr (std::is_enum_v<Value>) {
    if (!json.is_string()) return false;
    const auto known = from_string<Value>(json.get_ref<const std::string&>());
    if (known) to = *known;
    return known.has_value();
  } else if constexpr (std::same_as<Value, AxisValue>) {
    if (json.is_string()) {
      to = json.get<std::string>();
      return true;
    }
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_integer() &&
        !(json.is_number_unsigned() && json.get<std::uint64_t>() > largest))
      to = json.get<std::int64_t>();
    else if (json.is_number())
      to = json.get<double>();
    return json.is_number();
  } else {
    if (std::integral<Value> ? !json.is_number_integer() : !json.is_number()) return false;
    const double number = json.get<double>();
    const FieldRule limits = within_type<Value>(rule);
    if (!(number >= limits.least && number > limits.above && number <= limits.most)) return false;
    to = json.get<Value>();
  }
  return true;
}

/// Reads what write_fields wrote, or an older Fathom. Throws Error(document_malformed) naming the
/// place of the first fault and what was expected there.
template <class Value>
void read_fields(const Json& json, const JsonPlace& place, Value& to, const FieldRule& rule = {}) {
  const auto refuse = [&] { refuse_value(place, json, SchemaOfFields().of<Value>(rule)); };
  if constexpr (Listed<Value>) {
    read_list(fields_of<Value>, json, place, to);
  } else if constexpr (is_optional<Value>) {
    using Inner = typename Value::value_type;
    to.reset();
    if (json.is_null() && rule.presence != Presence::if_set) return;
    if constexpr (Listed<Inner>)
      read_fields(json, place, to.emplace());
    else if (!read_plain(json, rule, to.emplace()))
      refuse();
  } else if constexpr (is_vector<Value>) {
    if (!json.is_array()) refuse();
    to.clear();
    to.reserve(json.size());
    for (const Json& item : json) {
      to.emplace_back();
      read_fields(item, place.at(to.size() - 1), to.back());
    }
  } else if constexpr (is_map<Value>) {
    if (!json.is_object()) refuse();
    to.clear();
    for (const auto& [key, item] : json.items()) read_fields(item, place.at(key), to[key]);
  } else if (!read_plain(json, rule, to)) {
    refuse();
  }
}

template <class List, class Object>
void read_list(const List& list, const Json& json, const JsonPlace& place, Object& to) {
  if (!json.is_object()) refuse_value(place, json, {{"type", "object"}});
  for_each_field(list, [&]<class Item>(const Item& item) {
    if constexpr (requires { item.name; }) {
      const auto found = json.find(item.name);
      if constexpr (requires { item.rule; })
        if (found == json.end() && item.rule.presence != Presence::required) return;
      if (found == json.end()) refuse_missing(place, item.name);
      const JsonPlace at = place.at(item.name);
      if constexpr (requires { item.list; }) {
        read_list(item.list, *found, at, to);
      } else if constexpr (requires { item.member; }) {
        read_fields(*found, at, to.*item.member, item.rule);
      } else if constexpr (requires { typename Item::ValueType; }) {
        typename Item::ValueType checked{};
        read_fields(*found, at, checked, item.rule);
      } else if (*found != item.value) {
        refuse_value(at, *found, {{"const", item.value}});
      }
    }
  });
}

// --- beyond them ---------------------------------------------------------------------------------

template <class... Args>
[[noreturn]] void refuse_document(const std::string& origin, fmt::format_string<Args...> what,
                                  Args&&... args) {
  fail(ExitCode::document_malformed, "{}: {}", origin,
       fmt::format(what, std::forward<Args>(args)...));
}

/// A replay's entries carry its mark and a measurement's do not, so that changing the one word that
/// says where a document comes from changes nothing.
void take_replay_marks(Document& document, const std::string& origin) {
  const bool replay = document.source == Source::replay;
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    std::string& name = document.entries[i].name;
    if (name.starts_with(keys::replay_prefix) != replay) {
      refuse_document(
          origin,
          "/benchmarks/{}/name is {}, but /context/fathom/source is {}: names begin with {} in "
          "a replay and only there; take the file as it was written.",
          i, name, to_string(document.source), keys::replay_prefix);
    }
    if (replay) name.erase(0, keys::replay_prefix.size());
  }
}

/// What the schema cannot say of facts: each has its own id, and a value or a reason for none.
void check_facts(const std::vector<Fact>& facts, const std::string& origin) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const char* fault = nullptr;
    if (facts[i].value.has_value() != facts[i].reason.empty())
      fault = "reason does not fit; expected: an empty string exactly where there is a value";
    if (!ids.insert(facts[i].id).second)
      fault = "id is that of an earlier fact; expected: one of its own";
    if (fault)
      refuse_document(origin, "/fathom/facts/{}/{}. Take the file as it was written.", i, fault);
  }
}

/// What a view of its kind is made of, where it lacks some of that; else null.
const char* lacking(const View& view) {
  using enum View::Kind;
  if (view.kind == heat_map && (view.y_axis.empty() || view.x.empty())) return "x or y_axis";
  if (view.kind == roofline && (view.x.empty() || view.work.empty() || view.memory.empty()))
    return "x, work or memory";
  return view.kind == steps && view.x.empty() ? "x" : nullptr;
}

/// What the schema cannot say of views.
void check_views(const std::vector<ProbeSummary>& probes, const std::string& origin) {
  for (std::size_t p = 0; p < probes.size(); ++p)
    for (std::size_t v = 0; v < probes[p].views.size(); ++v)
      if (const char* what = lacking(probes[p].views[v]))
        refuse_document(origin,
                        "/fathom/probes/{}/views/{} of kind {} lacks {}. Take the file as it was "
                        "written.",
                        p, v, to_string(probes[p].views[v].kind), what);
}

void check_version(const Json& json, const std::string& origin) {
  const Json::json_pointer own("/context/fathom"), version = own / "schema_version";
  if (!json.contains(own)) {
    refuse_document(origin,
                    "is no result document: it has no {}, which Google Benchmark's own files lack "
                    "too; give the result.json of a run.",
                    own.to_string());
  }
  if (json.contains(version) && json[version].is_number_integer() &&
      json[version] != schema_version) {
    fail(ExitCode::document_version,
         "{}: is a result document of schema version {}, and this Fathom reads version {}: use the "
         "Fathom that wrote it, or measure again.",
         origin, json[version].dump(), schema_version);
  }
}

}  // namespace

Document document_of_fields(const Json& json, const std::string& origin) {
  check_version(json, origin);
  Document document;
  read_fields(json, {&origin}, document);
  return document;
}

Fingerprint fingerprint_from_json(const Json& json, const std::string& origin) {
  Fingerprint fingerprint;
  read_fields(json, {&origin}, fingerprint);
  return fingerprint;
}

Document from_json(const Json& json, const std::string& origin) {
  Document document = document_of_fields(json, origin);
  if (!document.date.empty() && !is_utc_time(document.date))
    refuse_document(
        origin, "/context/date is \"{}\"; expected: a time in UTC, as \"2026-01-31T12:00:00Z\".",
        quotable(document.date));
  check_facts(document.facts, origin);
  check_views(document.probes, origin);
  take_replay_marks(document, origin);
  return document;
}

}  // namespace fathom
