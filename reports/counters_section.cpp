#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "reports/facts.h"
#include "reports/scale.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

/// A role over all entries of a probe.
struct Role {
  std::string probe, role, metric;
  std::map<CounterFinding, std::size_t> findings;
  std::vector<std::string> reasons;  ///< of missing values, each once

  std::size_t of(CounterFinding found) const {
    const auto number = findings.find(found);
    return number == findings.end() ? 0 : number->second;
  }
  std::size_t counted() const {
    return of(CounterFinding::equal) + of(CounterFinding::within) + of(CounterFinding::differs) +
           of(CounterFinding::not_expected);
  }
};

std::vector<Role> roles(const Document& document) {
  std::vector<Role> found;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const Entry& entry : document.entries) {
    for (const Counter& counter : entry.counters) {
      const auto [place, is_new] = places.try_emplace({entry.probe, counter.role}, found.size());
      if (is_new) found.push_back({entry.probe, counter.role, "", {}, {}});
      Role& role = found[place->second];
      if (role.metric.empty()) role.metric = counter.metric;
      ++role.findings[finding(counter)];
      if (!counter.value && std::find(role.reasons.begin(), role.reasons.end(), counter.reason) ==
                                role.reasons.end()) {
        role.reasons.push_back(counter.reason);
      }
    }
  }
  return found;
}

/// One of the numbers told of each role.
struct Tally {
  const char* header;
  std::function<std::size_t(const Role&)> number;
};

std::function<std::size_t(const Role&)> number_of(CounterFinding found) {
  return [found](const Role& role) { return role.of(found); };
}

void write_roles(Writing& to, const std::vector<Role>& all) {
  std::vector<Tally> tallies{{"Counted", &Role::counted},
                             {"Equal to the expectation", number_of(CounterFinding::equal)},
                             {"Within tolerance", number_of(CounterFinding::within)},
                             {"Differ", number_of(CounterFinding::differs)},
                             {"Without expectation", number_of(CounterFinding::not_expected)},
                             {"Missing", number_of(CounterFinding::missing)}};
  std::erase_if(tallies, [&](const Tally& tally) {
    return std::none_of(all.begin(), all.end(),
                        [&](const Role& role) { return tally.number(role) > 0; });
  });
  std::vector<Table::Column> headers{{"Probe"}, {"Counter"}};
  for (const Tally& tally : tallies) headers.push_back({tally.header, Align::right});
  Table table(headers);
  for (const Role& role : all) {
    std::vector<std::string> cells{escape_text(role.probe), escape_text(spaced(role.role))};
    for (const Tally& tally : tallies) {
      const std::size_t number = tally.number(role);
      cells.push_back(number == 0 ? "" : format_count(static_cast<double>(number)));
    }
    table.add_row(std::move(cells));
  }
  to.page.explore("view=probes");
  to.page.table("Entries by counter", table);
}

void write_missing(Writing& to, const std::vector<Role>& all) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Role& role : all) {
    for (const std::string& reason : role.reasons) {
      std::vector<std::string>& names = by_reason[reason];
      const std::string name = escape_text(spaced(role.role));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<std::string> items;
  for (const auto& [reason, names] : by_reason) {
    items.push_back(fmt::format(
        "Missing: {}. Why: {}.", fmt::join(names, ", "),
        reason.empty() ? "no reason is given" : escape_text(without_full_stop(reason))));
  }
  to.page.list(items);
}

void write_differing(Writing& to) {
  Table table({{"Entry"},
               {"Counter"},
               {"Counted", Align::right},
               {"Expected", Align::right},
               {"Off by (%)", Align::right}});
  for (const Entry& entry : to.document.entries) {
    for (const Counter& counter : entry.counters) {
      if (finding(counter) != CounterFinding::differs) continue;
      const double off = distance(*counter.value, *counter.expected);
      table.add_row({entry_link(entry), escape_text(spaced(counter.role)),
                     format_exact(*counter.value), format_exact(*counter.expected),
                     std::isfinite(off) ? format_number(off * 100) : "–"});
    }
  }
  constexpr std::size_t most_shown = 8;  // the entries' own sections have them too
  to.page.table("Counters that differ from their expectation", table, "", most_shown);
}

/// "470 equal it, 16 differ": what is not there is not told.
std::string findings_text(const std::map<CounterFinding, std::size_t>& sums) {
  std::string out;
  for (const auto& [found, verb] : {std::pair{CounterFinding::equal, "equal it"},
                                    std::pair{CounterFinding::within, "are within its tolerance"},
                                    std::pair{CounterFinding::differs, "differ"}}) {
    const auto number = sums.find(found);
    if (number == sums.end() || number->second == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ",
                       format_count(static_cast<double>(number->second)), verb);
  }
  return out;
}

}  // namespace

void write_counters(Writing& to) {
  to.page.heading(2, "Counters", "counters");
  const std::vector<Role> all = roles(to.document);
  if (all.empty()) {
    to.page.paragraph("No hardware counter was asked for.");
    return;
  }
  std::map<CounterFinding, std::size_t> sums;
  for (const Role& role : all) {
    for (const auto& [found, number] : role.findings) sums[found] += number;
  }
  const std::size_t expected =
      sums[CounterFinding::equal] + sums[CounterFinding::within] + sums[CounterFinding::differs];
  std::string text =
      expected == 0 ? "No counter has an expectation."
                    : fmt::format("Of {} with an expectation, {}.",
                                  counted(expected, "counter", "counters"), findings_text(sums));
  if (const std::size_t none = sums[CounterFinding::not_expected]; none > 0) {
    text += fmt::format(" {} counted without one.", counted(none, "more is", "more are"));
  }
  if (const std::size_t missing = sums[CounterFinding::missing]; missing > 0) {
    text += fmt::format(" {} missing.", counted(missing, "is", "are"));
  }
  to.page.paragraph(text);
  write_missing(to, all);
  write_differing(to);
  write_roles(to, all);
}

}  // namespace fathom::reports
