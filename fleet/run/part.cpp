#include "fleet/run/part.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/document_io.h"
#include "results/error.h"
#include "results/exit_codes.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// What a run left; nothing where it left nothing, or what cannot be read.
struct ReadBack {
  std::optional<Document> document;
  std::string problem;
};

ReadBack read_back(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  try {
    return {read_document(file), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

/// At which probe a run was when it was ended; empty where its document does not say.
std::string probe_at_the_end(const std::optional<Document>& document) {
  if (!document) return "";
  const auto at = std::ranges::find_if(document->probes, [](const ProbeSummary& probe) {
    return probe.status == ProbeStatus::interrupted &&
           !probe.status_reason.starts_with("not started");
  });
  return at == document->probes.end() ? "" : at->name;
}

/// What a run's exit says of its figures; an empty reason: all there.
struct Judged {
  fleet::GpuStatus status = fleet::GpuStatus::complete;
  std::string reason;
  int exit_code = 0;  ///< beside complete figures
};

Judged judge(const SupervisedEnd& ended, const std::optional<Document>& document,
             const std::string& last_words, double limit_s) {
  using fleet::GpuStatus;
  const GpuStatus kept =
      document && !document->entries.empty() ? GpuStatus::partial : GpuStatus::failed;
  const auto with_words = [&](const std::string& what) {
    return last_words.empty() ? what : fmt::format("{}: {}", what, last_words);
  };
  if (ended.stopped == Stopped::time_limit) {
    const std::string probe = probe_at_the_end(document);
    return {kept, fmt::format("it hit its time limit of {} s (--time-limit){}", limit_s,
                              probe.empty() ? "" : " at the probe " + probe)};
  }
  if (ended.stopped == Stopped::interrupt) return {kept, "interrupted"};
  if (ended.end.signal != 0)
    return {kept, with_words("its run was ended by " + ended.end.describe())};
  if (document)
    for (const ProbeSummary& probe : document->probes)
      if (probe.status != ProbeStatus::complete)
        return {kept, fmt::format("{}: {}", probe.name, probe.status_reason)};
  switch (static_cast<ExitCode>(ended.end.status)) {
    case ExitCode::ok:
      return {};
    case ExitCode::check_failed:
      return {GpuStatus::complete, "a check failed: see its document", ended.end.status};
    case ExitCode::counters_unavailable:
      return {GpuStatus::complete,
              "hardware counters are not permitted or not there; times are complete",
              ended.end.status};
    default:
      return {kept, with_words("its run ended with " + ended.end.describe())};
  }
}

}  // namespace

PartResult result_of(const SupervisedEnd& end, const fs::path& document, const fs::path& log,
                     double limit_s) {
  ReadBack read = read_back(document);
  const Judged judged =
      judge(end, read.document, read.problem.empty() ? last_line_of(log) : read.problem, limit_s);
  const int status = end.end.signal != 0 ? to_int(ExitCode::probe_crashed) : end.end.status;
  return {std::move(read.document), judged.status, judged.reason,
          judged.status == fleet::GpuStatus::complete ? judged.exit_code : std::max(1, status)};
}

}  // namespace fathom
