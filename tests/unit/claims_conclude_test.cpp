// Where claims' verdicts turn: how far each figure that decides one may move before it is another
// verdict, from what was recorded on an H200. A rule with another limit, another counter or another
// entry has another text.

#include "probes/claims.h"
#include "results/document.h"
#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;

namespace {

/// A figure of an entry: how it is scaled, and taken out where the factor is NaN.
struct Dial {
  std::string name;
  std::function<void(Entry&, double factor)> turn;
};

void scale(std::optional<double>& value, double factor) {
  value = std::isnan(factor) ? std::nullopt : std::optional(*value * factor);
}

std::vector<Dial> dials_of(const Entry& entry) {
  std::vector<Dial> dials;
  if (entry.metric.value)
    dials.push_back({"figure", [](Entry& e, double by) { scale(e.metric.value, by); }});
  if (entry.timing.sm_clock_hz)
    dials.push_back({"clock", [](Entry& e, double by) { scale(e.timing.sm_clock_hz, by); }});
  for (std::size_t i = 0; i < entry.counters.size(); ++i)
    if (entry.counters[i].value)
      dials.push_back(
          {entry.counters[i].role, [i](Entry& e, double by) { scale(e.counters[i].value, by); }});
  for (const auto& [name, value] : entry.extras)
    dials.push_back({name, [name = name, value = value](Entry& e, double by) {
                       if (std::isnan(by))
                         e.extras.erase(name);
                       else
                         e.extras[name] = value * by;
                     }});
  return dials;
}

/// "; refuted below 0.95 x figure" of each dial of an entry that turns the verdict.
std::string turns_of(const std::vector<Entry>& entries, std::size_t place,
                     const std::function<std::string(const std::vector<Entry>&)>& verdict_of) {
  const std::string verdict = verdict_of(entries);
  std::vector<Entry> others = entries;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
  std::string text;
  if (const std::string then = verdict_of(others); then != verdict) text += then + " without it; ";
  others = entries;
  for (const auto& [name, turn] : dials_of(entries[place])) {
    const auto turned = [&](double factor) {
      others[place] = entries[place];
      turn(others[place], factor);
      try {
        return verdict_of(others);
      } catch (const std::exception& e) {
        return fmt::format("throws {}", e.what());
      }
    };
    std::string turns;
    for (const auto& [near, far, word] :
         {std::tuple{0.5, 1.0 / 64, "below"}, {2.0, 64.0, "above"}}) {
      double stays = 1, other = turned(near) == verdict ? far : near;
      if (turned(other) == verdict) continue;
      while (std::abs(other / stays - 1) > 1e-3) {
        const double between = std::sqrt(other * stays);
        (turned(between) == verdict ? stays : other) = between;
      }
      turns += fmt::format("{} {} {:.4g} x, ", turned(other), word, other);
    }
    for (const auto& [factor, word] : {std::pair{0.0, "at 0"}, {NAN, "if missing"}})
      if (const std::string then = turned(factor);
          then != verdict && (factor != 0 || then != turned(1.0 / 64)))
        turns += fmt::format("{} {}, ", then, word);
    if (!turns.empty()) text += name + ": " + turns.substr(0, turns.size() - 2) + "; ";
  }
  return text.substr(0, text.size() - std::min<std::size_t>(2, text.size()));
}

}  // namespace

TEST_CASE("Claims turn where their rules say", "[probes][gemm]") {
  std::string all;
  for (const char* folder : {"", "gemm/"}) {
    const Document recorded = read_document(std::filesystem::path(FATHOM_SOURCE_DIR) /
                                            "recordings/h200" / folder / "result.json");
    for (const Claim& claim : recorded.claims) {
      std::vector<Entry> entries;
      for (const std::string& name : claim.evidence)
        entries.push_back(named(recorded.entries, &Entry::name, name));
      const auto verdict_of = [&](const std::vector<Entry>& of) {
        const auto claims = conclusion_of(claim.probe)(of).claims;
        return std::string(to_string(planted::claim(claims, claim.id).verdict));
      };
      all += fmt::format("{}: {}\n", claim.id, verdict_of(entries));
      // Many entries are alike: two stand for them.
      const std::size_t turned = entries.size() > 7 ? 2 : entries.size();
      std::string last;
      for (std::size_t i = 0; i < turned; ++i) {
        const std::string turns = turns_of(entries, i, verdict_of);
        if (!turns.empty() && turns != last) all += "  " + entries[i].name + ": " + turns + "\n";
        last = turns;
      }
    }
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/claims.txt", all);
}
