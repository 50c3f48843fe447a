#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "reports/sections.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

std::optional<double> share_of(const std::optional<Bound>& bound, std::optional<double> value,
                               Better better) {
  if (!bound || !value) return std::nullopt;
  const double share = better == Better::higher ? *value / bound->value : bound->value / *value;
  return std::isfinite(share) ? std::optional(share) : std::nullopt;
}

}  // namespace

EntryList entries_of(const Document& document) {
  EntryList all;
  for (const Entry& entry : document.entries) all.push_back(&entry);
  return all;
}

EntryList entries_of(const Document& document, const std::string& probe) {
  EntryList found;
  for (const Entry& entry : document.entries) {
    if (entry.probe == probe) found.push_back(&entry);
  }
  return found;
}

std::vector<ProbeSummary> probes_of(const Document& document) {
  std::vector<ProbeSummary> probes = document.probes;
  std::set<std::string> known;
  for (const ProbeSummary& probe : probes) known.insert(probe.name);
  for (const Entry& entry : document.entries) {
    if (known.insert(entry.probe).second) probes.emplace_back().name = entry.probe;
  }
  return probes;
}

std::string note_of(const Entry& entry, const std::string& name) {
  const auto found = entry.notes.find(name);
  return found == entry.notes.end() ? "" : found->second;
}

bool have_one_metric(const Entry& a, const Entry& b) {
  return a.metric.name == b.metric.name && a.metric.unit == b.metric.unit;
}

bool is_failure(VerdictStatus status) { return status >= VerdictStatus::counter_mismatch; }

VerdictTally::VerdictTally(const EntryList& entries) {
  for (const Entry* entry : entries) ++counts_.at(static_cast<std::size_t>(entry->verdict.status));
}

std::size_t VerdictTally::from(VerdictStatus first) const {
  const auto begin = counts_.begin() + static_cast<std::ptrdiff_t>(first);
  return std::accumulate(begin, counts_.end(), std::size_t{0});
}

std::string VerdictTally::text(bool with_ok) const {
  std::string out;
  for (std::size_t i = counts_.size(); i-- > (with_ok ? 0 : 1);)
    if (counts_[i] > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts_[i],
                         words(static_cast<VerdictStatus>(i)));
  return out;
}

std::string share_text(std::size_t part, std::size_t all, const std::string& one,
                       const std::string& many) {
  return fmt::format("{} of {}", format_count(static_cast<double>(part)), counted(all, one, many));
}

std::string headline(const Document& document) {
  const VerdictTally verdicts(entries_of(document));
  const auto complete = static_cast<std::size_t>(
      std::ranges::count(document.probes, ProbeStatus::complete, &ProbeSummary::status));
  const std::size_t incomplete = document.probes.size() - complete;
  const std::string missing =
      incomplete == 0 ? ""
                      : fmt::format(" {} not complete.",
                                    share_text(incomplete, document.probes.size(), "probe is",
                                               incomplete == 1 ? "probes is" : "probes are"));
  const std::size_t all = verdicts.all(), ok = verdicts.of(VerdictStatus::ok);
  if (all == 0) return "Nothing was measured." + missing;
  if (verdicts.failures() == 0) {
    return fmt::format("No check failed; {} ok{}{}.{}",
                       share_text(ok, all, "entry is", "entries are"), ok == all ? "" : ", ",
                       verdicts.text(false), missing);
  }
  return fmt::format("{} failed a check. All entries: {}.{}",
                     share_text(verdicts.failures(), all, "entry", "entries"), verdicts.text(true),
                     missing);
}

std::optional<double> share_of_bound(const Entry& entry) {
  return share_of(entry.bound, entry.metric.value, entry.metric.better);
}
std::optional<double> share_of_bound(const Fact& fact) {
  return share_of(fact.bound, fact.value, fact.better);
}

EntryList closest_to_bound(const EntryList& entries) {
  EntryList closest;
  for (const Entry* entry : entries) {
    const auto share = share_of_bound(*entry);
    if (!share || is_failure(entry->verdict.status)) continue;
    const auto same = std::ranges::find_if(
        closest, [&](const Entry* other) { return have_one_metric(*other, *entry); });
    if (same == closest.end())
      closest.push_back(entry);
    else if (*share > *share_of_bound(**same))
      *same = entry;
  }
  return closest;
}

const Entry* best_figure(const EntryList& entries) {
  EntryList comparable;
  for (const Entry* entry : entries) {
    if (!entry->metric.value || is_failure(entry->verdict.status)) continue;
    if (comparable.empty() || have_one_metric(*comparable.front(), *entry))
      comparable.push_back(entry);
  }
  return best(comparable);
}

const Entry* headline_entry(const ProbeSummary& probe, const EntryList& entries) {
  std::vector<EntryList> candidates{entries};
  if (!probe.views.empty()) {
    candidates.insert(candidates.begin(), shown_by(probe.views.front(), entries));
  }
  for (const EntryList& some : candidates) {
    const EntryList closest = closest_to_bound(some);
    if (!closest.empty()) return closest.front();
    if (const Entry* best = best_figure(some)) return best;
  }
  return nullptr;
}

std::string claims_text(std::span<const Claim> claims) {
  std::string out;
  for (const ClaimVerdict verdict :
       {ClaimVerdict::confirmed, ClaimVerdict::refuted, ClaimVerdict::conditional,
        ClaimVerdict::does_not_apply, ClaimVerdict::not_measured}) {
    const auto number = std::ranges::count(claims, verdict, &Claim::verdict);
    if (number == 0) continue;
    const bool plural = number > 1 && verdict == ClaimVerdict::does_not_apply;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", number,
                       plural ? "do not apply" : words(verdict));
  }
  return out;
}

namespace {

/// A level by the part of a fact's id before the first point, and what its size is the size of.
struct Level {
  const char* part;
  const char* size_of;
};

constexpr std::array levels{Level{"registers", "of each SM"}, Level{"shared", "of each SM"},
                            Level{"l1", "of each SM"},        Level{"dsmem", "of a cluster"},
                            Level{"l2", "of the GPU"},        Level{"dram", "of the GPU"},
                            Level{"peer", "of a GPU"},        Level{"host", "of the host"}};

constexpr const char* shown_quantities[] = {"latency", "size", "bandwidth", "latency_time",
                                            "bytes_per_clock"};

/// Below this, there is nothing to hold against each other.
constexpr std::size_t fewest_levels = 2;

const Fact* find_fact(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.facts.begin(), document.facts.end(),
                                  [&](const Fact& fact) { return fact.id == id && fact.value; });
  return found == document.facts.end() ? nullptr : &*found;
}

}  // namespace

Table hierarchy(const Document& document) {
  const Notes notes(document);
  Table table({"Level", ">Size", ">Latency", ">Bandwidth, all SMs"});
  for (const Level& level : levels) {
    std::string name;
    const auto fact_on = [&](const char* quantity) {
      return find_fact(document, std::string(level.part) + "." + quantity);
    };
    const auto text = [](const Fact* fact, const char* form) {
      return fact ? fmt::format(fmt::runtime(form), format_quantity(fact->value, fact->unit)) : "";
    };
    const auto cell = [&](const char* quantity, const std::string& beside) -> std::string {
      const Fact* fact = fact_on(quantity);
      if (!fact) return "–";
      if (name.empty()) name = escape_text(capitalised(fact->subject));
      return escape_text(text(fact, "{}") + beside) + (notes.is_noisy(fact->evidence) ? " ~" : "");
    };
    // First, since it names the level alone: a size may hold for one setting of it.
    const std::string latency = cell("latency", text(fact_on("latency_time"), " ({})"));
    const std::string bandwidth =
        cell("bandwidth", text(fact_on("bytes_per_clock"), " ({} an SM)"));
    const std::string size = cell("size", fmt::format(" {}", level.size_of));
    if (!name.empty()) table.add_row({name, size, latency, bandwidth});
  }
  return table;
}

std::vector<const Fact*> level_facts(const Document& document) {
  std::vector<const Fact*> facts;
  for (const Level& level : levels) {
    for (const char* quantity : shown_quantities) {
      const Fact* fact = find_fact(document, fmt::format("{}.{}", level.part, quantity));
      if (fact != nullptr) facts.push_back(fact);
    }
  }
  return facts;
}

bool has_atlas(const Document& document) { return hierarchy(document).rows() >= fewest_levels; }

}  // namespace fathom::reports
