#include "fleet/host_links.h"

#include <algorithm>

#include "results/format.h"
#include "results/query.h"

namespace fathom::fleet {
namespace {

std::string axis_text(const Entry& entry, const char* name) {
  const AxisValue* value = find_axis(entry, name);
  return value == nullptr ? "?" : format_axis_value(name, *value);
}

}  // namespace

HostLinks links_of(const std::string& host, const Document& document) {
  HostLinks links;
  links.host = host;
  for (const Fact& fact : document.facts)
    links.facts.push_back({fact.id, fact.subject, fact.quantity, fact.unit, fact.better, fact.value,
                           fact.bound ? std::optional(fact.bound->value) : std::nullopt,
                           fact.bound ? fact.bound->source : "", fact.reason});
  for (const Entry* entry : select(document.entries, {{"link", "peer"}})) {
    if (!entry->metric.value) continue;
    const LinkKind kind{axis_text(*entry, "engine"), axis_text(*entry, "direction"),
                        entry->metric.unit};
    const auto at = std::ranges::find(links.kinds, kind);
    const auto place = static_cast<std::size_t>(at - links.kinds.begin());
    if (at == links.kinds.end()) links.kinds.push_back(kind);
    links.pairs.push_back({place, axis_text(*entry, "from GPU"), axis_text(*entry, "to GPU"),
                           entry->metric.value,
                           entry->bound ? Reading(entry->bound->value) : Reading()});
  }
  return links;
}

}  // namespace fathom::fleet
