#include "results/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>

#include "results/document_fields.h"
#include "results/fail.h"
#include "results/names.h"

namespace fathom {
namespace {

std::string shown(const std::string& value) { return value.empty() ? "unknown" : value; }

std::string shown(Source source) { return std::string(to_string(source)); }

template <typename Number>
std::string shown(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

/// "driver: 580.1 and 575.2" for every field of a list with a title that differs.
template <class List, class Object>
void add_differences(const List& list, const Object& a, const Object& b,
                     std::vector<std::string>& found) {
  for_each_field(list, [&](const auto& field) {
    if constexpr (requires { shown(a.*field.member); })
      if (*field.rule.title != 0 && a.*field.member != b.*field.member)
        found.push_back(fmt::format("{}: {} and {}", field.rule.title, shown(a.*field.member),
                                    shown(b.*field.member)));
  });
}

std::string name_of(const Document& part) {
  return part.probes.empty() ? part.executable : part.probes.front().name;
}

[[noreturn]] void refuse(const std::string& why) {
  fail(ExitCode::bad_input,
       "Parts of different runs cannot be merged: {}; merge parts of one run only.", why);
}

void require_same_run(const Document& first, const Document& part) {
  std::vector<std::string> found;
  add_differences(run_part, first, part, found);
  add_differences(fields_of<Fingerprint>, first.fingerprint, part.fingerprint, found);
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
