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
  } catch (const Error&) {
    return std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

fleet::Problem problem_of(const RankNote& note) {
  const bool known = note.exit_code >= to_int(ExitCode::incomplete) &&
                     note.exit_code <= to_int(ExitCode::interrupted);
  return {name_of_rank(note.rank), fmt::format("on {}: {}", note.host, note.reason),
          known ? note.exit_code : to_int(ExitCode::incomplete)};
}

std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder) {
  std::vector<fleet::Problem> problems;
  const auto first = read_note(folder, 0);
  if (!first) return problems;  // no job of ranks
  for (int rank = 0; rank < std::min(first->size, most_ranks); ++rank) {
    const auto note = read_note(folder, rank);
    if (!note || note->run != first->run)
      problems.push_back({name_of_rank(rank), "it left no word", to_int(ExitCode::incomplete)});
    else if (!note->reason.empty())
      problems.push_back(problem_of(*note));
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
