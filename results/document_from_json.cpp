#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "results/clean_text.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/document_keys.h"
#include "results/fail.h"
#include "results/read_fields.h"
#include "results/utc_time.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_document(const std::string& origin, const std::string& what) {
  fail(ExitCode::document_malformed, "{}: {}", origin, what);
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
          fmt::format("/benchmarks/{}/name is {}, but /context/fathom/source is {}: names begin "
                      "with {} in a replay and only there; take the file as it was written.",
                      i, name, to_string(document.source), keys::replay_prefix));
    }
    if (replay) name.erase(0, keys::replay_prefix.size());
  }
}

[[noreturn]] void refuse_fact(const std::string& origin, std::size_t index, const char* member,
                              const std::string& what) {
  refuse_document(origin, fmt::format("/fathom/facts/{}/{} {}. Take the file as it was written.",
                                      index, member, what));
}

/// What the schema cannot say of facts: each has its own id, and a value or a reason for none.
void check_facts(const std::vector<Fact>& facts, const std::string& origin) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!ids.insert(facts[i].id).second) {
      refuse_fact(origin, i, "id", "is that of an earlier fact; expected: one of its own");
    }
    if (facts[i].value.has_value() != facts[i].reason.empty()) {
      refuse_fact(origin, i, "reason",
                  facts[i].value ? "is there beside a value; expected: an empty string"
                                 : "is empty and there is no value; expected: why there is none");
    }
  }
}

/// What a view of its kind cannot do without, and lacks; empty: nothing.
std::string lacking(const View& view) {
  using Kind = View::Kind;
  if (view.kind == Kind::heat_map && (view.y_axis.empty() || view.x.empty())) {
    return "a heat map that lacks x or y_axis; expected: the axes of its columns and its rows";
  }
  if (view.kind == Kind::roofline && (view.x.empty() || view.work.empty() || view.memory.empty())) {
    return "a roofline that lacks x, work or memory; expected: the axis that names its points, the "
           "figure that counts FLOP, and levels of memory";
  }
  if (view.kind == Kind::steps && view.x.empty()) {
    return "of steps and lacks x; expected: the axis that names them";
  }
  return "";
}

/// What the schema cannot say of views.
void check_views(const std::vector<ProbeSummary>& probes, const std::string& origin) {
  for (std::size_t p = 0; p < probes.size(); ++p) {
    for (std::size_t v = 0; v < probes[p].views.size(); ++v) {
      const std::string what = lacking(probes[p].views[v]);
      if (what.empty()) continue;
      refuse_document(origin, fmt::format("/fathom/probes/{}/views/{} is {}. Take the file as it "
                                          "was written.",
                                          p, v, what));
    }
  }
}

void check_version(const Json& json, const std::string& origin) {
  const bool benchmarks = json.is_object() && json.contains("benchmarks");
  const bool context = json.is_object() && json.contains("context") && json["context"].is_object();
  if (!benchmarks && !context) {
    refuse_document(
        origin,
        "is JSON but no result document: it has neither \"context\" nor \"benchmarks\"; "
        "give the result.json of a run.");
  }
  if (!context || !json["context"].contains(keys::own)) {
    refuse_document(origin,
                    "is a Google Benchmark file without Fathom's part (/context/fathom): only what "
                    "Fathom wrote can be read here; give the result.json of a run.");
  }
  const Json& own = json["context"][keys::own];
  const bool versioned = own.is_object() && own.contains("schema_version") &&
                         own["schema_version"].is_number_integer();
  if (versioned && own["schema_version"] != schema_version) {
    fail(ExitCode::document_version,
         "{}: is a result document of schema version {}, and this Fathom reads version {}: use the "
         "Fathom that wrote it, or measure again.",
         origin, own["schema_version"].dump(), schema_version);
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
    refuse_document(origin, fmt::format("/context/date is \"{}\"; expected: a time in UTC, as "
                                        "\"2026-01-31T12:00:00Z\".",
                                        quotable(document.date)));
  check_facts(document.facts, origin);
  check_views(document.probes, origin);
  take_replay_marks(document, origin);
  return document;
}

}  // namespace fathom
