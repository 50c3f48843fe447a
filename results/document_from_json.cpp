#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/read_fields.h"

namespace fathom {

namespace {

/// A replay's entries carry its mark and a measurement's do not, so that changing the one word that
/// says where a document comes from changes nothing.
void take_replay_marks(Document& document, const Place& entries) {
  const bool replay = document.source == Source::replay;
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    std::string& name = document.entries[i].name;
    if (name.starts_with(keys::replay_prefix) != replay)
      entries.at(i).at("name").refuse(fmt::format(
          "is {}, but /context/fathom/source is {}: names begin with {} in a replay and only "
          "there; take the file as it was written",
          quotable(name), to_string(document.source), keys::replay_prefix));
    if (replay) name.erase(0, keys::replay_prefix.size());
  }
}

/// What the schema cannot say of facts: each has its own id, and a value or a reason for none.
void check_facts(const std::vector<Fact>& facts, const Place& place) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].value.has_value() != facts[i].reason.empty())
      place.at(i).at("reason").refuse(
          "does not fit; expected: an empty string exactly where there is a value");
    if (!ids.insert(facts[i].id).second)
      place.at(i).at("id").refuse("is that of an earlier fact; expected: one of its own");
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
void check_views(const std::vector<ProbeSummary>& probes, const Place& place) {
  for (std::size_t p = 0; p < probes.size(); ++p)
    for (std::size_t v = 0; v < probes[p].views.size(); ++v)
      if (const char* what = lacking(probes[p].views[v]))
        place.at(p).at("views").at(v).refuse(
            fmt::format("of kind {} lacks {}", to_string(probes[p].views[v].kind), what));
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

}  // namespace

Document document_of_fields(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  check_version(json.root(), {&origin});
  Document document;
  read_fields(json.root(), {&origin}, {}, document);
  return document;
}

Fingerprint fingerprint_from_json(const nlohmann::json& json, const std::string& origin) {
  Fingerprint fingerprint;
  read_fields(ParsedJson(json.dump(), origin).root(), {&origin}, {}, fingerprint);
  return fingerprint;
}

Document parse_document(std::string_view text, const std::string& origin) {
  Document document = document_of_fields(text, origin);
  const Place place{&origin}, own = place.at("fathom");
  if (!document.date.empty()) date_of(document.date, place.at("context").at("date"));
  check_facts(document.facts, own.at("facts"));
  check_views(document.probes, own.at("probes"));
  take_replay_marks(document, place.at("benchmarks"));
  return document;
}

}  // namespace fathom
