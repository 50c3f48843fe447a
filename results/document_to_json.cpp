#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/names.h"
#include "results/write_fields.h"

namespace fathom {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What Google Benchmark's readers give a meaning (its json_reporter.cc and tools/gbench) beside
/// the fields that a row has, and Fathom's own: no counter may take such a name.
const std::set<std::string> taken_names{
    "aggregate_name", "aggregate_unit", "error_occurred",  "error_message",    "skipped", "label",
    "skip_message",   "big_o",          "cpu_coefficient", "real_coefficient", "rms",     "fathom"};

/// What Google Benchmark's readers look for in a row beside the entry's fields, which stand before
/// Fathom's own.
void complete_row(const Entry& entry, bool replay, OrderedJson& row) {
  OrderedJson own = std::move(row[keys::own]);
  row.erase(keys::own);
  // Other programs see in every name that nothing was measured.
  if (replay) row["name"] = keys::replay_prefix + entry.name;
  row.update({{"run_name", row["name"]},
              {"run_type", "iteration"},
              {"threads", 1},
              {"real_time", entry.real_time_s * 1e9},
              {"cpu_time", entry.cpu_time_s * 1e9},
              {"time_unit", "ns"}});
  const Verdict& verdict = entry.verdict;
  if (verdict.status == VerdictStatus::failed || verdict.status == VerdictStatus::wrong_output)
    row.update({{"error_occurred", true},
                {"error_message", verdict.reasons.empty() ? "" : verdict.reasons.front()}});
  const auto add = [&](const std::string& name, double value) {
    if (!taken_names.contains(name) && !row.contains(name)) row[name] = value;
  };
  if (entry.metric.value) add(entry.metric.name, *entry.metric.value);
  for (const auto& [name, value] : entry.extras) add(name, value);
  for (const Counter& c : entry.counters)
    if (c.value) add(c.role, *c.value);
  row[keys::own] = std::move(own);
}

/// The path of the first number that is not finite, below `json`; nothing if all are.
std::optional<std::string> find_not_finite(const OrderedJson& json) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) return "";
  if (!json.is_structured()) return std::nullopt;
  std::size_t index = 0;
  for (auto item = json.begin(); item != json.end(); ++item, ++index)
    if (const auto rest = find_not_finite(*item))
      return fmt::format("/{}{}", json.is_object() ? item.key() : std::to_string(index), *rest);
  return std::nullopt;
}

/// The JSON Schema of fields; those of lists that have a name are in `definitions`.
class SchemaOfFields {
 public:
  using Json = OrderedJson;
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
      const FieldRule limits = within_type<Value>(rule);
      for (const auto& [keyword, limit] : {std::pair{"minimum", limits.least},
                                           {"exclusiveMinimum", limits.above},
                                           {"maximum", limits.most}})
        if (std::isfinite(limit)) schema[keyword] = static_cast<std::int64_t>(limit);
    }
    if (rule.not_empty) schema["minLength"] = 1;
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
        properties[item.name] = of<typename Item::ValueType>(item.rule);
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

}  // namespace

OrderedJson to_json(const Document& document) {
  OrderedJson json = write_fields(document);
  json["context"].update({{"host_name", "withheld"},  // results get published
                          {"caches", OrderedJson::array()},
                          {"load_avg", OrderedJson::array()},
                          {"json_schema_version", 1}});  // Google Benchmark's
  for (std::size_t i = 0; i < document.entries.size(); ++i)
    complete_row(document.entries[i], document.source == Source::replay, json["benchmarks"][i]);
  if (const auto path = find_not_finite(json)) {
    fail(ExitCode::document_malformed,
         "The result cannot be written: {} is NaN or infinite; correct what computed it.", *path);
  }
  return json;
}

OrderedJson to_json(const Fingerprint& fingerprint) { return write_fields(fingerprint); }

OrderedJson document_schema() {
  SchemaOfFields schema;
  OrderedJson json{{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", fmt::format("Result document of Fathom, version {}", schema_version)}};
  json.update(schema.of<Document>());
  json["definitions"] = std::move(schema.definitions);
  return json;
}

}  // namespace fathom
