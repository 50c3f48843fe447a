#include <fmt/format.h>

#include "reports/facts.h"
#include "reports/sections.h"
#include "results/format.h"

namespace fathom::reports {
namespace {

std::string evidence(const Claim& claim) {
  std::string names;
  for (const std::string& name : claim.evidence) names += (names.empty() ? "" : ", ") + code(name);
  return names;
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
  std::vector<const Claim*> all;
  for (const Claim& claim : claims) all.push_back(&claim);
  write_claims_table(to, all);
}

void write_claims_table(Writing& to, const std::vector<const Claim*>& claims) {
  Table table({{"Id"}, {"Claim"}, {"Its author's figure"}, {"Verdict"}, {"This GPU"}});
  std::string sources;
  for (const Claim* each : claims) {
    const Claim& claim = *each;
    const bool decided = claim.verdict == ClaimVerdict::confirmed ||
                         claim.verdict == ClaimVerdict::refuted ||
                         claim.verdict == ClaimVerdict::conditional;
    const std::string verdict = words(claim.verdict);
    table.add_row({escape_text(claim.id), escape_text(claim.statement), escape_text(claim.claimed),
                   decided ? "**" + verdict + "**" : verdict,
                   claim.figure.empty() ? "–" : escape_text(claim.figure)});
    if (!claim.evidence.empty()) {
      sources += fmt::format("- **{}**: {}\n", escape_text(claim.id), evidence(claim));
    }
  }
  // Never folded: it is what many readers come for.
  to.page.table(
      fmt::format("{}: {}", counted(claims.size(), "claim", "claims"), claims_text(claims)),
      table, "", claims.size());
  if (!sources.empty()) to.page.folded("Evidence: the entries that each verdict rests on", sources);
}

}  // namespace fathom::reports
