#include "tools/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "results/clean_text.h"
#include "results/fail.h"
#include "results/names.h"
#include "results/parse_number.h"

namespace fathom {

std::vector<ExportedFigure> exported_figures(const Document& document) {
  std::vector<ExportedFigure> figures;
  const std::string prefix = document.source == Source::replay ? keys::replay_prefix : "";
  const reports::Notes notes(document);
  for (const Fact& fact : document.facts)
    figures.push_back({prefix + fact.id, fact.unit, fact.better, fact.value, fact.interval,
                       static_cast<std::size_t>(fact.repeats), notes.is_noisy(fact.evidence),
                       fact.method, fact.reason});
  if (!document.facts.empty()) return figures;
  for (const Entry& entry : document.entries) {
    const Verdict& verdict = entry.verdict;
    ExportedFigure figure{prefix + entry.name, entry.metric.unit, entry.metric.better};
    figure.samples = entry.samples.size();
    figure.noisy = verdict.status == VerdictStatus::noisy;
    if (entry.metric.value && !reports::is_failure(verdict.status)) {
      figure.value = entry.metric.value;
      figure.interval = entry.interval;
    } else {
      figure.reason = verdict.reasons.empty() ? "the case gave no value" : verdict.reasons.front();
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

KnownFact known_fact(const Document& document, const std::string& id) {
  const Fingerprint& gpu = document.fingerprint;
  const auto driver = [](const auto& value) { return KnownFact{value, "the driver did not say"}; };
  if (id == "gpu.sms") return driver(gpu.sms);
  if (id == "gpu.sm_clock_max") return driver(gpu.sm_clock_max_hz);
  if (id == "gpu.memory_size") return driver(gpu.memory_bytes);
  if (id == "gpu.compute_capability") return driver(parse_number<double>(gpu.compute_capability));
  const auto fact = std::ranges::find(document.facts, id, &Fact::id);
  if (fact == document.facts.end()) return {};
  return {fact->value, clean(fact->reason), reports::Notes(document).is_noisy(fact->evidence)};
}

std::string origin_of(const Document& document) {
  const bool replay = document.source == Source::replay;
  return clean(fmt::format("{}{}, driver {}, {}, Fathom {} ({})", replay ? "REPLAY: " : "",
                           document.fingerprint.gpu_name, document.fingerprint.driver,
                           document.date, document.fathom_version, document.fathom_commit));
}

std::string quoted(const std::string& text) { return nlohmann::json(clean(text)).dump(); }

void require_facts(const Document& document, const std::string& format) {
  if (!document.facts.empty()) return;
  fail(ExitCode::incomplete,
       "{} needs facts, and a result of suite {} has none: export one of `fathom run --suite "
       "atlas`.",
       format, quotable(document.suite));
}

}  // namespace fathom
