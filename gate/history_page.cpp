#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "gate/history.h"
#include "reports/page/page.h"

// Apart from history.cpp: the fuzzer of the gate's readers has no page.

namespace fathom::gate {

std::string history_page(std::vector<RunMetrics> runs) {
  std::ranges::stable_sort(runs, {}, &RunMetrics::date);
  if (runs.size() > most_history_page_runs)
    runs.erase(runs.begin(), runs.end() - most_history_page_runs);
  std::deque<Document> documents;
  std::vector<reports::ShownDocument> shown;
  for (const RunMetrics& run : runs)
    shown.push_back({&documents.emplace_back(document_of(run)),
                     std::filesystem::path(run.origin).filename().string()});
  return reports::html_page(shown, {});
}

}  // namespace fathom::gate
