#include "results/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "models/published.h"
#include "results/version.h"

namespace fathom {
namespace {

/// Others' stay where they are, so that a document's order remains that of its probes.
template <class Finding>
void replace_findings_of(const std::string& probe, std::vector<Finding>& all,
                         std::vector<Finding> found) {
  for (Finding& finding : found) finding.probe = probe;
  const auto first = std::ranges::find(all, probe, &Finding::probe);
  const auto place = first - all.begin();
  std::erase_if(all, [&](const Finding& finding) { return finding.probe == probe; });
  all.insert(all.begin() + place, std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

}  // namespace

void put_findings(const std::string& probe, const Conclude& conclude, Document& document) {
  std::vector<Entry> entries;
  std::ranges::copy_if(document.entries, std::back_inserter(entries),
                       [&](const Entry& entry) { return entry.probe == probe; });
  Findings findings = conclude(entries);
  ProbeSummary& summary = *std::ranges::find(document.probes, probe, &ProbeSummary::name);
  summary.answer = std::move(findings.answer);
  summary.views = std::move(findings.views);
  summary.page = std::move(findings.page);
  summary.page_title = std::move(findings.page_title);
  // What others published of a fact on the nearest chip is found by its id and unit, so that no
  // probe needs to know of publications. A fact that has a published figure from its probe keeps
  // it, and one without a value gets it too: it says what was missed.
  const Fingerprint& gpu = document.fingerprint;
  int major = 0, minor = 0;
  const bool known = std::sscanf(gpu.compute_capability.c_str(), "%d.%d", &major, &minor) == 2;
  for (Fact& fact : findings.facts) {
    if (!known || fact.published) continue;
    const auto figures = models::find_published(fact.id, fact.unit, major, minor, gpu.gpu_name);
    if (!figures.empty())
      fact.published =
          Published{figures.front()->value, models::cited(*figures.front(), gpu.gpu_name)};
  }
  replace_findings_of(probe, document.claims, std::move(findings.claims));
  replace_findings_of(probe, document.facts, std::move(findings.facts));
}

void conclude_again(const std::string& probe, const Conclude& conclude, Document& document) {
  put_findings(probe, conclude, document);
  const std::string measured = fmt::format(": measured by fathom {} ({}), conclusions by fathom ",
                                           document.fathom_version, document.fathom_commit);
  const std::string today = fmt::format("{}{} ({}).", measured, version(), commit());
  // "links, topology: measured by ...": one note for all probes of the same two commits.
  std::vector<std::string> notes;
  bool said = false;
  for (const std::string& note : document.notes) {
    const std::size_t end = note.find(measured);
    if (end == std::string::npos) {
      notes.push_back(note);
      continue;
    }
    std::vector<std::string> probes;
    std::istringstream listed(note.substr(0, end));
    for (std::string name; std::getline(listed >> std::ws, name, ',');)
      if (name != probe) probes.push_back(name);
    if (note.ends_with(today)) probes.push_back(probe), said = true;
    if (!probes.empty())
      notes.push_back(fmt::format("{}{}", fmt::join(probes, ", "), note.substr(end)));
  }
  if (!said) notes.push_back(probe + today);
  document.notes = std::move(notes);
}

View plot(std::string title, Where where, std::string x, std::string y_label,
          std::vector<std::string> series, const PlotStyle& style, std::string note) {
  return {.kind = View::Kind::plot,
          .title = std::move(title),
          .note = std::move(note),
          .where = std::move(where),
          .overview = style.overview,
          .x = x,
          .x_label = style.x_label.empty() ? x : style.x_label,
          .y = style.y,
          .y_label = std::move(y_label),
          .x_log2 = style.x_log2,
          .y_log = style.y_log,
          .y_from_zero = !style.y_log,
          .series = std::move(series),
          .show_bound = style.bound,
          .show_expected = style.expected};
}

View table(std::string title, Where where, std::vector<std::string> columns, std::string note) {
  return {.title = std::move(title),
          .note = std::move(note),
          .where = std::move(where),
          .columns = std::move(columns)};
}

}  // namespace fathom
