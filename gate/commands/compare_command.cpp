#include <algorithm>

#include "gate/commands/gate_commands.h"
#include "gate/history.h"
#include "results/fail.h"
#include "results/verdict.h"
#include "tools/compare_files.h"

// `fathom compare` of two files of another tool, which `fathom` hands over.

namespace fathom {
using namespace gate;
namespace {

/// Each entry with the interval that its samples give.
Document judged_document_of(const RunMetrics& run) {
  Document document = document_of(run);
  for (std::size_t i = 0; i < document.entries.size(); ++i) {
    Entry& entry = document.entries[i];
    entry.probe = entry.name;
    if (i < run.intervals.size()) entry.interval = run.intervals[i];
    judge_entry(entry);
  }
  return document;
}

reports::ComparedDocument described(const RunMetrics& run) {
  const std::string program = fact_of(run, "program"), host = fact_of(run, "host_name");
  return {run.origin, (program.empty() ? "google-benchmark" : program) + " on " + host,
          "",         run.date,
          "",         false};
}

/// Machines may differ, as of Fathom's documents, but not what a value is: another tool's, or a
/// mean instead of a median.
void require_one_tool(const RunMetrics& a, const RunMetrics& b,
                      const std::vector<Difference>& differences) {
  for (const Difference& difference : differences)
    if (difference.fact == "program" || difference.fact == "statistic")
      fail(ExitCode::inconclusive, "{} and {} cannot be compared: different {}.", a.origin,
           b.origin, difference.words());
}

reports::Comparison comparison_of(const CompareArguments& arguments) {
  const RunMetrics a = read_run_metrics(arguments.a, true), b = read_run_metrics(arguments.b, true);
  const auto differences = differences_of(a, b);
  require_one_tool(a, b, differences);
  reports::Comparison comparison =
      reports::compare(judged_document_of(a), judged_document_of(b), a.origin, b.origin);
  comparison.a = described(a);
  comparison.b = described(b);
  comparison.machine.clear();
  for (const auto& [fact, in_a, in_b] : differences)
    comparison.machine.push_back({fact, in_a, in_b});
  comparison.same_properties = std::max(a.identity.size(), differences.size()) - differences.size();
  for (reports::ComparedFigure& figure : comparison.figures)
    figure.headline = figure.reason.empty();
  return comparison;
}

ExitCode compare(const CompareArguments& arguments) {
  return tell_comparison(arguments, [&] { return comparison_of(arguments); });
}

}  // namespace

std::function<ExitCode()> add_compare(CLI::App& app) {
  return with_arguments(add_compare_flags, compare)(app);
}

}  // namespace fathom
