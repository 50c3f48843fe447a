#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/compare.h"
#include "reports/sections.h"
#include "results/document_fields.h"
#include "results/fields.h"
#include "results/text.h"

namespace fathom {

FATHOM_FIELDS(reports::ComparedDocument, "", "", file, gpu, suite, date, commit, replay);
FATHOM_FIELDS(reports::ChangedText, "", "", name, a, b);
FATHOM_FIELDS(reports::OnlyHere, "", "", probe, kind, names);
FATHOM_FIELDS(reports::ComparedValue, "", "", value, interval, noisy, rounds);
FATHOM_FIELDS(reports::ComparedFigure, "", "", kind, name, title, probe, unit, better, headline, a,
              b, ratio, ratio_interval, outcome, reason);

}  // namespace fathom

namespace fathom::reports {
namespace {

/// Plain text, so that terminal and Markdown share it.
struct Section {
  std::string title;
  std::vector<std::string> sentences{};
  std::vector<std::string> headers{};  ///< as Table has them
  std::vector<std::vector<std::string>> rows{};
};

using Wanted = std::function<bool(const ComparedFigure&)>;

std::string number(std::size_t count) { return format_count(static_cast<double>(count)); }

std::string value_text(const std::optional<ComparedValue>& side, const std::string& unit) {
  if (!side) return "-";
  const bool reaches = is_confident(side->interval);
  return format_quantity(side->value, unit) +
         (reaches ? reach_of(side->value, *side->interval, 2) : "") + (side->noisy ? " ~" : "");
}

std::string ratio_text(const ComparedFigure& figure) {
  if (!figure.ratio) return "-";
  return format_number(*figure.ratio) +
         (figure.ratio_interval ? reach_of(*figure.ratio, *figure.ratio_interval, 2) : "");
}

std::string finding_text(const ComparedFigure& figure) {
  if (figure.outcome == Outcome::differs) return figure.better_in_b() ? "B better" : "A better";
  return words(figure.outcome);
}

std::size_t number_of(const Comparison& comparison, const Wanted& wanted) {
  return static_cast<std::size_t>(std::ranges::count_if(comparison.figures, wanted));
}

/// The first `most` of those wanted, and at most `of_probe` of one probe: one cause changes many
/// figures.
Section figure_section(const Comparison& comparison, const std::string& title, std::size_t most,
                       std::size_t of_probe, const Wanted& wanted) {
  Section section{title, {}, {"", ">A", ">B", ">B / A", ""}};
  std::map<std::string, std::size_t> shown;
  for (const ComparedFigure& figure : comparison.figures) {
    if (section.rows.size() == most) break;
    if (wanted(figure) && ++shown[figure.probe] <= of_probe)
      section.rows.push_back({figure.title, value_text(figure.a, figure.unit),
                              value_text(figure.b, figure.unit), ratio_text(figure),
                              finding_text(figure)});
  }
  const std::size_t all = number_of(comparison, wanted);
  if (all > section.rows.size())
    section.title += fmt::format(" ({} of {})", section.rows.size(), number(all));
  return section;
}

Section changes_section(const std::string& title, const char* things, std::size_t same,
                        const std::vector<ChangedText>& changes) {
  const std::size_t all = changes.size() + same;
  Section section{
      .title = fmt::format("{}: {} of {} {} differ", title, changes.size(), all, things),
      .headers = {"", "A", "B"}};
  for (const ChangedText& change : changes)
    section.rows.push_back({change.name, change.a, change.b});
  return section;
}

/// Why figures are not compared, the most frequent reason first, each with one of its figures.
Section refusals_section(const Comparison& comparison, std::size_t most) {
  std::map<std::string, std::pair<std::size_t, const ComparedFigure*>> by_reason;
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.outcome != Outcome::not_compared) continue;
    ++by_reason.try_emplace(figure.reason, 0, &figure).first->second.first;
  }
  std::vector<std::pair<std::size_t, const ComparedFigure*>> reasons;
  for (const auto& [reason, figures] : by_reason) reasons.push_back(figures);
  std::ranges::stable_sort(reasons, std::greater{}, [](const auto& one) { return one.first; });
  Section section{"Not compared"};
  for (const auto& [count, first] : reasons) {
    if (section.sentences.size() == most) {
      section.sentences.push_back(fmt::format("{} reasons more.", reasons.size() - most));
      break;
    }
    section.sentences.push_back(fmt::format("{} ({}{}): {}.", counted(count, "figure"),
                                            first->title, count > 1 ? ", ..." : "", first->reason));
  }
  return section;
}

/// "Only in A: 118 entries of links, 12 facts of links."
std::string only_text(const char* side, const std::vector<OnlyHere>& only) {
  constexpr std::size_t most = 10;
  std::vector<std::string> parts;
  for (const OnlyHere& one : only) {
    if (parts.size() == most) {
      parts.push_back(fmt::format("{} kinds more", only.size() - most));
      break;
    }
    parts.push_back(
        fmt::format("{} of {}", counted(one.names.size(), one.kind, one.kinds), one.probe));
  }
  if (parts.empty()) parts.push_back("nothing");
  return fmt::format("Only in {}: {}.", side, fmt::join(parts, ", "));
}

Section overview(const Comparison& comparison) {
  std::map<Outcome, std::size_t> counts;
  std::size_t in_b = 0, noisy = 0;
  for (const ComparedFigure& figure : comparison.figures) {
    ++counts[figure.outcome];
    if (figure.outcome != Outcome::differs) continue;
    in_b += figure.better_in_b();
    noisy += figure.noisy();
  }
  const std::size_t differ = counts[Outcome::differs];
  std::string text = fmt::format("{} ({} better in B, {} in A; {} of them noisy)",
                                 counted(differ, "differs", "differ"), number(in_b),
                                 number(differ - in_b), number(noisy));
  for (const auto& [outcome, words] : {std::pair{Outcome::same, "the same"},
                                       {Outcome::within_noise, "within noise"},
                                       {Outcome::undecided, "undecided"},
                                       {Outcome::not_compared, "not compared"}})
    if (counts[outcome] > 0)
      text += fmt::format(", {} {}", counted(counts[outcome], "is", "are"), words);
  const std::string margin = format_percent(equal_runs);
  return {fmt::format("Figures: {} in both", number(comparison.figures.size())),
          {text + ".",
           fmt::format("A figure differs if the intervals do not overlap and the interval of B / A "
                       "lies more than {} from 1, and more than either run's own rounds differ. "
                       "It is the same if that interval lies within {} of 1, and undecided if a "
                       "side has no interval of at least 80 % confidence. ~ marks a noisy figure.",
                       margin, margin)}};
}

/// `most` figures of a kind.
std::vector<Section> sections_of(const Comparison& comparison, std::size_t most) {
  const auto changed = [](const ComparedFigure& f) {
    return f.outcome == Outcome::differs ||
           (f.outcome == Outcome::undecided && f.size > equal_runs);
  };
  const auto is_fact = [](const ComparedFigure& f) { return f.kind == ComparedFigure::Kind::fact; };
  std::vector<Section> sections{
      figure_section(comparison, "Headlines", 2 * most, 2 * most,
                     [](const ComparedFigure& f) { return f.headline; }),
      figure_section(
          comparison, "Further facts that differ", most, most / 3,
          [&](const ComparedFigure& f) { return !f.headline && is_fact(f) && changed(f); }),
      figure_section(comparison, "Further entries that differ", most, most / 3,
                     [&](const ComparedFigure& f) {
                       return !f.headline && !f.in_fact && !is_fact(f) && changed(f);
                     }),
      refusals_section(comparison, most / 2),
      changes_section("Claims", "verdicts", comparison.same_claims, comparison.claims)};
  std::erase_if(sections, [](const Section& section) {
    return section.sentences.empty() && section.rows.empty();
  });
  sections.insert(
      sections.begin(),
      {changes_section("Machine", "properties", comparison.same_properties, comparison.machine),
       overview(comparison)});
  sections.push_back({"On one side alone",
                      {only_text("A", comparison.only_a), only_text("B", comparison.only_b)}});
  return sections;
}

std::string described(const char* side, const ComparedDocument& document) {
  std::string text =
      (document.replay ? "REPLAY · " : "") + fmt::format("{}: {}", side, document.gpu);
  for (const auto& [name, value] : {std::pair{"suite ", document.suite},
                                    {"", document.date},
                                    {"commit ", document.commit.substr(0, 12)},
                                    {"", document.file}})
    if (!value.empty()) text += fmt::format(", {}{}", name, value);
  return text;
}

/// A name that would push the figures out of the line has a line of its own.
std::string table_text(const Section& section) {
  constexpr std::size_t gap = 2;
  std::vector<std::vector<std::string>> rows{section.headers};
  for (std::string& header : rows.front()) header.erase(0, header.starts_with('>'));
  rows.insert(rows.end(), section.rows.begin(), section.rows.end());
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = clean(row[i]);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  std::size_t others = gap;
  for (std::size_t i = 1; i < widths.size(); ++i) others += gap + widths[i];
  widths[0] = std::min(widths[0], line_width > others + 12 ? line_width - others : 12);
  std::string out;
  for (const auto& row : rows) {
    const bool fits = width(row[0]) <= widths[0];
    if (!fits) out += "  " + row[0] + "\n";
    std::string line = fmt::format("  {:<{}}", fits ? row[0] : "", widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      line += section.headers[i].starts_with('>') ? fmt::format("  {:>{}}", row[i], widths[i])
                                                  : fmt::format("  {:<{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string out;
  for (const auto& [side, document] : {std::pair{"A", &comparison.a}, {"B", &comparison.b}})
    for (const std::string& line : wrapped(clean(described(side, *document)), line_width))
      out += line + "\n";
  for (const Section& section : sections_of(comparison, 15)) {
    out += "\n";
    for (const std::string& line : wrapped(clean(section.title), line_width)) out += line + "\n";
    for (const std::string& sentence : section.sentences)
      for (const std::string& line : wrapped(clean(sentence), line_width - 2))
        out += "  " + line + "\n";
    if (!section.rows.empty()) out += table_text(section);
  }
  return out;
}

std::string comparison_markdown(const Comparison& comparison) {
  Page page(comparison.a.replay || comparison.b.replay);
  page.heading(1, escape_text(comparison.a.gpu + " and " + comparison.b.gpu), "comparison");
  page.list({escape_text(described("A", comparison.a)), escape_text(described("B", comparison.b))});
  for (const Section& section : sections_of(comparison, 40)) {
    page.heading(2, escape_text(section.title), slug(section.title));
    for (const std::string& sentence : section.sentences) page.paragraph(escape_text(sentence));
    Table table(section.headers);
    for (auto row : section.rows) {
      for (std::string& cell : row) cell = escape_text(cell);
      table.add_row(std::move(row));
    }
    if (table.rows() > 0) page.paragraph(table.markdown());
  }
  return page.text();
}

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ComparedFigure& figure) {
  Json json = write_fields(figure);
  json["better_in"] = nullptr;
  if (figure.outcome == Outcome::differs) json["better_in"] = figure.better_in_b() ? "b" : "a";
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  const Json rest{
      {"fathom_compare", 1},
      {"a", write_fields(comparison.a)},
      {"b", write_fields(comparison.b)},
      {"rule", {{"differs_beyond", equal_runs}, {"and_beyond_rounds", true}}},
      {"machine",
       {{"same", comparison.same_properties}, {"differs", write_fields(comparison.machine)}}},
      {"claims", {{"same", comparison.same_claims}, {"differs", write_fields(comparison.claims)}}},
      {"only_a", write_fields(comparison.only_a)},
      {"only_b", write_fields(comparison.only_b)}};
  // Bytes that are not UTF-8 become U+FFFD, as in a result document.
  const auto replace = Json::error_handler_t::replace;
  std::string text = rest.dump(1, ' ', false, replace);
  text.erase(text.rfind('\n'));  // before the last brace
  text += ",\n \"figures\": [";
  // One a line, and not all of 100,000 in memory as JSON.
  const char* before = "\n  ";
  for (const ComparedFigure& figure : comparison.figures) {
    text += before + to_json(figure).dump(-1, ' ', false, replace);
    before = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

}  // namespace fathom::reports
