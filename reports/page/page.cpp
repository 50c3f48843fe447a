#include "reports/page/page.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "models/shared_memory.h"
#include "reports/compare.h"
#include "reports/page/explained.h"
#include "reports/report.h"
#include "reports/sections.h"
#include "results/document_fields.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/fields.h"
#include "results/files.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom {

FATHOM_FIELDS(reports::CardFigure, "", "", name, entry, unit, value, usual, limit, gap, cards, low,
              causes);

namespace reports {

std::optional<nlohmann::json> read_explained(std::string_view text, const std::string& origin) {
  constexpr std::string_view any_version = "fathom explain ";
  // A result document of megabytes is not parsed for it.
  if (text.find(fmt::format("\"{}", any_version)) == text.npos) return std::nullopt;
  nlohmann::json answer = parse_strict_json(text, origin, "a document of Fathom");
  const auto format = answer.find("format");
  if (format == answer.end() || !format->is_string()) return std::nullopt;
  const std::string version = *format;
  if (!version.starts_with(any_version)) return std::nullopt;
  if (version != explain::answer_format)
    fail(
        ExitCode::document_version,
        "{}: is an answer of another version, \"{}\", and this Fathom reads \"{}\": use the Fathom "
        "that wrote it, or explain again.",
        origin, quotable(version), explain::answer_format);
  explain::Explanation checked;
  read_fields(ParsedJson(text, origin).root(), {&origin}, {}, checked);
  answer["origin"] = origin;
  return answer;
}

namespace {

using Json = nlohmann::ordered_json;

// Absent rather than null: most entries lack most of it, and the page reads both alike.
template <typename T>
void put(Json& object, const char* key, const T& value) {
  if (!value.empty()) object[key] = value;
}
template <typename T>
void put(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

Json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {interval->low, interval->high, interval->confidence};
}

Json to_json(const Axes& axes) {
  Json out = Json::object();
  for (const auto& [name, value] : axes) out[name] = write_fields(value);
  return out;
}

/// Names of counters once for a document: role, metric and unit, which an entry gives by number.
class CounterNames {
 public:
  std::size_t number(const Counter& counter) {
    const auto [at, is_new] =
        numbers_.try_emplace(counter.role + "\n" + counter.metric, numbers_.size());
    if (is_new) names_.push_back({counter.role, counter.metric, counter.unit});
    return at->second;
  }
  const Json& names() const { return names_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json names_ = Json::array();
};

Json to_json(const std::vector<Counter>& counters, CounterNames& names) {
  Json out = Json::array();
  for (const Counter& counter : counters) {
    Json one{names.number(counter)};
    one.push_back(counter.value ? Json(*counter.value) : Json(counter.reason));
    if (counter.expected) one.push_back(*counter.expected);
    out.push_back(one);
  }
  return out;
}

Json to_json(const Entry& entry, CounterNames& names) {
  Json out{{"name", entry.name}, {"probe", entry.probe}, {"axes", to_json(entry.axes)}};
  out["metric"] = {entry.metric.name, entry.metric.unit, to_string(entry.metric.better)};
  put(out, "value", entry.metric.value);
  if (entry.interval) out["interval"] = to_json(entry.interval);
  if (entry.verdict.status != VerdictStatus::ok) out["status"] = to_string(entry.verdict.status);
  put(out, "reasons", entry.verdict.reasons);
  if (entry.bound) out["bound"] = {entry.bound->value, entry.bound->source};
  if (entry.expected)
    out["expected"] = {entry.expected->value, entry.expected->tolerance, entry.expected->model};
  put(out, "extras", entry.extras);
  put(out, "notes", entry.notes);
  if (!entry.counters.empty()) out["counters"] = to_json(entry.counters, names);
  for (const Opponent& opponent : entry.opponents) {
    Json one{{"name", opponent.name}};
    put(one, "value", opponent.value);
    put(one, "ratio", opponent.ratio);
    if (opponent.ratio_interval) one["interval"] = to_json(opponent.ratio_interval);
    out["opponents"].push_back(one);
  }
  // A profile is as long as its entry's sweep is wide: only those that are drawn are in the page,
  // as exact as a colour.
  if (entry.profile && (entry.profile->axis == "L2 line" || entry.profile->axis == "other SM")) {
    const double scale = entry.profile->axis == "L2 line" ? 1 : 10;
    Json values = Json::array();
    for (const double value : entry.profile->values)
      values.push_back(std::round(value * scale) / scale);
    out["profile"] = {{"axis", entry.profile->axis}, {"unit", entry.profile->unit}};
    out["profile"]["values"] = values;
  }
  out["time"] = entry.real_time_s;
  put(out, "measuredClock", entry.timing.sm_clock_hz);
  put(out, "clock", entry.telemetry.sm_clock_hz.median);
  put(out, "power", entry.telemetry.power_w.median);
  put(out, "throttle", entry.telemetry.throttle_reasons);
  out["samples"] = entry.samples.size();
  const Timing& timing = entry.timing;
  put(out, "mode", timing.mode);
  put(out, "timer", timing.timer);
  if (timing.launches_per_sample != 1) out["launches"] = timing.launches_per_sample;
  if (timing.rest > 0) out["rest"] = *timing.rest;
  put(out, "stop", timing.stop);
  put(out, "unchecked", entry.verdict.unchecked);
  return out;
}

Json to_json(const Fact& fact) {
  Json out{{"id", fact.id}, {"subject", fact.subject}, {"quantity", fact.quantity}};
  out["unit"] = fact.unit;
  out["better"] = to_string(fact.better);
  put(out, "value", fact.value);
  if (fact.interval) out["interval"] = to_json(fact.interval);
  put(out, "method", fact.method);
  put(out, "reason", fact.reason);
  put(out, "evidence", fact.evidence);
  if (fact.published) out["published"] = {fact.published->value, fact.published->source};
  if (fact.bound) out["bound"] = {fact.bound->value, fact.bound->source};
  out["probe"] = fact.probe;
  return out;
}

Json machine(const Fingerprint& gpu) {
  Json out = Json::object();
  for (const MachineProperty& property : machine_properties(gpu))
    put(out, property.name.c_str(), property.text);
  return out;
}

/// Probes with their views, and claims, as the document has them on disk.
Json own_parts(const Document& document) {
  Document bare;
  bare.probes = document.probes;
  bare.claims = document.claims;
  Json own = fathom::to_json(bare)["fathom"];
  for (Json& probe : own["probes"])
    for (Json& view : probe["views"])
      for (auto field = view.begin(); field != view.end();)
        field = field->empty() || *field == "" ? view.erase(field) : std::next(field);
  return own;
}

Json to_json(const CardCheck& card) {
  return {{"state", to_string(card.state)},
          {"sentence", card_sentence(card)},
          {"figures", write_fields(card.figures)}};
}

Json to_json(const ShownDocument& shown) {
  const Document& document = *shown.document;
  Json out{{"file", shown.file}, {"date", document.date}, {"suite", document.suite}};
  out["source"] = to_string(document.source);
  out["version"] = document.fathom_version + " " + document.fathom_commit;
  out["machine"] = machine(document.fingerprint);
  if (shown.card) out["card"] = to_json(*shown.card);
  out["warnings"] = document.warnings;
  const Json own = own_parts(document);
  out["probes"] = own["probes"];
  out["bounds"] = Json::array();
  for (const DeviceBound& bound : document.bounds)
    out["bounds"].push_back({bound.name, bound.unit, bound.value, bound.source});
  CounterNames names;
  out["entries"] = Json::array();
  for (const Entry& entry : document.entries) out["entries"].push_back(to_json(entry, names));
  out["counters"] = names.names();
  out["facts"] = Json::array();
  for (const Fact& fact : document.facts) out["facts"].push_back(to_json(fact));
  out["claims"] = own["claims"];
  return out;
}

/// The headlines, and of each probe what differs most by more than noise.
Json to_json(const Comparison& comparison) {
  constexpr int most = 5;
  std::size_t differ = 0;
  std::map<std::string, int> further;
  Json out{{"figures", Json::array()}, {"machine", Json::array()}};
  for (const ComparedFigure& f : comparison.figures) {
    const bool differs = f.outcome == Outcome::differs;
    differ += differs;
    if (!f.a || !f.b) continue;
    if (!f.headline && (!differs || f.in_fact || ++further[f.probe] > most)) continue;
    Json one{{"name", f.name}, {"title", f.title}, {"unit", f.unit}};
    one.update({{"a", f.a->value}, {"b", f.b->value}, {"noisy", f.noisy()}});
    put(one, "ratio", f.ratio);
    one["interval"] = to_json(f.ratio_interval);
    one["finding"] = differs                           ? (f.better_in_b() ? "B better" : "A better")
                     : f.outcome == Outcome::undecided ? "undecided"
                                                       : "no difference";
    out["figures"].push_back(one);
  }
  for (const ChangedText& change : comparison.machine)
    out["machine"].push_back({change.name, change.a, change.b});
  out["differ"] = differ;
  out["all"] = comparison.figures.size();
  return out;
}

/// Each document with the next one of its suite.
Json comparisons(const std::vector<ShownDocument>& documents) {
  Json out = Json::array();
  for (std::size_t a = 0; a < documents.size(); ++a)
    for (std::size_t b = a + 1; b < documents.size(); ++b) {
      const Document &one = *documents[a].document, &other = *documents[b].document;
      if (one.suite != other.suite) continue;
      try {
        out.push_back(to_json(compare(one, other, documents[a].file, documents[b].file)));
        out.back().update({{"a", a}, {"b", b}});
      } catch (const Error&) {
        // No figure in common.
      }
      break;
    }
  return out;
}

Json sources() {
  Json out = Json::object();
  constexpr std::string_view mark = "//// ";
  std::string_view rest = ladder_sources();
  while (rest.starts_with(mark)) {
    const std::size_t line = rest.find('\n');
    const std::size_t next = rest.find("\n//// ", line);
    const std::string name(rest.substr(mark.size(), line - mark.size()));
    const std::size_t length = next == rest.npos ? rest.npos : next - line;
    out[name] = rest.substr(line + 1, length);
    rest = next == rest.npos ? std::string_view{} : rest.substr(next + 1);
  }
  return out;
}

/// The model's wavefronts, conflicts, clocks and lanes that are served together for lane i at word
/// `i * words`, by what is done, the width in bytes and the words: "load 4 33".
Json warps() {
  constexpr int most_words = 68;  // a row of 64 words and four of padding
  Json out = Json::object();
  for (const auto& [op, name] :
       {std::pair{models::Access::load, "load"}, std::pair{models::Access::store, "store"}})
    for (const int width : {4, 8, 16})
      for (int words = 0; words <= most_words; words += width / 4) {
        const auto told = models::explain_shared(
            models::strided(op, width, static_cast<std::uint64_t>(words) * 4));
        Json& one = out[fmt::format("{} {} {}", name, width, words)];
        one = {told.cost.wavefronts, told.cost.conflicts, told.cost.clocks, told.group_lanes};
      }
  return out;
}

}  // namespace

std::string page_data(const std::vector<ShownDocument>& documents, const Explained& explained) {
  Json out{{"documents", Json::array()}, {"sources", sources()}, {"warps", warps()}};
  out["lessons"] = lessons_page();
  out["same_speed"] = same_speed_sentence();
  for (const ShownDocument& shown : documents) out["documents"].push_back(to_json(shown));
  out["comparisons"] = comparisons(documents);
  out["explained"] = explained;
  const std::string plain = out.dump(-1, ' ', false, Json::error_handler_t::replace);
  // A text with "</script>" or "<!--" would end the page's own script: JSON can do without the
  // sign.
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

std::string html_page(const std::vector<ShownDocument>& documents, const Explained& explained) {
  return fmt::format(fmt::runtime(page_template()), fmt::arg("style", page_style()),
                     fmt::arg("library", chart_library()),
                     fmt::arg("data", page_data(documents, explained)),
                     fmt::arg("script", page_script()));
}

void publish(const Document& document, const std::filesystem::path& folder, const std::string& name,
             const std::optional<CardCheck>& card) {
  const ReportPaths paths = write_report(document, folder, name, card ? &*card : nullptr);
  const bool colour = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  print_out(terminal_summary(document, colour, card ? &*card : nullptr) + "\n");
  const auto say = [](const char* what, const std::filesystem::path& path) {
    print_line(
        fmt::format("{}: {}", what, std::filesystem::absolute(path).lexically_normal().string()));
  };
  say("Report", paths.readme);
  if (!paths.atlas.empty()) say("Atlas", paths.atlas);
  for (const auto& page : paths.pages) say("Page", page);
  const auto html = folder / "index.html";
  write_file_atomically(html, html_page({{&document, name, card}}, {}));
  say("Explore", html);
}

}  // namespace reports
}  // namespace fathom
