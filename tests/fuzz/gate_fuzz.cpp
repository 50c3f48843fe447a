// What may come from outside into the gate: a result, a Google Benchmark file or a baseline.
// Whatever the bytes are, they are refused in one sentence or decided on; everything else is a
// defect that the sanitizers or the checks here catch. For libFuzzer (fuzz.sh), and for the corpus
// test, which runs the same function over the files that fuzzing found.

#include "gate_fuzz.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gate/baseline.h"
#include "gate/check.h"
#include "gate/decision.h"
#include "gate/history.h"
#include "gate/run_metrics.h"
#include "tests/fuzz/printable.h"

namespace fathom::gate {
namespace {

/// Nor has XML a reference to one, which it does not allow.
void require_no_reference(const std::string& xml) {
  for (auto at = xml.find("&#"); at != std::string::npos; at = xml.find("&#", at + 2))
    require(std::strtol(xml.c_str() + at + 2, nullptr, 10) >= ' ', "no reference to one");
}

void require_no_command(const std::string& text) {
  require(has_no_command(text), "no command for a CI server");
}

/// No text of an input begins a line of its own; the corpus has texts that try to.
void require_harmless(const std::string& text) {
  require_plain(text);
  require(("\n" + text).find("\n::error title=pwn") == std::string::npos, "no line of an input");
}

void write_all(const CheckResult& result) {
  const std::string table = terminal_table(result);
  require_no_command(table);
  for (const std::string& text :
       {table, markdown_summary(result), junit_xml(result), decision_json(result)}) {
    require(!text.empty(), "every output");
    require_harmless(text);
  }
  require_no_reference(junit_xml(result));
  require_harmless(github_annotations(result));
}

void decide_on(const RunMetrics& run) {
  // What is kept is what was read.
  const RunMetrics kept = parse_run_metrics(baseline_text(run), "kept");
  std::vector<MetricValue> usable;
  for (const MetricValue& metric : run.metrics)
    if (metric.problem.empty()) usable.emplace_back(metric).interval.reset();
  require(kept.metrics == usable && kept.elapsed_s == run.elapsed_s,
          "a baseline holds what the run held");

  std::vector<RunMetrics> baseline(fewest_baseline_runs + 1, run);
  for (RunMetrics& earlier : baseline) earlier.replay = false;
  const RunMetrics same = baseline.front();
  require(check_stored(baseline, {&same, 1}, {}).refusals.empty(),
          "a run is comparable with itself");
  RunMetrics head = same;
  for (std::size_t i = 0; i < head.metrics.size(); ++i)
    head.metrics[i].value *= i % 2 == 0 ? 0.5 : 1.5;
  CheckResult result = check_stored(baseline, std::vector(3, head), {});
  result.base = result.head = run.suite;
  result.notes.push_back(result.base);
  for (MetricDecision& metric : result.metrics) metric.reason += result.base;
  write_all(result);
  // Added before it is checked: its own runs are no earlier ones.
  std::vector<RunMetrics> with_itself(2, head);
  const std::size_t itself = leave_out_themselves(with_itself, {&head, 1});
  require(itself == (head.date.empty() ? 0 : 2) && with_itself.size() == 2 - itself,
          "a run is the same as itself");
  const RunMetrics ratios = ratios_of(head);
  if (!ratios.metrics.empty())
    write_all(check_stored(std::vector(fewest_baseline_runs, ratios), {&ratios, 1}, {}));
  // Another identity: the refusals quote both.
  RunMetrics other = head;
  for (auto& fact : other.identity) fact.second += "'";
  CheckResult refused = check_stored({}, {&other, 1}, {});
  refused.refusals = why_none_like(other, baseline);
  write_all(refused);
  std::fill_n(baseline.begin(), 3, head);
  const std::string history = history_text(baseline);
  require_harmless(history);
  require_no_command(history);
}

}  // namespace

void fuzz(std::string_view text, bool rules) {
  try {
    if (!rules) return decide_on(parse_run_metrics(text, "input"));
    for (const Rule& rule : parse_rules(text, "input"))
      require(!rule.reason.empty() && !rule.pattern.empty(), "a rule with its reason");
  } catch (const Error& error) {
    require_sentence(
        error, {ExitCode::document_malformed, ExitCode::document_version, ExitCode::bad_input});
  }
}

}  // namespace fathom::gate

/// libFuzzer's entry: behind an 'r' come the gate's rules; all else is a document.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool rules = text.starts_with('r');
  fathom::gate::fuzz(text.substr(rules ? 1 : 0), rules);
  return 0;
}
