#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reports/sections.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// "2026-01-31T12:00:00Z" as "2026-01-31 12:00 UTC"; any other date as it is.
std::string readable_date(const std::string& date) {
  if (date.size() == 20 && date[10] == 'T' && date.back() == 'Z') {
    return date.substr(0, 10) + " " + date.substr(11, 5) + " UTC";
  }
  return date;
}

/// Relative distance of a value from its expectation; infinite where no ratio says it.
double distance(double value, double expected) {
  const double off = std::abs(value - expected) / std::abs(expected);
  if (std::isfinite(off)) return off;
  return value == expected ? 0 : std::numeric_limits<double>::infinity();
}

/// The entry furthest from its expectation; one outside its tolerance comes before any within.
/// Empty where no entry has both a figure and an expectation.
std::string disagreement_sentence(const Document& document) {
  const Entry* worst = nullptr;
  std::pair<bool, double> how{};  // whether it is outside, and how far off it is
  for (const Entry& entry : document.entries) {
    if (!entry.expected || !entry.metric.value) continue;
    const double off = distance(*entry.metric.value, entry.expected->value);
    const std::pair here(!(off <= entry.expected->tolerance), off);
    if (worst && here <= how) continue;
    worst = &entry;
    how = here;
  }
  if (!worst) return "";
  const auto& [outside, off] = how;
  const std::string& unit = worst->metric.unit;
  return fmt::format(
      "**Furthest from its expectation{}:** {}: {} measured, {} expected; off by {}, {} allowed. "
      "The model: {}.",
      outside ? "" : ", within its tolerance", code(worst->name),
      escape_text(format_quantity(*worst->metric.value, unit)),
      escape_text(format_quantity(worst->expected->value, unit)),
      std::isfinite(off) ? format_percent(off) : "beyond any ratio",
      format_percent(worst->expected->tolerance),
      escape_text(without_full_stop(worst->expected->model)));
}

bool is_as_expected(const Counter& counter) {
  const double value = *counter.value, expected = *counter.expected;
  return value == expected || std::abs(value - expected) <= counter.tolerance * std::abs(expected);
}

/// Counters that have an expectation: how many, and which is furthest from it.
struct Expected {
  std::size_t all = 0, good = 0;
  double off = 0;
  const Entry* entry = nullptr;
  const Counter* furthest = nullptr;

  void add(const Entry& of, const Counter& counter) {
    ++all;
    good += is_as_expected(counter);
    const double here = distance(*counter.value, *counter.expected);
    if (here > off) off = here, entry = &of, furthest = &counter;
  }
  std::string furthest_text() const {
    if (furthest == nullptr) return "";
    return fmt::format(", furthest {} of {}: {} read, {} expected ({})", code(furthest->role),
                       code(entry->name), format_count(*furthest->value),
                       format_count(*furthest->expected),
                       escape_text(without_full_stop(furthest->expected_model)));
  }
};

}  // namespace

std::string counters_sentence(const EntryList& entries) {
  std::size_t others = 0;
  Expected judged, shown;
  std::map<std::string, std::size_t> missing;
  for (const Entry* entry : entries)
    for (const Counter& counter : entry->counters) {
      if (!counter.value) {
        ++missing[counter.reason];
      } else if (!counter.expected) {
        ++others;
      } else {
        (counter.tolerance < shown_alone ? judged : shown).add(*entry, counter);
      }
    }
  std::vector<std::string> parts;
  if (judged.all > 0)
    parts.push_back(share_text(judged.good, judged.all, "counter is", "counters are") +
                    " as expected" + judged.furthest_text());
  if (shown.all > 0)
    parts.push_back(counted(shown.all, "stands", "stand") + " beside what a source makes" +
                    shown.furthest_text());
  if (others > 0)
    parts.push_back(counted(others, "counter is", "counters are") + " read without expectation");
  for (const auto& [reason, number] : missing)
    parts.push_back(fmt::format(
        "{} missing: {}", counted(number, "is", "are"),
        reason.empty() ? "no reason is given" : escape_text(without_full_stop(reason))));
  return parts.empty() ? "" : fmt::format("**Counters:** {}.", fmt::join(parts, "; "));
}

namespace {

void write_findings(PageContext& to) {
  const Document& document = to.document;
  std::vector<std::string> items;
  if (const std::string worst = disagreement_sentence(document); !worst.empty())
    items.push_back(worst);
  add_state(to, nullptr, items);
  if (const std::string counters = counters_sentence(entries_of(document)); !counters.empty())
    items.push_back(counters);
  if (!document.claims.empty()) {
    items.push_back(
        fmt::format("**Claims:** {} ([which](#claims)).", claims_text(document.claims)));
  }
  to.page.list(items);
}

void write_card(PageContext& to) {
  if (!to.card) return;
  to.page.paragraph("**Card:** " + escape_text(card_sentence(*to.card)) + ".");
  Table table({"Figure", ">This card", ">Usual", ">Normal down to", ">Worse by", ">Cards", ""});
  for (const CardFigure& figure : to.card->figures)
    table.add_row({escape_text(figure.name), quantity(figure.value, figure.unit),
                   quantity(figure.usual, figure.unit), quantity(figure.limit, figure.unit),
                   format_signed_percent(std::round(figure.gap * 1e4) / 1e4),
                   std::to_string(figure.cards), figure.low ? "**low**" : "normal"});
  to.page.table("This card beside others of its model", table);
}

void write_answers(PageContext& to) {
  Table table({"Probe", "Answer", ">Entries not ok"});
  for (const ProbeSummary& probe : probes_of(to.document)) {
    const VerdictTally verdicts(entries_of(to.document, probe.name));
    const std::size_t bad = verdicts.all() - verdicts.of(VerdictStatus::ok);
    const std::string not_ok = fmt::format("{} of {}", bad, verdicts.all());
    table.add_row(
        {fmt::format("[{}](#{})", escape_text(probe.name), probe_anchor(probe.name)),
         probe.answer.empty() ? "*" + words(probe.status) + "*" : escape_text(probe.answer),
         bad == 0 ? not_ok : explore_link(not_ok, explore_probe(probe.name))});
  }
  to.page.table("What the probes answer", table);
}

}  // namespace

std::string gpu_title(const Document& document) {
  const std::string& name = document.fingerprint.gpu_name;
  return name.empty() ? "an unnamed GPU" : escape_text(name);
}

void write_origin(PageContext& to) {
  const Document& document = to.document;
  if (document.source == Source::replay) {
    to.page.paragraph(
        "> **REPLAY.** Nothing here was measured by this run: it repeats a recording. Do not quote "
        "its figures as a measurement.");
  }
  std::vector<std::string> facts;
  if (!document.date.empty()) {
    facts.push_back((document.source == Source::replay ? "recorded " : "") +
                    escape_text(readable_date(document.date)));
  }
  if (!document.suite.empty()) facts.push_back("suite " + escape_text(document.suite));
  facts.push_back(counted(probes_of(document).size(), "probe", "probes"));
  facts.push_back(counted(document.entries.size(), "entry", "entries"));
  facts.push_back(format_time(document.elapsed_s));
  to.page.paragraph(fmt::format("{}", fmt::join(facts, " · ")));
  to.page.paragraph(fmt::format(
      "**{}** in the HTML page beside this one, which `fathom report {}` makes: every "
      "curve, entry, fact and rung, with search, zoom and their figures. A figure with "
      "~ is [noisy](README.md#method).",
      explore_link("Explore this result", "view=overview"), escape_text(to.document_name)));
}

void write_title(PageContext& to) {
  to.page.heading(1, "Fathom report: " + gpu_title(to.document), "top");
  write_origin(to);
  if (has_atlas(to.document)) {
    to.page.paragraph(fmt::format(
        "**[The atlas of the memory hierarchy]({})** has its levels and facts on one page.",
        atlas_file));
  }
}

void write_verdict(PageContext& to) {
  to.page.heading(2, "Verdict", "verdict");
  write_card(to);
  to.page.paragraph("**" + escape_text(headline(to.document)) + "**");
  write_findings(to);
  write_answers(to);
  if (VerdictTally(entries_of(to.document)).of(VerdictStatus::noisy) > 0 &&
      !to.document.facts.empty())
    to.page.paragraph(
        "Most points of a curve have few samples and so are noisy; what is concluded from a curve "
        "comes from all of its points together, and every fact has an interval of its own that "
        "says how well it is known.");
}

namespace {

/// What this GPU says, up to a break near `most` characters: the HTML page has the rest. Not for a
/// claim that was not decided, whose reason may be longer.
std::string shortened(const std::string& figure) {
  constexpr std::size_t most = 110;
  std::size_t end = figure.size();
  int open = 0;  // parentheses
  for (std::size_t i = 0; figure.size() > most && i + 1 < figure.size(); ++i) {
    open += (figure[i] == '(') - (figure[i] == ')');
    const bool is_break = (figure[i] == ',' || figure[i] == ';') && figure[i + 1] == ' ';
    if (!is_break || open > 0) continue;
    if (i > most && end < figure.size()) break;
    end = i;
  }
  return escape_text(figure.substr(0, end)) + (end < figure.size() ? " …" : "");
}

/// The statements of one author on one GPU.
void write_claims_of(PageContext& to, const Notes& notes, const std::vector<Claim>& claims) {
  Table table({"Claim", "Its author's figure", "This GPU"});
  for (const Claim& claim : claims) {
    const bool decided = claim.verdict < ClaimVerdict::does_not_apply;
    const std::string verdict = words(claim.verdict);
    table.add_row({escape_text(claim.id + ": " + claim.statement), escape_text(claim.claimed),
                   (decided ? "**" + verdict + "**" : verdict) +
                       (notes.is_noisy(claim.evidence) ? " ~" : "") +
                       (claim.figure.empty() ? ""
                        : decided            ? ": " + shortened(claim.figure)
                                             : ": " + escape_text(claim.figure))});
  }
  const Claim& first = claims.front();
  std::string who = first.author;
  if (!first.gpu.empty()) who += (who.empty() ? "on " : ", ") + first.gpu;
  // Whole, however long: it is what many readers come for.
  to.page.table(
      fmt::format("{}: {}",
                  who.empty() ? counted(claims.size(), "claim", "claims") : escape_text(who),
                  claims_text(claims)),
      table, "", claims.size());
}

}  // namespace

void write_claims(PageContext& to) {
  to.page.heading(2, "Claims", "claims");
  if (to.document.claims.empty()) {
    to.page.paragraph("The document puts no claim to the test.");
    return;
  }
  to.page.paragraph(fmt::format(
      "Statements from the literature, with their authors, the figures that those give for their "
      "GPUs, and what this GPU says; ~ where an entry behind it is noisy. {} {}.",
      same_speed_sentence(),
      explore_link("Every figure in full, and the entries that it rests on", "view=claims")));
  std::vector<std::vector<Claim>> groups;
  for (const Claim& claim : to.document.claims) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) {
      return group.front().author == claim.author && group.front().gpu == claim.gpu;
    });
    if (same == groups.end())
      groups.push_back({claim});
    else
      same->push_back(claim);
  }
  const Notes notes(to.document);
  for (const auto& group : groups) write_claims_of(to, notes, group);
}

}  // namespace fathom::reports
