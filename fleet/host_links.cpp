#include "fleet/host_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fleet/summary_json.h"
#include "results/format.h"
#include "results/json_values.h"
#include "results/names.h"
#include "results/query.h"

namespace fathom::fleet {
namespace {

namespace dom = simdjson::dom;
using Json = nlohmann::ordered_json;

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

std::string to_text(const HostLinks& links) {
  Json json{{std::string(links_key), links_version}};
  json.update(write_fields(links));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

HostLinks parse_links(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  const Fields own(json.root(), Place{&origin});
  require_version(own, links_key, links_version, "a host's links");
  HostLinks links;
  read_list(fields_of<HostLinks>, own, links);
  const Place pairs = own.place().at("pairs");
  for (std::size_t i = 0; i < links.pairs.size(); ++i)
    if (links.pairs[i].kind >= links.kinds.size())
      pairs.at(i).at("kind").refuse("is not the number of a kind");
  return links;
}

}  // namespace fathom::fleet
