#include <fmt/format.h>

#include <algorithm>

#include "reports/facts.h"
#include "reports/facts_table.h"
#include "reports/sections.h"
#include "results/findings.h"
#include "results/text.h"

namespace fathom::reports {
namespace {

/// What this GPU says, up to a break near `most` characters: the HTML page has the rest. Not for a
/// claim that was not decided, whose reason may be longer.
std::string shortened(const std::string& figure) {
  constexpr std::size_t most = 110;
  std::size_t end = figure.size();
  int open = 0;  // parentheses
  for (std::size_t i = 0; figure.size() > most && i + 1 < figure.size(); ++i) {
    open += (figure[i] == '(') - (figure[i] == ')');
    const bool is_break = (figure[i] == ',' || figure[i] == ';') && figure[i + 1] == ' ';
    if (!is_break || open > 0) continue;
    if (i > most && end < figure.size()) break;
    end = i;
  }
  return escape_text(figure.substr(0, end)) + (end < figure.size() ? " …" : "");
}

/// The statements of one author on one GPU.
void write_claims_of(PageContext& to, const Notes& notes, const std::vector<Claim>& claims) {
  Table table({{"Claim"}, {"Its author's figure"}, {"This GPU"}});
  for (const Claim& claim : claims) {
    const bool decided = claim.verdict < ClaimVerdict::does_not_apply;
    const std::string verdict = words(claim.verdict);
    table.add_row({escape_text(claim.id + ": " + claim.statement), escape_text(claim.claimed),
                   (decided ? "**" + verdict + "**" : verdict) +
                       (notes.is_noisy(claim.evidence) ? " ~" : "") +
                       (claim.figure.empty() ? ""
                        : decided            ? ": " + shortened(claim.figure)
                                             : ": " + escape_text(claim.figure))});
  }
  const Claim& first = claims.front();
  std::string who = first.author;
  if (!first.gpu.empty()) who += (who.empty() ? "on " : ", ") + first.gpu;
  // Whole, however long: it is what many readers come for.
  to.page.table(
      fmt::format("{}: {}",
                  who.empty() ? counted(claims.size(), "claim", "claims") : escape_text(who),
                  claims_text(claims)),
      table, "", claims.size());
}

}  // namespace

void write_claims(PageContext& to) {
  to.page.heading(2, "Claims", "claims");
  if (to.document.claims.empty()) {
    to.page.paragraph("The document puts no claim to the test.");
    return;
  }
  to.page.paragraph(fmt::format(
      "Statements from the literature, with their authors, the figures that those give for their "
      "GPUs, and what this GPU says; ~ where an entry behind it is noisy. {} {}.",
      same_speed_sentence(),
      explore_link("Every figure in full, and the entries that it rests on", "view=claims")));
  std::vector<std::vector<Claim>> groups;
  for (const Claim& claim : to.document.claims) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) {
      return group.front().author == claim.author && group.front().gpu == claim.gpu;
    });
    if (same == groups.end())
      groups.push_back({claim});
    else
      same->push_back(claim);
  }
  const Notes notes(to.document);
  for (const auto& group : groups) write_claims_of(to, notes, group);
}

}  // namespace fathom::reports
