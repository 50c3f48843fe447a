#include <fmt/format.h>

#include <algorithm>

#include "fleet/run/measure.h"
#include "results/document_io.h"
#include "results/error.h"

namespace fathom {

PartResult result_of(const SupervisedEnd& end, const std::filesystem::path& document,
                     const std::filesystem::path& log, double limit_s) {
  PartResult result;
  std::string last_words;
  std::error_code ignored;
  try {
    if (std::filesystem::exists(document, ignored)) result.document = read_document(document);
    last_words = last_line_of(log);
  } catch (const Error& error) {
    last_words = error.what();
  }
  if (!last_words.empty()) last_words.insert(0, ": ");
  const auto lacking = [&](const std::string& reason) {
    const bool any = result.document && !result.document->entries.empty();
    const int status = end.end.signal != 0 ? to_int(ExitCode::probe_crashed) : end.end.status;
    result.status = any ? fleet::GpuStatus::partial : fleet::GpuStatus::failed;
    result.reason = reason;
    result.exit_code =
        status > to_int(ExitCode::check_failed) ? status : to_int(ExitCode::incomplete);
    return result;
  };
  const auto probes = result.document ? result.document->probes : std::vector<ProbeSummary>();
  if (end.stopped == Stopped::time_limit) {
    const auto at = std::ranges::find_if(probes, [](const ProbeSummary& probe) {
      return probe.status == ProbeStatus::interrupted &&
             !probe.status_reason.starts_with("not started");
    });
    return lacking(fmt::format("it hit its time limit of {} s (--time-limit){}", limit_s,
                               at == probes.end() ? "" : " at the probe " + at->name));
  }
  if (end.stopped == Stopped::interrupt) return lacking("interrupted");
  if (end.end.signal != 0)
    return lacking("its run was ended by " + end.end.describe() + last_words);
  for (const ProbeSummary& probe : probes)
    if (probe.status != ProbeStatus::complete)
      return lacking(fmt::format("{}: {}", probe.name, probe.status_reason));
  result.exit_code = end.end.status;
  if (end.end.status == to_int(ExitCode::check_failed))
    result.reason = "a check failed: see its document";
  else if (end.end.status == to_int(ExitCode::counters_unavailable))
    result.reason = "hardware counters are not permitted or not there; times are complete";
  else if (end.end.status != 0)
    return lacking("its run ended with " + end.end.describe() + last_words);
  return result;
}

}  // namespace fathom
