#include <fmt/format.h>

#include "reports/facts.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

/// The author's figure, with the author and the GPU where the document names them.
std::string claimed(const Claim& claim) {
  std::string who = claim.author;
  if (!claim.gpu.empty()) who += (who.empty() ? "on " : ", ") + claim.gpu;
  return escape_text(claim.claimed) + (who.empty() ? "" : " (" + escape_text(who) + ")");
}

}  // namespace
void write_claims(Writing& to) {
  const auto& claims = to.document.claims;
  to.page.heading(2, "Claims", "claims");
  if (claims.empty()) {
    to.page.paragraph("The document puts no claim to the test.");
    return;
  }
  to.page.paragraph(
      "Statements from the literature, with the figure that their authors give for their GPUs, and "
      "what this GPU says.");
  Table table({{"Id"}, {"Claim"}, {"Its author's figure"}, {"Verdict"}, {"This GPU"}});
  for (const Claim& claim : claims) {
    const bool decided = claim.verdict == ClaimVerdict::confirmed ||
                         claim.verdict == ClaimVerdict::refuted ||
                         claim.verdict == ClaimVerdict::conditional;
    const std::string verdict = words(claim.verdict);
    table.add_row({escape_text(claim.id), escape_text(claim.statement), claimed(claim),
                   decided ? "**" + verdict + "**" : verdict,
                   claim.figure.empty() ? "–" : escape_text(claim.figure)});
  }
  // Whole, however long: it is what many readers come for.
  to.page.table(
      fmt::format("{}: {}", counted(claims.size(), "claim", "claims"), claims_text(to.document)),
      table, "", claims.size());
  to.page.paragraph(explore_link("The entries that each verdict rests on", "view=claims") + ".");
}

}  // namespace fathom::reports
