#include "results/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "results/document_fields.h"
#include "results/fail.h"
#include "results/write_fields.h"

namespace fathom {
namespace {

/// What the parts of one run share.
nlohmann::ordered_json identity_of(const Document& part) {
  nlohmann::ordered_json run = write_list(run_part, part);
  run.update(nlohmann::ordered_json(run["fingerprint"]));
  for (const char* other : {"fingerprint", "elapsed_s", "bounds", "warnings", "notes"})
    run.erase(other);
  return run;
}

std::string name_of(const Document& part) {
  return part.probes.empty() ? part.executable : part.probes.front().name;
}

[[noreturn]] void refuse(const std::string& why) {
  fail(ExitCode::bad_input,
       "Parts of different runs cannot be merged: {}; merge parts of one run only.", why);
}

void require_same_run(const Document& first, const Document& part) {
  const nlohmann::ordered_json expected = identity_of(first), other = identity_of(part);
  std::vector<std::string> found;
  for (const auto& [name, value] : expected.items())
    if (other[name] != value)
      found.push_back(fmt::format("{}: {} and {}", name, value.dump(), other[name].dump()));
  if (found.empty()) return;
  refuse(fmt::format("those of {} and {} differ in {}", name_of(first), name_of(part),
                     fmt::join(found, ", ")));
}

template <typename Item>
void append(std::vector<Item>& to, const std::vector<Item>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Appends those whose key is not there yet.
template <typename Item, typename Key = std::identity>
void unite(std::vector<Item>& to, const std::vector<Item>& from, Key key = {}) {
  for (const Item& item : from)
    if (std::ranges::find(to, std::invoke(key, item), key) == to.end()) to.push_back(item);
}

}  // namespace

Document merge_documents(const std::vector<Document>& parts) {
  if (parts.empty()) throw std::invalid_argument("nothing to merge");
  Document merged = parts.front();
  std::map<std::string, std::size_t> owners;  // which part brought a name
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto own = [&](const char* what, const std::string& name) {
      const auto [owner, added] = owners.emplace(fmt::format("{} {}", what, name), i);
      if (!added && owner->second != i) refuse("two of them hold the " + owner->first);
    };
    for (const ProbeSummary& probe : parts[i].probes) own("probe", probe.name);
    for (const Entry& entry : parts[i].entries) own("entry", entry.name);
    for (const Claim& claim : parts[i].claims) own("claim", claim.id);
    for (const Fact& fact : parts[i].facts) own("fact", fact.id);
  }
  for (const Document& part : std::span(parts).subspan(1)) {
    require_same_run(parts.front(), part);
    merged.date = std::min(merged.date, part.date);  // ISO 8601 in UTC sorts as text
    merged.elapsed_s += part.elapsed_s;
    append(merged.entries, part.entries);
    append(merged.probes, part.probes);
    append(merged.claims, part.claims);
    append(merged.facts, part.facts);
    unite(merged.warnings, part.warnings);
    unite(merged.notes, part.notes);
    unite(merged.bounds, part.bounds, &DeviceBound::name);
  }
  return merged;
}

}  // namespace fathom
