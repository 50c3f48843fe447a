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

LinkFact fact_of(const Fields& f) {
  return {f.text("id"),
                f.text("subject"),
                f.text("quantity"),
                f.text("unit"),
                word_of<Better>(f, "better", "\"higher\", \"lower\""),
                f.optional_number("value"),
                f.optional_number("bound"),
                f.text("bound_source"),
                f.text("reason")};
}

LinkPair pair_of(const Fields& f, std::size_t kinds) {
  const double kind = f.number("kind");
  if (!(kind >= 0 && kind < static_cast<double>(kinds)))
    f.refuse("kind", "is not the number of a kind");
  return {static_cast<std::size_t>(kind), f.text("from"), f.text("to"), f.optional_number("value"),
          f.optional_number("bound")};
}

}  // namespace

HostLinks links_of(const std::string& host, const Document& document) {
  HostLinks links;
  links.host = host;
  links.elapsed_s = document.elapsed_s;
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
  Json facts = Json::array(), kinds = Json::array(), pairs = Json::array();
  for (const LinkFact& fact : links.facts)
    facts.push_back({{"id", fact.id},
                     {"subject", fact.subject},
                     {"quantity", fact.quantity},
                     {"unit", fact.unit},
                     {"better", to_string(fact.better)},
                     {"value", or_null(fact.value)},
                     {"bound", or_null(fact.bound)},
                     {"bound_source", fact.bound_source},
                     {"reason", fact.reason}});
  for (const LinkKind& kind : links.kinds)
    kinds.push_back({{"engine", kind.engine}, {"direction", kind.direction}, {"unit", kind.unit}});
  for (const LinkPair& pair : links.pairs)
    pairs.push_back({{"kind", pair.kind},
                     {"from", pair.from},
                     {"to", pair.to},
                     {"value", or_null(pair.value.optional())},
                     {"bound", or_null(pair.bound.optional())}});
  const Json json{{std::string(links_key), links_version},
                  {"host", links.host},
                  {"run", links.run},
                  {"machine", links.machine},
                  {"elapsed_s", links.elapsed_s},
                  {"facts", std::move(facts)},
                  {"kinds", std::move(kinds)},
                  {"pairs", std::move(pairs)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

HostLinks parse_links(std::string_view text, const std::string& origin) {
  const ParsedJson json(text, origin);
  const Fields own(json.root(), Place{&origin});
  require_version(own, links_key, links_version, "a host's links");
  HostLinks links;
  links.host = own.text("host");
  links.run = own.text("run");
  links.machine = own.text_or("machine", "");
  links.elapsed_s = own.number("elapsed_s");
  own.each("facts", [&](const Fields& f) { links.facts.push_back(fact_of(f)); });
  own.each("kinds", [&](const Fields& f) {
    links.kinds.push_back({f.text("engine"), f.text("direction"), f.text("unit")});
  });
  own.each("pairs",
           [&](const Fields& f) { links.pairs.push_back(pair_of(f, links.kinds.size())); });
  return links;
}

}  // namespace fathom::fleet
