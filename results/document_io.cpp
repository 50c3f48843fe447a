#include "results/document_io.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "results/document_fields.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_quoted = 200;

/// What Google Benchmark's readers look for in a row beside the entry's fields, which stand before
/// Fathom's own.
void complete_row(const Entry& entry, bool replay, OrderedJson& row) {
  OrderedJson own = std::move(row["fathom"]);
  row.erase("fathom");
  // Other programs see in every name that nothing was measured.
  if (replay) row["name"] = replay_prefix + entry.name;
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
    if (name != "fathom" && !row.contains(name)) row[name] = value;
  };
  if (entry.metric.value) add(entry.metric.name, *entry.metric.value);
  for (const auto& [name, value] : entry.extras) add(name, value);
  for (const Counter& c : entry.counters)
    if (c.value) add(c.role, *c.value);
  row["fathom"] = std::move(own);
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

std::string one_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// As the library's own layout, but lists of plain values on one line: samples are many, and one
/// per line would bury everything else. `line` begins the value's own line.
void append_text(const OrderedJson& value, const std::string& line, std::string& out) {
  const bool is_object = value.is_object();
  const auto is_deep = [](const auto& item) { return item.is_structured(); };
  if (value.empty() || (!is_object && std::none_of(value.begin(), value.end(), is_deep))) {
    out += one_line(value);
    return;
  }
  const char* before = is_object ? "{" : "[";
  for (auto item = value.begin(); item != value.end(); ++item, before = ",") {
    out += before + line + "  ";
    if (is_object) out += one_line(item.key()) + ": ";
    append_text(*item, line + "  ", out);
  }
  out += line + (is_object ? "}" : "]");
}

/// A replay's entries carry its mark and a measurement's do not, so that changing the one word that
/// says where a document comes from changes nothing.
void take_replay_marks(Document& document, const Place& entries) {
  const bool replay = document.source == Source::replay;
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    std::string& name = document.entries[i].name;
    if (name.starts_with(replay_prefix) != replay)
      entries.at(i).at("name").refuse(fmt::format(
          "is {}, but /context/fathom/source is {}: names begin with {} in a replay and only "
          "there; take the file as it was written",
          quotable(name), to_string(document.source), replay_prefix));
    if (replay) name.erase(0, replay_prefix.size());
  }
}

void check_version(simdjson::dom::element json, const Place& document) {
  simdjson::dom::element own;
  if (json.at_pointer("/context/fathom").get(own) != simdjson::SUCCESS)
    fail(ExitCode::document_malformed,
         "{}: is no result document: it has no /context/fathom, which Google Benchmark's own files "
         "lack too; give the result.json of a run.",
         *document.origin);
  const Place context = document.at("context");
  require_version(Fields(own, context.at("fathom")), "schema_version", schema_version,
                  "the schema of results");
}

/// What the parts of one run share.
OrderedJson identity_of(const Document& part) {
  OrderedJson run = write_list(run_part, part);
  run.update(OrderedJson(run["fingerprint"]));
  for (const char* other : {"fingerprint", "elapsed_s", "bounds", "warnings", "notes"})
    run.erase(other);
  return run;
}

void require_same_run(const Document& run, const Document& part) {
  const OrderedJson expected = identity_of(run), other = identity_of(part);
  std::vector<std::string> found;
  for (const auto& [name, value] : expected.items())
    if (other[name] != value)
      found.push_back(fmt::format("{}: {} and {}", name, value.dump(), other[name].dump()));
  if (!found.empty())
    fail(ExitCode::bad_input,
         "Parts of different runs cannot be merged: that of {} differs from those before in {}; "
         "merge parts of one run only.",
         part.probes.empty() ? part.executable : part.probes.front().name, fmt::join(found, ", "));
}

/// Appends those whose key is not there yet.
template <typename Item, typename Key = std::identity>
void unite(std::vector<Item>& to, const std::vector<Item>& from, Key key = {}) {
  for (const Item& item : from)
    if (std::ranges::find(to, std::invoke(key, item), key) == to.end()) to.push_back(item);
}

}  // namespace

std::string Place::path() const {
  const std::string before = parent ? parent->path() : "";
  if (index) return fmt::format("{}/{}", before, *index);
  return parent ? before + "/" + quotable(key) : before;
}

void Place::refuse(const std::string& what) const {
  const std::string where = path();
  fail(ExitCode::document_malformed, "{}: {} {}.", *origin, where.empty() ? "the document" : where,
       what);
}

void refuse_kind(dom::element value, const Place& place, const char* expected) {
  const char* kind = value.is_array()    ? "an array"
                     : value.is_object() ? "an object"
                     : value.is_string() ? "a string"
                     : value.is_bool()   ? "true or false"
                     : value.is_null()   ? "null"
                                         : "a number";
  place.refuse(fmt::format("is {}; expected: {}", kind, expected));
}

Fields::Fields(dom::element value, const Place& place)
    : place_(place), members_(typed<dom::object>(value, place, "an object")) {
  std::vector<std::string_view> keys;
  for (const auto& [key, member] : members_) keys.push_back(key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice != keys.end())
    place.refuse(fmt::format("has the key \"{}\" twice; each may be there once", quotable(*twice)));
}

std::optional<dom::element> Fields::find(std::string_view key) const {
  dom::element found;
  return members_.at_key(key).get(found) == simdjson::SUCCESS ? std::optional(found) : std::nullopt;
}

dom::element Fields::member(std::string_view key) const {
  const auto found = find(key);
  if (!found) place_.refuse(fmt::format("has no member \"{}\", which was expected", key));
  return *found;
}

void require_version(const Fields& own, std::string_view key, int expected, const char* what) {
  if (const double version = own.number(key); version != expected)
    fail(ExitCode::document_version,
         "{}: is of version {} of {}, and this Fathom reads version {}: use the Fathom that wrote "
         "it, or measure again.",
         *own.place().origin, version, what, expected);
}

std::string date_of(std::string text, const Place& place) {
  if (!parse_utc_time(text))
    place.refuse(fmt::format("is \"{}\"; expected: a time in UTC, as \"2026-01-31T12:00:00Z\"",
                             quotable(text)));
  return text;
}

ParsedJson::ParsedJson(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  text = without_byte_order_mark(text);
  auto problem = parser_.allocate(std::max<std::size_t>(text.size(), 64), max_depth);
  if (problem == simdjson::SUCCESS) problem = parser_.parse(text.data(), text.size()).get(root_);
  if (problem == simdjson::SUCCESS) return;
  if (problem == simdjson::MEMALLOC)
    fail(ExitCode::document_malformed, "{}: there is too little memory to read its {} bytes.",
         origin, text.size());
  if (problem == simdjson::EMPTY)
    fail(ExitCode::document_malformed, "{}: is empty; {} (JSON) was expected.", origin, expected);
  if (problem == simdjson::DEPTH_ERROR)
    fail(ExitCode::document_malformed,
         "{}: nests deeper than {} levels, deeper than any file of Fathom's: give {}.", origin,
         max_depth, expected);
  // The slower parser knows the place of the fault, and keeps nothing here.
  parser_ = dom::parser();  // its memory is not needed beside the other's
  std::string fault = "a number that no result has";
  try {
    [[maybe_unused]] const Json nothing = Json::parse(
        text.begin(), text.end(), [](int, Json::parse_event_t, Json&) { return false; });
  } catch (const Json::exception& error) {
    fault = error.what();
    fault.erase(0, fault.find("] ") + 2);  // the exception's class
  }
  fail(ExitCode::document_malformed, "{}: is not JSON: {}; it may be truncated, or not {}.", origin,
       quotable(fault, max_quoted), expected);
}

Json parse_strict_json(std::string_view text, const std::string& origin,
                       const std::string& expected) {
  (void)ParsedJson(text, origin, expected);
  return Json::parse(text);
}

OrderedJson to_json(const Document& document) {
  OrderedJson json = write_fields(document);
  json["context"].update({{"host_name", "withheld"},  // results get published
                          {"caches", OrderedJson::array()},
                          {"load_avg", OrderedJson::array()},
                          {"json_schema_version", 1}});  // Google Benchmark's
  for (std::size_t i = 0; i < document.entries.size(); ++i)
    complete_row(document.entries[i], document.source == Source::replay, json["benchmarks"][i]);
  if (const auto path = find_not_finite(json))
    fail(ExitCode::document_malformed,
         "The result cannot be written: {} is NaN or infinite; correct what computed it.", *path);
  return json;
}

OrderedJson to_json(const Fingerprint& fingerprint) { return write_fields(fingerprint); }

std::string to_text(const OrderedJson& json) {
  std::string text;
  append_text(json, "\n", text);
  text += '\n';
  return text;
}

std::string to_text(const Document& document) { return to_text(to_json(document)); }

Document parse_document(std::string_view text, const std::string& origin) {
  return parse_document(ParsedJson(text, origin), origin);
}

Document parse_document(const ParsedJson& json, const std::string& origin) {
  const Place place{&origin};
  check_version(json.root(), place);
  Document document;
  read_fields(json.root(), place, {}, document);
  if (!document.date.empty()) date_of(document.date, place.at("context").at("date"));
  take_replay_marks(document, place.at("benchmarks"));
  return document;
}

Document read_document(const fs::path& path) {
  return parse_document(read_file_up_to(path, document_size_limit), path.string());
}

void write_document(const Document& document, const fs::path& path) {
  const std::string text = to_text(document);
  write_file_atomically(path, path.extension() == ".gz" ? gzip(text) : text);
}

void add_part(Document& run, const Document& part) {
  require_same_run(run, part);
  run.date = std::min(run.date, part.date);  // ISO 8601 in UTC sorts as text
  run.elapsed_s += part.elapsed_s;
  const auto append = [&](auto list) {
    (run.*list).insert((run.*list).end(), (part.*list).begin(), (part.*list).end());
  };
  append(&Document::entries);
  append(&Document::probes);
  append(&Document::claims);
  append(&Document::facts);
  unite(run.warnings, part.warnings);
  unite(run.notes, part.notes);
  unite(run.bounds, part.bounds, &DeviceBound::name);
}

}  // namespace fathom
