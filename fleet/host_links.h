#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/gpu_summary.h"
#include "results/document.h"

namespace fathom::fleet {

/// A fact of the probe `links`, without what stands behind it.
struct LinkFact {
  std::string id, subject, quantity, unit;
  Better better = Better::higher;
  std::optional<double> value, bound;
  std::string bound_source;
  std::string reason;  ///< why there is no value
  friend bool operator==(const LinkFact&, const LinkFact&) = default;
};

/// Transfers between two GPUs of a host, of one kind.
struct LinkKind {
  std::string engine, direction, unit;
  friend bool operator==(const LinkKind&, const LinkKind&) = default;
};

struct LinkPair {
  std::size_t kind = 0;
  std::string from, to;  ///< GPUs
  Reading value, bound;
  friend bool operator==(const LinkPair&, const LinkPair&) = default;
};

/// What a fleet keeps of the links of one host. On disk: links.json, beside the result document of
/// the probe `links`, which is many times as large.
struct HostLinks {
  std::string host;
  std::string run;  ///< as GpuSummary has it
  std::vector<LinkFact> facts;
  std::vector<LinkKind> kinds;
  std::vector<LinkPair> pairs;
};

inline constexpr std::string_view links_file = "links.json";
inline constexpr std::string_view links_key = "fathom_fleet_links";

/// From a document of the probe `links`.
HostLinks links_of(const std::string& host, const Document& document);

/// The text of links.json.
std::string to_text(const HostLinks& links);

/// As parse_summary.
HostLinks parse_links(std::string_view text, const std::string& origin);

}  // namespace fathom::fleet
