#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gate/history.h"
#include "reports/page/page.h"

namespace fathom::gate {

Document document_of(const RunMetrics& run) {
  Document document;
  document.date = run.date;
  document.fathom_commit = run.commit;
  document.suite = run.suite;
  document.fingerprint.gpu_name = fact_of(run, "gpu_name");
  document.fingerprint.driver = fact_of(run, "driver");
  document.fingerprint.toolkit = fact_of(run, "toolkit");
  for (const MetricValue& metric : run.metrics) {
    Entry& entry = document.entries.emplace_back();
    entry.name = metric.name;
    entry.probe = metric.name.substr(0, metric.name.find('/'));
    entry.metric = {"value", metric.unit, metric.better, {}};
    if (metric.problem.empty()) entry.metric.value = metric.value;
    entry.timing.sm_clock_hz = entry.telemetry.sm_clock_hz.median = metric.state.sm_clock_hz;
    entry.telemetry.power_w.median = metric.state.power_w;
    entry.telemetry.throttle_reasons = metric.state.throttle_reasons;
  }
  return document;
}

std::string history_page(const std::vector<RunMetrics>& runs) {
  std::vector<const RunMetrics*> newest;
  for (const RunMetrics& run : runs) newest.push_back(&run);
  std::ranges::stable_sort(newest, {}, &RunMetrics::date);
  if (newest.size() > most_history_page_runs)
    newest.erase(newest.begin(), newest.end() - most_history_page_runs);
  std::vector<Document> documents;
  for (const RunMetrics* run : newest) documents.push_back(document_of(*run));
  std::vector<reports::ShownDocument> shown;
  for (std::size_t i = 0; i < newest.size(); ++i)
    shown.push_back({&documents[i], std::filesystem::path(newest[i]->origin).filename().string()});
  return reports::html_page(shown, {});
}

}  // namespace fathom::gate
