#include "harness/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "harness/published_facts.h"
#include "results/document_io.h"
#include "results/error.h"
#include "results/output_file.h"
#include "results/version.h"

namespace fathom {
namespace {

/// Others' stay where they are, so that a document's order remains that of its probes.
template <class Finding>
void replace_of(const std::string& probe, std::vector<Finding>& all, std::vector<Finding> found) {
  for (Finding& finding : found) finding.probe = probe;
  const auto first = std::ranges::find(all, probe, &Finding::probe);
  const auto place = first - all.begin();
  std::erase_if(all, [&](const Finding& finding) { return finding.probe == probe; });
  all.insert(all.begin() + place, std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

void add_published(const Fingerprint& gpu, std::vector<Fact>& facts) {
  int major = 0, minor = 0;
  if (std::sscanf(gpu.compute_capability.c_str(), "%d.%d", &major, &minor) == 2)
    add_published_figures(facts, major, minor, gpu.gpu_name);
}

}  // namespace

void put_findings(const Probe& probe, Document& document) {
  std::vector<Entry> own;
  std::span<const Entry> entries = document.entries;
  if (document.probes.size() > 1) {
    std::ranges::copy_if(entries, std::back_inserter(own),
                         [&](const Entry& entry) { return entry.probe == probe.name(); });
    entries = own;
  }
  Findings findings = probe.conclude(entries);
  ProbeSummary& summary = *std::ranges::find(document.probes, probe.name(), &ProbeSummary::name);
  summary.answer = std::move(findings.answer);
  summary.views = std::move(findings.views);
  summary.page = std::move(findings.page);
  summary.page_title = std::move(findings.page_title);
  add_published(document.fingerprint, findings.facts);
  replace_of(probe.name(), document.claims, std::move(findings.claims));
  replace_of(probe.name(), document.facts, std::move(findings.facts));
}

void conclude_again(const Probe& probe, const std::filesystem::path& from,
                    const std::filesystem::path& to) {
  Document document = read_document(from);
  if (std::ranges::find(document.probes, probe.name(), &ProbeSummary::name) ==
      document.probes.end())
    throw Error(ExitCode::bad_input,
                fmt::format("{} has nothing of the probe `{}`.", from.string(), probe.name()));
  put_findings(probe, document);
  const std::string beginning = fmt::format("What the probe {} concludes is of ", probe.name());
  std::erase_if(document.notes, [&](const auto& note) { return note.starts_with(beginning); });
  document.notes.push_back(fmt::format("{}fathom {} ({}), from what fathom {} ({}) measured.",
                                       beginning, version(), commit(), document.fathom_version,
                                       document.fathom_commit));
  OutputFile(to).write(to_text(document));
}

}  // namespace fathom
