#include "fleet/run/rank_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/atomic_file.h"
#include "results/error.h"
#include "tools/output_folder.h"

namespace fathom {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankNote, run, rank, size, host, reason, exit_code, ended)

namespace {

using nlohmann::json;

constexpr std::size_t longest_note = 1 << 16;
constexpr int most_ranks = 10'000'000;

std::string name_of_rank(int rank) { return fmt::format("rank {}", rank); }

}  // namespace

void leave_note(const FleetFolder& folder, const RankNote& note) {
  const auto file = folder.rank_note(note.rank);
  try {
    make_folder(file.parent_path());
    write_file_atomically(file, json(note).dump(-1, ' ', false, json::error_handler_t::replace));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", note.rank, error.what());
  }
}

std::optional<RankNote> read_note(const FleetFolder& folder, int rank) {
  try {
    return json::parse(read_file_up_to(folder.rank_note(rank), longest_note)).get<RankNote>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder,
                                              const std::optional<RankNote>& first,
                                              const std::string& no_answer) {
  constexpr int incomplete = to_int(ExitCode::incomplete);
  std::vector<fleet::Problem> problems;
  if (!first) return problems;  // no job of ranks
  for (int rank = 0; rank < std::min(first->size, most_ranks); ++rank) {
    const auto note = rank == 0 ? first : read_note(folder, rank);
    const bool there = note && note->run == first->run;
    if (!no_answer.empty() && rank > 0 && !(there && note->ended))
      problems.push_back({name_of_rank(rank), no_answer, incomplete});
    else if (!there)
      problems.push_back({name_of_rank(rank), "it left no word", incomplete});
    else if (!note->reason.empty())
      problems.push_back({name_of_rank(rank), fmt::format("on {}: {}", note->host, note->reason),
                          fleet::known_code(note->exit_code)});
  }
  return problems;
}

void add_rank_problems(fleet::Fleet& fleet, const std::vector<fleet::Problem>& problems) {
  for (const fleet::Problem& problem : problems) {
    bool joined = false;
    for (fleet::FleetGpu& gpu : fleet.gpus) {
      fleet::GpuSummary& s = gpu.summary;
      if (!s.rank || name_of_rank(*s.rank) != problem.what ||
          s.status == fleet::GpuStatus::complete)
        continue;
      const auto row = std::ranges::find(fleet.problems, name_of(s), &fleet::Problem::what);
      if (row == fleet.problems.end()) continue;
      s.reason = fmt::format("{}, {}; {}", problem.what, problem.reason, s.reason);
      row->reason = s.reason;
      joined = true;
    }
    if (!joined) fleet.problems.push_back(problem);
  }
}

}  // namespace fathom
