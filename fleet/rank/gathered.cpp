#include "fleet/rank/gathered.h"

#include <fmt/format.h>

#include <thread>

#include "results/atomic_file.h"
#include "results/error.h"
#include "fleet/run/parcel.h"
#include "fleet/run/rank_note.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_note = 1 << 16;

}  // namespace

void Gathered::wait(double limit_s, SignalInbox& inbox) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit_s);
  auto next_look = Clock::now();
  while (!gathering_.complete() && Clock::now() < deadline && inbox.interrupts() == 0) {
    gathering_.poll([&](int rank, std::string&& text) { unpack(rank, text); });
    if (Clock::now() >= next_look) {
      look_for_notes();
      next_look = Clock::now() + std::chrono::milliseconds(300);
    }
    inbox.drain();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const std::string why =
      inbox.interrupts() > 0
          ? "the job was ended before it answered"
          : fmt::format("it did not answer within {} s after rank 0 was done (--wait)", limit_s);
  for (const int rank : std::set<int>(gathering_.waiting())) give_up(rank, why);
}

void Gathered::unpack(int rank, const std::string& text) {
  try {
    for (const Parcel::File& file : Parcel::open(text)) {
      const fs::path path = folder_.root / file.name;
      if (path == folder_.rank_note(rank)) {
        problems.push_back(problem_of_note(rank, file.content));
        continue;
      }
      make_folder(path.parent_path());
      write_file_atomically(path, file.content);
    }
  } catch (const Error& error) {
    problems.push_back({fmt::format("rank {}", rank), error.what(), to_int(error.code())});
  }
}

void Gathered::give_up(int rank, const std::string& why) {
  problems.push_back({fmt::format("rank {}", rank), why, to_int(ExitCode::incomplete)});
  gathering_.give_up(rank);
  gone_.insert(rank);
}

/// What supervisors of ranks that died have left.
void Gathered::look_for_notes() {
  for (const int rank : std::set<int>(gathering_.waiting())) {
    std::error_code ignored;
    if (!fs::exists(folder_.rank_note(rank), ignored)) continue;
    std::string note;
    try {
      note = read_file_up_to(folder_.rank_note(rank), longest_note);
    } catch (const Error&) {
      // It is not known why.
    }
    problems.push_back(problem_of_note(rank, note));
    gathering_.give_up(rank);
    gone_.insert(rank);
  }
}

}  // namespace fathom
