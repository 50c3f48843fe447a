#pragma once

#include <fnmatch.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::gate {

/// What a user decided about some metrics, and why.
struct Rule {
  std::string pattern;  ///< of names, as a shell's: * ? [abc]
  bool ignore = false;
  std::optional<double> threshold;  ///< least effect that counts, relative: 0.03 is 3 %
  std::string reason;               ///< never empty
};

/// In the order of the file; of several that match a metric the first counts.
using Rules = std::vector<Rule>;

/// Reads rules from TOML (docs/gate.md, "Rules"). Throws Error(bad_input) naming `origin`, the line
/// and what was expected.
Rules parse_rules(std::string_view toml, const std::string& origin);
Rules read_rules(const std::filesystem::path& path);

/// Null where no rule matches.
inline const Rule* find_rule(const Rules& rules, const std::string& metric) {
  for (const Rule& rule : rules)
    if (fnmatch(rule.pattern.c_str(), metric.c_str(), 0) == 0) return &rule;
  return nullptr;
}

}  // namespace fathom::gate
