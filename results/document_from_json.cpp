#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "results/clean_text.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/fail.h"
#include "results/names.h"
#include "results/read_fields.h"
#include "results/utc_time.h"

namespace fathom {

namespace {

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

void check_version(simdjson::dom::element json, const std::string& origin) {
  simdjson::dom::element own;
  if (json.at_pointer("/context/fathom").get(own) != simdjson::SUCCESS)
    refuse_document(origin,
                    "is no result document: it has no /context/fathom, which Google Benchmark's "
                    "own files lack too; give the result.json of a run.");
  std::int64_t version = schema_version;
  if (own.at_pointer("/schema_version").get(version) == simdjson::SUCCESS &&
      version != schema_version)
    fail(ExitCode::document_version,
         "{}: is a result document of schema version {}, and this Fathom reads version {}: use the "
         "Fathom that wrote it, or measure again.",
         origin, version, schema_version);
}

}  // namespace

Document document_of_fields(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  check_version(json.root(), origin);
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
