#include <fmt/format.h>

#include <cmath>
#include <map>
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
/// the fields that a row has: no counter may take such a name.
const std::set<std::string> google_benchmark_fields{
    "aggregate_name",  "aggregate_unit", "error_occurred", "error_message", "skipped",
    "skip_message",    "label",          "big_o",          "rms",           "cpu_coefficient",
    "real_coefficient"};

/// Other programs see in every name that nothing was measured.
void mark_replay(OrderedJson& row) {
  for (const char* key : {"name", "run_name"})
    row[key] = keys::replay_prefix + row[key].get<std::string>();
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
    } else if constexpr (is_optional<Value>) {
      schema = of<typename Value::value_type>(rule);
      if (rule.presence == Presence::if_set) return schema;
      if (!schema.contains("type")) return {{"anyOf", {{{"type", "null"}}, schema}}};
      schema["type"] = Json::array({schema["type"], "null"});
      return schema;
    } else if constexpr (is_vector<Value>) {
      schema["type"] = "array";
      schema["items"] = of<typename Value::value_type>();
    } else if constexpr (is_map<Value>) {
      schema["type"] = "object";
      schema["additionalProperties"] = of<typename Value::mapped_type>();
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
      add_limit(schema, "minimum", limits.least);
      add_limit(schema, "exclusiveMinimum", limits.above);
      add_limit(schema, "maximum", limits.most);
    }
    if (rule.not_empty) schema["minLength"] = 1;
    if (*rule.about != 0) schema["description"] = rule.about;
    return schema;
  }

  template <class List>
  Json of_list(const List& list) {
    Json schema{{"type", "object"}, {"description", list.about}};
    Json required = Json::array(), properties = Json::object();
    for_each_field(list, [&]<class Item>(const Item& item) {
      if constexpr (requires { item.list; }) {
        required.push_back(item.name);
        properties[item.name] = of_list(item.list);
      } else if constexpr (requires { item.rule; }) {
        if (item.rule.presence == Presence::required) required.push_back(item.name);
        if constexpr (requires { typename Item::ValueType; })
          properties[item.name] = of<typename Item::ValueType>(item.rule);
        else
          properties[item.name] = of_constant(item);
      }
    });
    schema["required"] = std::move(required);
    schema["properties"] = std::move(properties);
    const std::string name = list.name;
    if (name.empty()) return schema;
    definitions[name] = std::move(schema);
    return {{"$ref", "#/definitions/" + name}};
  }

 private:
  static void add_limit(Json& schema, const char* keyword, double limit) {
    if (std::isfinite(limit)) schema[keyword] = static_cast<std::int64_t>(limit);
  }

  static Json of_constant(const auto& constant) {
    Json schema{{"const", constant.value}};
    if (*constant.rule.about != 0) schema["description"] = constant.rule.about;
    return schema;
  }
};

}  // namespace

void add_numbers(const Entry&, OrderedJson& row) {
  // The whole document says which.
  for (const char* key : {"family_index", "per_family_instance_index"}) row[key] = 0;
}

void add_error(const Entry& entry, OrderedJson& row) {
  const Verdict& verdict = entry.verdict;
  if (verdict.status != VerdictStatus::failed && verdict.status != VerdictStatus::wrong_output)
    return;
  row["error_occurred"] = true;
  row["error_message"] = verdict.reasons.empty() ? "" : verdict.reasons.front();
}

/// Beside the entry's fields, as Google Benchmark's readers find them.
void add_user_counters(const Entry& entry, OrderedJson& row) {
  const auto add = [&](const std::string& name, double value) {
    const bool ours_or_theirs = name == keys::own || google_benchmark_fields.contains(name);
    if (!ours_or_theirs && !row.contains(name)) row[name] = value;
  };
  if (entry.metric.value) add(entry.metric.name, *entry.metric.value);
  for (const auto& [name, value] : entry.extras) add(name, value);
  for (const Counter& c : entry.counters)
    if (c.value) add(c.role, *c.value);
}

void add_host(const Document&, OrderedJson& context) {
  context["host_name"] = "withheld";  // results get published
}

void add_caches(const Document&, OrderedJson& context) {
  for (const char* key : {"caches", "load_avg"}) context[key] = OrderedJson::array();
}

OrderedJson to_json(const Document& document) {
  OrderedJson json = write_fields(document);
  // As Google Benchmark numbers its entries: one family per probe, one instance per case.
  std::map<std::string, std::size_t> families;
  std::map<std::string, std::map<std::string, std::size_t>> instances;
  const auto index_in = [](auto& known, const std::string& name) {
    return known.emplace(name, known.size()).first->second;
  };
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    OrderedJson& row = json["benchmarks"][i];
    const Entry& entry = document.entries[i];
    row["family_index"] = index_in(families, entry.probe);
    row["per_family_instance_index"] = index_in(instances[entry.probe], entry.name);
    if (document.source == Source::replay) mark_replay(row);
  }
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
