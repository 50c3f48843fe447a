#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/document.h"

namespace fathom::gate {

// What is done to one decision of `fathom check`, drawn from a seed, so that the same command does
// the same again.

/// `unchanged`: nothing. `slowed`: some metrics of the head do a little more work. `faults`: some
/// of them have a real fault. `disturbed`: nothing but another load beside it.
enum class TrialKind { unchanged, slowed, faults, disturbed };
FATHOM_WORDS(TrialKind, "unchanged", "slowed", "faults", "disturbed")

/// When the other load runs. `once`: from a random moment to another. `bursts`: on and off for
/// seconds. `sides`: beside four of five of the head's rounds and one of five of the base's.
/// `head`: beside all the head's and none of the base's, which is as bad as it can be.
enum class LoadPattern { once, bursts, sides, head };
FATHOM_WORDS(LoadPattern, "once", "bursts", "sides", "head")

/// Throws Error(bad_input) for a name that is none.
TrialKind trial_kind(const std::string& name);
LoadPattern load_pattern(const std::string& name);

/// A fault of one metric. `fault` is the victim's flag for it; of "slow" the size is relative, 0.03
/// for 3 % more work, of the others a share.
struct Planted {
  std::string metric, fault;
  double size = 0;
};

struct LoadPlan {
  LoadPattern pattern = LoadPattern::once;
  std::string work;  ///< what it does: "fma", "copy" or "both"
};

struct TrialPlan {
  std::size_t index = 0;
  std::uint64_t seed = 1;
  std::vector<Planted> planted;
  std::optional<LoadPlan> load;
};

struct TrialOptions {
  TrialKind kind = TrialKind::unchanged;
  std::uint64_t seed = 1;
  std::size_t slowed = 0;       ///< metrics slowed in one decision; 0: a third of them
  std::vector<double> sizes{};  ///< relative; each is used equally often
  std::vector<LoadPattern> patterns{};
};

/// The decision with this number. `metrics` are the victim's names; which fault one can have
/// follows from its second word: "gate_victim/shared/...". Throws Error(bad_input) where no metric
/// can have what is to be planted.
TrialPlan plan_trial(const TrialOptions& options, const std::vector<std::string>& metrics,
                     std::size_t index);

/// The faults as the victim's flags, for the shell: " --slow 'a=1.03,b=1.05'".
std::string victim_flags(const std::vector<Planted>& planted);

}  // namespace fathom::gate
