#include <fmt/format.h>

#include <algorithm>
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

std::string blank_zero(std::size_t number) {
  return number == 0 ? "" : format_count(static_cast<double>(number));
}

void write_roles(Writing& to, const std::vector<Role>& all) {
  Table table({{"Probe"},
               {"Counter"},
               {"Counted", Align::right},
               {"Equal", Align::right},
               {"Within tolerance", Align::right},
               {"Differ", Align::right},
               {"Missing", Align::right},
               {"The chip's metric"}});
  for (const Role& role : all) {
    table.add_row(
        {escape_text(role.probe), escape_text(spaced(role.role)), blank_zero(role.counted()),
         blank_zero(role.of(CounterFinding::equal)), blank_zero(role.of(CounterFinding::within)),
         blank_zero(role.of(CounterFinding::differs)), blank_zero(role.of(CounterFinding::missing)),
         role.metric.empty() ? "–" : code(role.metric)});
  }
  to.page.table("Counters by role", table);
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
               {"Off by", Align::right},
               {"Allowed", Align::right},
               {"Expectation from"}});
  for (const Entry& entry : to.document.entries) {
    for (const Counter& counter : entry.counters) {
      if (finding(counter) != CounterFinding::differs) continue;
      table.add_row({code(entry.name), escape_text(spaced(counter.role)),
                     format_exact(*counter.value), format_exact(*counter.expected),
                     format_percent(distance(*counter.value, *counter.expected)),
                     format_percent(counter.tolerance), escape_text(counter.expected_model)});
    }
  }
  to.page.table("Counters that differ from their expectation", table);
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
  to.page.paragraph(fmt::format(
      "Of {} with an expectation, {} equal it, {} are within its tolerance and {} differ; {} have "
      "none; {} are missing.",
      counted(expected, "counter", "counters"),
      format_count(static_cast<double>(sums[CounterFinding::equal])),
      format_count(static_cast<double>(sums[CounterFinding::within])),
      format_count(static_cast<double>(sums[CounterFinding::differs])),
      format_count(static_cast<double>(sums[CounterFinding::not_expected])),
      format_count(static_cast<double>(sums[CounterFinding::missing]))));
  write_missing(to, all);
  write_differing(to);
  write_roles(to, all);
}

}  // namespace fathom::reports
