#include "results/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

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

void require_same_run(const Document& run, const Document& part) {
  const nlohmann::ordered_json expected = identity_of(run), other = identity_of(part);
  std::vector<std::string> found;
  for (const auto& [name, value] : expected.items())
    if (other[name] != value)
      found.push_back(fmt::format("{}: {} and {}", name, value.dump(), other[name].dump()));
  if (!found.empty())
    fail(ExitCode::bad_input,
         "Parts of different runs cannot be merged: that of {} differs from those before in {}; "
         "merge parts of one run only.",
         part.probes.empty() ? part.executable : part.probes.front().name, fmt::join(found, ", "));
}

/// Appends those whose key is not there yet.
template <typename Item, typename Key = std::identity>
void unite(std::vector<Item>& to, const std::vector<Item>& from, Key key = {}) {
  for (const Item& item : from)
    if (std::ranges::find(to, std::invoke(key, item), key) == to.end()) to.push_back(item);
}

}  // namespace

void add_part(Document& run, const Document& part) {
  require_same_run(run, part);
  run.date = std::min(run.date, part.date);  // ISO 8601 in UTC sorts as text
  run.elapsed_s += part.elapsed_s;
  const auto append = [&](auto list) {
    (run.*list).insert((run.*list).end(), (part.*list).begin(), (part.*list).end());
  };
  append(&Document::entries);
  append(&Document::probes);
  append(&Document::claims);
  append(&Document::facts);
  unite(run.warnings, part.warnings);
  unite(run.notes, part.notes);
  unite(run.bounds, part.bounds, &DeviceBound::name);
}

}  // namespace fathom
