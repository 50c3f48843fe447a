#include "reports/page/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/fail.h"
#include "results/fields.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// What the page reads of an answer, by example; null: a number, a string or null; "name?": it may
/// be absent or null.
constexpr char shape[] = R"({
  "command": "", "seconds": 0, "end": "", "notes": [""],
  "kernels": [{
    "name": "", "launches": 0, "recorded_launches": 0, "blocks": 0, "recorded_blocks": 0,
    "threads_per_block": 0, "accesses": 0, "kept_accesses": 0,
    "measured?": {
      "launches": 0, "seconds": 0, "counters": {}, "recorded": {},
      "bandwidths": [{"level": "", "bytes_per_second": 0, "bound": null}],
      "waits": [{"file": null, "line": null, "offset": 0, "samples": 0, "share": 0, "reasons": {}}]
    },
    "lines": [{
      "file": null, "line": null, "offset": 0, "space?": "", "operation?": "",
      "bytes_per_lane?": 0, "accesses?": 0, "active_lanes?": 0, "sectors?": 0,
      "least_sectors?": 0, "wavefronts?": 0, "least_wavefronts?": 0,
      "faults": [{"rule": "", "what": "", "fix": "", "saved": 0}]
    }]
  }],
  "sources": [{"file": "", "text": ""}]
})";

void require(const nlohmann::json& value, const nlohmann::json& like, const Place& place) {
  if (like.is_null() && value.is_primitive()) return;
  if (like.is_number() ? !value.is_number() : like.type() != value.type())
    place.refuse(fmt::format("is of type {}; expected: {}", value.type_name(), like.type_name()));
  if (like.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) require(value[i], like[0], place.at(i));
  if (!like.is_object()) return;
  for (const auto& [key, member] : like.items()) {
    const bool optional = key.ends_with('?');
    const std::string name = optional ? key.substr(0, key.size() - 1) : key;
    const auto found = value.find(name);
    if (optional && (found == value.end() || found->is_null())) continue;
    if (found != value.end())
      require(*found, member, place.at(name));
    else
      place.refuse(fmt::format("has no member \"{}\", which was expected", name));
  }
}

}  // namespace

std::optional<nlohmann::json> read_explained(std::string_view text, const std::string& origin) {
  constexpr std::string_view any_version = "fathom explain ";
  // A result document of megabytes is not parsed for it.
  if (text.find(fmt::format("\"{}", any_version)) == text.npos) return std::nullopt;
  nlohmann::json answer = parse_strict_json(text, origin, "a document of Fathom");
  const auto format = answer.find("format");
  if (format == answer.end() || !format->is_string()) return std::nullopt;
  const std::string version = *format;
  if (!version.starts_with(any_version)) return std::nullopt;
  if (version != explained_format)
    fail(
        ExitCode::document_version,
        "{}: is an answer of another version, \"{}\", and this Fathom reads \"{}\": use the Fathom "
        "that wrote it, or explain again.",
        origin, quotable(version), explained_format);
  require(answer, nlohmann::json::parse(shape), {&origin});
  answer["origin"] = origin;
  return answer;
}

}  // namespace fathom::reports
