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

/// What went wrong with the ranks of one job, of which `first` is rank 0's note; a rank without a
/// note is told, too. `no_answer`: the reason for each other rank that has not ended; empty: the
/// reason in its note.
std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder,
                                              const std::optional<RankNote>& first,
                                              const std::string& no_answer = "");

/// Adds what went wrong with ranks to a fleet: to the row of the rank's GPU where it has one that
/// is not complete, since one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::vector<fleet::Problem>& problems);

}  // namespace fathom
