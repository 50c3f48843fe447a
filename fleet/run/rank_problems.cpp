#include "fleet/run/rank_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "results/atomic_file.h"
#include "results/error.h"
#include "fleet/run/rank_note.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_note = 1 << 16;

}  // namespace

std::vector<fleet::Problem> problems_of_notes(const FleetFolder& folder) {
  std::vector<fleet::Problem> problems;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.rank_note(0).parent_path(), none)) {
    const std::string name = entry.path().stem();
    int rank = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), rank);
    const bool numbered = read.ec == std::errc() && read.ptr == name.data() + name.size();
    if (!numbered || entry.path().extension() != ".note" ||
        fs::exists(folder.rank_done(rank), none))
      continue;
    std::string note;
    try {
      note = read_file_up_to(entry.path(), longest_note);
    } catch (const Error&) {
      // It is not known why.
    }
    problems.push_back(problem_of_note(rank, note));
  }
  std::ranges::sort(problems, {}, &fleet::Problem::what);
  return problems;
}

void add_rank_problems(fleet::Fleet& fleet, const std::vector<fleet::Problem>& problems) {
  for (const fleet::Problem& problem : problems) {
    bool joined = false;
    for (fleet::FleetGpu& gpu : fleet.gpus) {
      fleet::GpuSummary& s = gpu.summary;
      if (!s.rank || fmt::format("rank {}", *s.rank) != problem.what ||
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
