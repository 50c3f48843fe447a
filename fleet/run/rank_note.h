#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/run/measure.h"

namespace fathom {

/// What a rank of a job leaves on the storage that all share (ranks/<rank>.note): before it
/// measures, and again at its end. One that ends in between has left why in the first.
struct RankNote {
  std::string run{};  ///< which job it is of
  int rank = 0, size = 1;
  std::string host{};
  std::string reason{};  ///< a clause; empty: nothing went wrong beside its GPUs' own summaries
  int exit_code = 0;
  bool ended = false;
};

/// What cannot be written is said on standard error, and nothing else is lost.
void leave_note(const FleetFolder& folder, const RankNote& note);

/// Nothing where there is none, or none that can be read.
std::optional<RankNote> read_note(const FleetFolder& folder, int rank);

fleet::Problem problem_of(const RankNote& note);

/// What went wrong with ranks of the folder's last job of ranks; a rank without a note is told,
/// too.
std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder);

/// Adds what went wrong with ranks to a fleet: to the row of the rank's GPU where it has one that
/// is not complete, since one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::vector<fleet::Problem>& problems);

}  // namespace fathom
