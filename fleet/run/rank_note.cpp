#include "fleet/run/rank_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "results/atomic_file.h"
#include "results/error.h"
#include "tools/output_folder.h"

namespace fathom {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankNote, run, size, host, reason, exit_code, ended)

namespace {

using nlohmann::json;

constexpr std::size_t longest_note = 1 << 16;
constexpr int most_ranks = 10'000'000;

std::filesystem::path file_of(const std::filesystem::path& root, int rank) {
  return root / "ranks" / fmt::format("{}.note", rank);
}

/// Whether the rank's GPU has a row of its own that takes the problem in.
bool join(fleet::Fleet& fleet, int rank, const fleet::Problem& problem) {
  bool joined = false;
  for (fleet::FleetGpu& gpu : fleet.gpus) {
    fleet::GpuSummary& s = gpu.summary;
    if (s.rank != rank || s.status == fleet::GpuStatus::complete) continue;
    const auto row = std::ranges::find(fleet.problems, name_of(s), &fleet::Problem::what);
    if (row == fleet.problems.end()) continue;
    row->reason = s.reason = fmt::format("{}, {}; {}", problem.what, problem.reason, s.reason);
    joined = true;
  }
  return joined;
}

}  // namespace

void leave_note(const std::filesystem::path& root, int rank, const RankNote& note) {
  try {
    make_folder(root / "ranks");
    write_file_atomically(file_of(root, rank),
                          json(note).dump(-1, ' ', false, json::error_handler_t::replace));
  } catch (const Error& error) {
    fmt::print(stderr, "fathom: rank {}: {}\n", rank, error.what());
  }
}

std::optional<RankNote> read_note(const std::filesystem::path& root, int rank) {
  try {
    return json::parse(read_file_up_to(file_of(root, rank), longest_note)).get<RankNote>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void add_rank_problems(fleet::Fleet& fleet, const std::filesystem::path& root,
                       const std::optional<RankNote>& first) {
  if (!first) return;
  for (int rank = 0; rank < std::min(first->size, most_ranks); ++rank) {
    const auto note = rank == 0 ? first : read_note(root, rank);
    fleet::Problem problem{fmt::format("rank {}", rank), "it left no word",
                           to_int(ExitCode::incomplete)};
    if (note && note->run == first->run) {
      if (note->reason.empty()) continue;
      problem.reason = fmt::format("on {}: {}", note->host, note->reason);
      problem.exit_code = fleet::known_code(note->exit_code);
    }
    if (!join(fleet, rank, problem)) fleet.problems.push_back(problem);
  }
}

}  // namespace fathom
