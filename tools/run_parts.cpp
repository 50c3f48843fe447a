#include "tools/run_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "results/clean_text.h"
#include "results/error.h"
#include "results/merge.h"
#include "results/standard_streams.h"
#include "results/utc_time.h"
#include "results/version.h"
#include "tools/progress.h"

namespace fathom {
void RunParts::interrupt() {
  if (!stopper_)
    stopper_ = {ProbeStatus::interrupted, "interrupted by the user", ExitCode::interrupted};
}

void RunParts::add(const ProbeBinary& probe, ProbePart part) {
  if (part.nothing_selected) return;
  ++selected_;
  const ProbeOutcome& outcome = part.outcome;
  causes_.push_back(outcome.cause);
  if (stops_the_run(outcome.cause)) stopper_ = outcome;
  print_out(fmt::format("{}: {} cases in {}{}\n", probe.name,
                        part.document ? part.document->entries.size() : 0,
                        spoken_duration(part.elapsed_s),
                        outcome.reason.empty() ? "" : "; incomplete: " + clean(outcome.reason)));
  if (part.document)
    merge(probe, *part.document);
  else
    missing_.push_back(missing_summary(probe, outcome));
}

void RunParts::merge(const ProbeBinary& probe, const Document& part) {
  try {
    merged_ = merged_ ? merge_documents({*merged_, part}) : part;
  } catch (const Error& error) {
    causes_.push_back(ExitCode::incomplete);
    all_merged_ = false;
    print_out(fmt::format("{}: {}\n", probe.name, clean(error.what())));
    missing_.push_back(
        missing_summary(probe, {ProbeStatus::failed, error.what(), ExitCode::incomplete}));
  }
}

void RunParts::skip(const ProbeBinary& probe) {
  ++selected_;
  causes_.push_back(stopper_->cause);
  const ProbeStatus status =
      stopper_->cause == ExitCode::interrupted ? ProbeStatus::interrupted : ProbeStatus::failed;
  missing_.push_back(missing_summary(
      probe, {status, fmt::format("not started: {}", stopper_->reason), stopper_->cause}));
}

Document RunParts::document() const {
  Document merged = merged_.value_or(empty_document());
  for (const auto& summary : missing_) merged.probes.push_back(summary);
  std::ranges::stable_sort(merged.probes,
                           [](const auto& a, const auto& b) { return a.name < b.name; });
  merged.elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  merged.executable = "fathom";
  merged.suite = options_.suite;  // the parts name the size of their sweep
  if (!options_.counters_of.empty())
    merged.warnings.push_back(
        fmt::format("Hardware counters were asked for of {} only (--counters-of); the other "
                    "probes' cases that only counters can decide were left out.",
                    fmt::join(options_.counters_of, ", ")));
  return merged;
}

Document RunParts::empty_document() const {
  Document document;
  document.date = utc_time(std::chrono::system_clock::now());
  document.fathom_version = version();
  document.fathom_commit = commit();
  document.suite = options_.suite;
  document.seed = std::to_string(options_.seed);
  document.num_cpus = std::thread::hardware_concurrency();
  document.fingerprint = fingerprint_;
  return document;
}

ExitCode RunParts::exit_code() const { return combined_exit_code(causes_); }

}  // namespace fathom
