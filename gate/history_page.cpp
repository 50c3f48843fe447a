#include <algorithm>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "gate/history.h"
#include "reports/page/page.h"
#include "results/document.h"

namespace fathom::gate {
namespace {

/// A run as a document that the HTML page shows: its metrics are entries.
Document document_of(const RunMetrics& run) {
  Document document;
  document.date = run.date;
  document.fathom_commit = run.commit;
  document.suite = run.suite;
  document.fingerprint.gpu_name = fact_of(run, "gpu_name");
  document.fingerprint.driver = fact_of(run, "driver");
  document.fingerprint.toolkit = fact_of(run, "toolkit");
  for (const MetricValue& metric : run.metrics) {
    Entry entry;
    entry.name = metric.name;
    entry.probe = metric.name.substr(0, metric.name.find('/'));
    entry.metric = {"value", metric.unit, metric.better, metric.value};
    entry.timing.sm_clock_hz = metric.state.sm_clock_hz;
    entry.telemetry.sm_clock_hz.median = metric.state.sm_clock_hz;
    entry.telemetry.power_w.median = metric.state.power_w;
    entry.telemetry.throttle_reasons = metric.state.throttle_reasons;
    document.entries.push_back(std::move(entry));
  }
  return document;
}

}  // namespace

std::string history_page(const std::vector<RunMetrics>& runs) {
  std::vector<const RunMetrics*> newest;
  for (const RunMetrics& run : runs) newest.push_back(&run);
  std::ranges::stable_sort(newest, {}, &RunMetrics::date);
  const std::size_t left_out = newest.size() - std::min(newest.size(), most_history_page_runs);
  std::deque<Document> documents;
  std::vector<reports::ShownDocument> shown;
  for (const RunMetrics* run : std::span(newest).subspan(left_out))
    shown.push_back({&documents.emplace_back(document_of(*run)),
                     std::filesystem::path(run->origin).filename().string()});
  return reports::html_page(shown, {});
}

}  // namespace fathom::gate
