#include <fmt/format.h>

#include "gate/outputs.h"
#include "results/clean_text.h"
#include "results/format.h"

// The syntax is that of GitHub's page "Workflow commands for GitHub Actions".

namespace fathom::gate {
namespace {

constexpr std::size_t shown_by_github = 10;

/// What ends a command's message, or begins an escape, is escaped.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : clean(text)) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

std::string command(const char* level, const std::string& title, const std::string& message) {
  return fmt::format("::{} title={}::{}\n", level, escaped(title, true), escaped(message, false));
}

/// At most as many as GitHub shows; the last one then says how many more there are.
std::string commands(const char* level, const std::string& title,
                     const std::vector<std::string>& messages) {
  std::string text;
  const bool too_many = messages.size() > shown_by_github;
  const std::size_t told = too_many ? shown_by_github - 1 : messages.size();
  for (std::size_t i = 0; i < told; ++i) text += command(level, title, messages[i]);
  if (too_many)
    text +=
        command(level, title,
                fmt::format("and {} more: see the summary", format_count(messages.size() - told)));
  return text;
}

}  // namespace

std::string github_annotations(const CheckResult& result) {
  if (result.ended) return commands("error", "Check ended", result.refusals);
  const auto lines = [&](Outcome outcome) {
    std::vector<std::string> found;
    for (const MetricDecision* metric : with_outcome(result, outcome))
      found.push_back(one_line(*metric));
    return found;
  };
  std::string text = commands("error", "Regression", lines(Outcome::regression)) +
                     commands("error", "Missing metric", lines(Outcome::missing));
  std::vector<std::string> undecided = why_undecided(result);
  for (const std::string& line : lines(Outcome::inconclusive)) undecided.push_back(line);
  text += commands("warning", "Inconclusive", undecided);
  return text + commands("notice", "Improvement", lines(Outcome::improved));
}

}  // namespace fathom::gate
