#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/sections.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

constexpr const char* levels_caption = "The levels, nearest to the cores first";

std::string value_cell(const Fact& fact, const Notes& notes) {
  const bool reaches = fact.value && is_confident(fact.interval);
  const std::string text = escape_text(format_quantity(fact.value, fact.unit) +
                                       (reaches ? reach_of(*fact.value, *fact.interval) : "")) +
                           (notes.is_noisy(fact.evidence) ? " ~" : "");
  const auto share = share_of_bound(fact);
  return share && *share > 1 ? text + " **better than its bound**" : text;
}

std::string bound_text(const Fact& fact) {
  const auto share = share_of_bound(fact);
  if (!share) return "";
  return fmt::format("{:.1f} % of {}", *share * 100, format_quantity(fact.bound->value, fact.unit));
}

std::string published_text(const Fact& fact) {
  if (!fact.value || !fact.published) return "";
  const auto& [value, source] = *fact.published;
  if (fact.bound && fact.bound->value == value && fact.bound->source == source) return "";
  const std::string figure = format_quantity(value, fact.unit);
  const double off = (*fact.value - value) / std::abs(value);
  return std::isfinite(off) ? fmt::format("{} ({:+.1f} %)", figure, off * 100) : figure;
}

}  // namespace

bool is_confident(const std::optional<Interval>& interval) {
  return interval && interval->confidence >= 0.8;
}

Interval ratio_interval(const Interval& over, const Interval& under) {
  return {over.low / under.high, over.high / under.low, over.confidence * under.confidence,
          "ends of both intervals"};
}

std::string reach_of(double value, const Interval& interval, int decimals) {
  const double reach = std::max(std::abs(interval.high - value), std::abs(value - interval.low)) /
                       std::abs(value) * 100;
  return std::isfinite(reach) ? fmt::format(" ± {:.{}f} %", reach, reach < 10 ? decimals : 0) : "";
}

Notes::Notes(const Document& document) {
  for (const Entry& entry : document.entries)
    if (entry.verdict.status == VerdictStatus::noisy) noisy_.insert(entry.name);
}

bool Notes::is_noisy(const std::vector<std::string>& evidence) const {
  return std::ranges::any_of(evidence,
                             [&](const std::string& name) { return noisy_.contains(name); });
}

std::string Notes::mark(const std::string& text) {
  auto at = std::ranges::find(texts_, text);
  if (at == texts_.end()) at = texts_.insert(at, text);
  return fmt::format("\\[{}\\]", at - texts_.begin() + 1);
}

std::vector<std::string> Notes::list() const {
  std::vector<std::string> items;
  for (const std::string& text : texts_) {
    items.push_back(fmt::format("\\[{}\\] {}", items.size() + 1, escape_text(text)));
  }
  return items;
}

Table fact_table(const FactList& facts, Notes& notes) {
  struct Beside {
    const char* header;
    std::string (*text)(const Fact&);  ///< empty: the fact has none
    std::string (*source)(const Fact&);
  };
  std::vector<Beside> beside{
      {">Of its bound", bound_text, [](const Fact& f) { return f.bound->source; }},
      {">Published (off by)", published_text, [](const Fact& f) { return f.published->source; }}};
  std::erase_if(beside, [&](const Beside& one) {
    return std::ranges::all_of(facts, [&](const Fact* fact) { return one.text(*fact).empty(); });
  });
  std::vector<std::string> headers{"Fact", ">Value"};
  for (const Beside& one : beside) headers.push_back(one.header);
  Table table(std::move(headers));
  for (const Fact* fact : facts) {
    std::vector<std::string> cells{escape_text(fact->subject + ": " + fact->quantity),
                                   value_cell(*fact, notes)};
    for (const auto& [header, text, source] : beside) {
      const std::string shown = text(*fact);
      cells.push_back(shown.empty() ? "–" : escape_text(shown) + " " + notes.mark(source(*fact)));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

namespace {

bool is_of_a_level(const Document& document, const Fact& fact) {
  return std::ranges::any_of(level_facts(document), [&](const Fact* one) { return one == &fact; });
}

/// What people quote: the memory's levels, and what others have published too; of a probe without
/// either its first few. What cannot be is never left out.
FactList quoted(const Document& document, const FactList& facts) {
  FactList found;
  std::ranges::copy_if(facts, std::back_inserter(found), [&](const Fact* fact) {
    return fact->value && (fact->published || share_of_bound(*fact).value_or(0) > 1 ||
                           is_of_a_level(document, *fact));
  });
  constexpr std::size_t few = 12;
  if (found.empty()) {
    std::ranges::copy_if(facts, std::back_inserter(found),
                         [](const Fact* fact) { return fact->value.has_value(); });
    found.resize(std::min(found.size(), few));
  }
  return found;
}

void write_of_probe(PageContext& to, const std::string& probe, const FactList& all) {
  const FactList shown = quoted(to.document, all);
  const std::string state = "view=facts&q=" + url_encoded(probe);
  to.page.heading(3, escape_text(capitalised(spaced(probe))), "facts-" + slug(probe));
  constexpr std::size_t most_shown = 40;
  if (shown.size() <= most_shown) {
    Notes notes(to.document);
    to.page.table(share_text(shown.size(), all.size(), "fact", "facts"), fact_table(shown, notes),
                  "", most_shown);
    if (const auto sources = notes.list(); !sources.empty())
      to.page.paragraph(fmt::format("{}", fmt::join(sources, "<br>\n")));
  }
  if (shown.size() < all.size() || shown.size() > most_shown)
    to.page.paragraph(
        explore_link(fmt::format("All {}", counted(all.size(), "fact", "facts")), state) + ".");
}

using FactsOfProbe = std::pair<std::string, FactList>;

/// Probes that have facts: those that say most of the memory's levels first, the others in the
/// document's order.
std::vector<FactsOfProbe> facts_by_probe(const Document& document) {
  std::vector<FactsOfProbe> probes;
  for (const Fact& fact : document.facts) {
    auto own = std::ranges::find(probes, fact.probe, &FactsOfProbe::first);
    if (own == probes.end()) own = probes.insert(own, {fact.probe, {}});
    own->second.push_back(&fact);
  }
  std::ranges::stable_sort(probes, std::greater<>{}, [&](const FactsOfProbe& own) {
    return std::ranges::count_if(own.second,
                                 [&](const Fact* fact) { return is_of_a_level(document, *fact); });
  });
  return probes;
}

/// The tables of all facts, a heading for each probe.
void write_facts_by_probe(PageContext& to) {
  to.page.paragraph(
      "The memory's levels, and what others have published too. ± is how far the confidence "
      "interval of the median reaches from the value, mostly of 95 %. A bound is what physics or "
      "the architecture allows. Published is what others found, and by how much this GPU is off "
      "that; numbers in brackets lead to the sources under the tables. [The fact "
      "table](index.html#view=facts) has every fact, its method and the entries behind it, and why "
      "some are missing.");
  for (const auto& [probe, facts] : facts_by_probe(to.document)) write_of_probe(to, probe, facts);
}

}  // namespace

void write_facts(PageContext& to) {
  const std::size_t number = to.document.facts.size();
  if (number == 0) return;
  to.page.heading(2, "Facts", "facts");
  if (has_atlas(to.document)) {
    to.page.table(levels_caption, hierarchy(to.document));
    to.page.paragraph(
        fmt::format("[The atlas]({}#facts) has the {} that the probes conclude of this GPU.",
                    atlas_file, counted(number, "fact", "facts")));
    return;
  }
  write_facts_by_probe(to);
}

void write_atlas(PageContext& to) {
  to.page.heading(1, "Atlas of the memory hierarchy: " + gpu_title(to.document), "top");
  write_origin(to);
  to.page.paragraph(
      "What each level of the memory holds, how long a load from it takes and how much it moves. "
      "Cycles are of the SM clock; a bandwidth is of all SMs together, decimal (TB/s), a size "
      "binary (KiB). The [whole report](README.md) has the verdicts, every curve and how it was "
      "measured.");
  std::vector<std::string> state;
  add_failures(VerdictTally(entries_of(to.document)), "verdict", state);
  add_state(to, nullptr, state);
  to.page.list(state);
  to.page.table(levels_caption, hierarchy(to.document));
  // As the facts are ordered; probes without facts last.
  const std::vector<FactsOfProbe> with_facts = facts_by_probe(to.document);
  std::vector<ProbeSummary> probes = to.document.probes;
  std::ranges::stable_sort(probes, {}, [&](const ProbeSummary& probe) {
    return std::ranges::find(with_facts, probe.name, &FactsOfProbe::first) - with_facts.begin();
  });
  std::vector<std::string> answers,
      curves{explore_link("Latency, from L1 to another GPU, on one axis", "view=latency"),
             explore_link("Bandwidth by working set, SMs and bytes in flight", "view=bandwidth")};
  for (const ProbeSummary& probe : probes) {
    if (!probe.answer.empty())
      answers.push_back(fmt::format("[{}](README.md#{}): {}", escape_text(probe.name),
                                    probe_anchor(probe.name), escape_text(probe.answer)));
    for (const View& view : probe.views)
      if (view.overview)
        curves.push_back(explore_link(escape_text(view.title), explore_probe(probe.name)));
  }
  to.page.heading(2, "In short", "answers");
  to.page.list(answers);
  to.page.heading(2, "Curves", "curves");
  to.page.list(curves);
  to.page.heading(2, "Facts", "facts");
  write_facts_by_probe(to);
}

}  // namespace fathom::reports
