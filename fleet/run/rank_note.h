#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fleet/fleet.h"

namespace fathom {

/// What a rank of a job leaves on the storage that all share (ranks/<rank>.note): before it
/// measures, and again at its end. One that ends in between has left why in the first.
struct RankNote {
  std::string run{};  ///< which job it is of
  int size = 1;       ///< of the job
  std::string host{};
  std::string reason{};  ///< a clause; empty: nothing went wrong beside its GPUs' own summaries
  int exit_code = 0;
  bool ended = false;
};

/// What cannot be written is said on standard error, and nothing else is lost.
void leave_note(const std::filesystem::path& root, int rank, const RankNote& note);

/// Nothing where there is none, or none that can be read.
std::optional<RankNote> read_note(const std::filesystem::path& root, int rank);

/// Adds to a fleet what went wrong with the ranks of a job, of which rank 0's note is `first`; a
/// rank without a note of it is told, too; nothing where it was no job of ranks. Goes to the row of
/// the rank's GPU where it has one that is not complete, since one death is one problem.
void add_rank_problems(fleet::Fleet& fleet, const std::filesystem::path& root,
                       const std::optional<RankNote>& first);

}  // namespace fathom
