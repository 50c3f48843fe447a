#include "reports/report.h"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reports/sections.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom {

namespace fs = std::filesystem;

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name, const reports::CardCheck* card) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());

  using reports::PageContext;
  const auto write = [&](const std::string& name,
                         const std::function<void(PageContext&)>& sections) {
    reports::Page page(document.source == Source::replay);
    PageContext writing{document, page, document_name, card};
    sections(writing);
    write_file_atomically(folder / name, page.text());
    return folder / name;
  };
  const fs::path readme = write("README.md", [](PageContext& to) {
    to.page.explore("view=overview");
    write_title(to);
    write_verdict(to);
    write_environment(to);
    write_bounds(to);
    write_opponents(to);
    write_facts(to);
    write_probes(to);
    write_claims(to);
    write_method(to);
  });
  fs::path atlas;
  if (reports::has_atlas(document)) atlas = write(reports::atlas_file, reports::write_atlas);
  std::vector<fs::path> pages;
  for (const ProbeSummary& probe : document.probes)
    for (const std::string& section : reports::pages_of(document, probe))
      pages.push_back(write(reports::page_file(probe, section),
                            [&](PageContext& to) { write_probe_page(to, probe, section); }));
  return {readme, atlas, pages};
}

namespace {

using namespace reports;

using Colour = fmt::terminal_color;
constexpr Colour good = Colour::green, bad = Colour::red, doubtful = Colour::yellow;

struct Painter {
  bool on;
  std::string operator()(Colour colour, const std::string& text) const {
    return on ? fmt::format(fmt::fg(colour), "{}", text) : text;
  }
};

struct Row {
  std::string name, status, figure, share, verdicts;
  Colour status_colour, verdict_colour;
  std::string answer;
};

Colour colour_of(const VerdictTally& verdicts) {
  return verdicts.failures() > 0 || verdicts.all() == 0 ? bad
         : verdicts.text(false).empty()                 ? good
                                                        : doubtful;
}

Row row_of(const Document& document, const ProbeSummary& probe) {
  const EntryList entries = entries_of(document, probe.name);
  const VerdictTally verdicts(entries);
  Row row;
  row.name = clean(probe.name);
  row.status = words(probe.status);
  row.status_colour = probe.status == ProbeStatus::complete ? good : bad;
  if (const Entry* shown = headline_entry(probe, entries)) {
    row.figure = clean(format_quantity(shown->metric.value, shown->metric.unit));
    const auto share = share_of_bound(*shown);
    if (share) row.share = fmt::format("{:.1f} % of bound", *share * 100);
  }
  const std::string not_ok = verdicts.text(false);
  row.verdicts = verdicts.all() == 0 ? "no entries"
                 : not_ok.empty()    ? fmt::format("all {} ok", verdicts.all())
                                  : fmt::format("{} of {} ok: {}", verdicts.of(VerdictStatus::ok),
                                                verdicts.all(), not_ok);
  row.verdict_colour = colour_of(verdicts);
  row.answer = clean(!probe.answer.empty() ? probe.answer : probe.status_reason);
  return row;
}

std::size_t widest(const std::vector<Row>& rows, std::string Row::*column) {
  std::size_t found = 0;
  for (const Row& row : rows) found = std::max(found, width(row.*column));
  return found;
}

std::string card_lines(const CardCheck& card, const Painter& paint) {
  const Colour colour = card.state == CardState::normal ? good
                        : card.state == CardState::low  ? bad
                                                        : doubtful;
  const std::string word(to_string(card.state));
  std::string out, before = "Card:    ";
  for (const std::string& line : wrapped(clean(card_sentence(card)), line_width - before.size())) {
    out += before + (out.empty() ? paint(colour, word) + line.substr(word.size()) : line) + "\n";
    before = std::string(before.size(), ' ');
  }
  return out + "\n";
}

std::string table_of(const std::vector<Row>& rows, const Painter& paint) {
  const std::size_t name = widest(rows, &Row::name), status = widest(rows, &Row::status),
                    figure = widest(rows, &Row::figure), share = widest(rows, &Row::share);
  std::string out;
  for (const Row& row : rows) {
    // Padding goes around the colour codes, which have no width.
    out +=
        fmt::format("  {:<{}}  {}{:{}}  {:>{}}  {:>{}}  {}\n", row.name, name,
                    paint(row.status_colour, row.status), "", status - width(row.status),
                    row.figure, figure, row.share, share, paint(row.verdict_colour, row.verdicts));
    for (const std::string& line :
         wrapped(row.answer, line_width > name + 24 ? line_width - name - 4 : 20)) {
      out += fmt::format("  {:{}}  {}\n", "", name, line);
    }
  }
  return out;
}

}  // namespace

std::string terminal_summary(const Document& document, bool colour, const CardCheck* card) {
  const Painter paint{colour};
  std::string out;
  if (document.source == Source::replay) {
    out += paint(doubtful, "REPLAY") +
           " of a recording: nothing below was measured on this machine.\n";
  }
  const Fingerprint& f = document.fingerprint;
  out += fmt::format(
      "\n{}, suite {}, {}\n\n", clean(f.gpu_name.empty() ? "Unnamed GPU" : f.gpu_name),
      document.suite.empty() ? "unknown" : clean(document.suite), format_time(document.elapsed_s));
  if (card) out += card_lines(*card, paint);
  std::vector<Row> rows;
  for (const ProbeSummary& probe : probes_of(document)) rows.push_back(row_of(document, probe));
  out += table_of(rows, paint);
  const VerdictTally verdicts(entries_of(document));
  out += fmt::format("{}Verdict: {}\n", rows.empty() ? "" : "\n",
                     paint(colour_of(verdicts), clean(headline(document))));
  if (!document.claims.empty()) out += fmt::format("Claims:  {}\n", claims_text(document.claims));
  for (const std::string& warning : document.warnings) {
    out += fmt::format("{}: {}\n", paint(doubtful, "Warning"), clean(warning));
  }
  for (const std::string& note : document.notes) out += fmt::format("Note: {}\n", clean(note));
  out.pop_back();
  return out;
}

}  // namespace fathom
