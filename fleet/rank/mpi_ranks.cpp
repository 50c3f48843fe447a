#include "fleet/rank/mpi_ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "results/error.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum Tag { size_tag = 1, text_tag, goodbye_tag };

/// MPI counts in int, and a large eager message costs memory on both sides.
constexpr std::size_t chunk_bytes = std::size_t{16} << 20;
constexpr auto look_again = 5ms;

/// Which process numbers mean the same: of one kernel and one container.
std::string numbering() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

/// Of what all ranks take part in before they measure. A communicator that MPI could not make is
/// not to be used: Open MPI's MPI_Allgather reads at address 0 then.
void require(int code) {
  if (code != MPI_SUCCESS)
    throw Error(ExitCode::setup_incomplete,
                "A rank was lost before all had come together: see what the others say, and start "
                "again.");
}

/// What every rank of a communicator says, by rank.
std::vector<std::string> exchange_in(MPI_Comm ranks, const std::string& text) {
  int size = 0, longest = static_cast<int>(text.size()) + 1;
  require(MPI_Comm_size(ranks, &size));
  require(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, ranks));
  const auto room = static_cast<std::size_t>(longest);
  std::string own = text;
  own.resize(room, '\0');
  std::string all(room * static_cast<std::size_t>(size), '\0');
  require(MPI_Allgather(own.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, ranks));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
    texts.emplace_back(all.c_str() + room * i);
  return texts;
}

}  // namespace

MpiJob::MpiJob(int* argc, char*** argv) {
  if (MPI_Init(argc, argv) != MPI_SUCCESS)
    throw Error(
        ExitCode::setup_incomplete,
        "MPI could not be started: start this through mpirun or srun of the MPI that Fathom was "
        "built with.");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

std::string MpiJob::library_version() const {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // Open MPI goes on after a comma, MPICH in the next line, and it has tabs.
  const std::string all(text.data(), static_cast<std::size_t>(length));
  std::string first = all.substr(0, all.find_first_of(",\n"));
  std::ranges::replace(first, '\t', ' ');
  return first;
}

void MpiJob::finalize() { MPI_Finalize(); }

void MpiJob::take_leave() {
  if (std::getenv("SLURM_STEP_ID") == nullptr || std::getenv("PMIX_RANK") == nullptr) return;
  // Open MPI has the library in, unless it brings its own.
  void* library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  using Finalize = int(const void* info, std::size_t count);
  if (auto* finalize = reinterpret_cast<Finalize*>(dlsym(library, "PMIx_Finalize")))
    finalize(nullptr, 0);
}

MpiHostTurns::MpiHostTurns(std::chrono::duration<double> limit, SignalInbox& inbox)
    : limit_(limit), inbox_(inbox) {
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_));
  MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(host_, &local_rank_);
  MPI_Comm_size(host_, &local_size_);
  const std::vector<std::string> numberings = exchange(numbering());
  const std::vector<std::string> numbers = exchange(std::to_string(getpid()));
  const bool one = std::ranges::all_of(
      numberings, [&](const std::string& n) { return !n.empty() && n == numberings.front(); });
  if (one)
    for (const std::string& number : numbers) peers_.push_back(std::stoi(number));
}

std::vector<std::string> MpiHostTurns::exchange(const std::string& text) const {
  return exchange_in(host_, text);
}

std::string MpiHostTurns::unique_host_name(const std::string& name) const {
  int leader = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &leader);
  require(MPI_Bcast(&leader, 1, MPI_INT, 0, host_));
  // Of the hosts with this name, by their leaders, this one is the how-many-eth?
  std::set<int> before;
  for (const std::string& said : exchange_in(MPI_COMM_WORLD, fmt::format("{} {}", leader, name))) {
    const auto space = said.find(' ');
    const int other = std::stoi(said.substr(0, space));
    if (said.substr(space + 1) == name && other < leader) before.insert(other);
  }
  return before.empty() ? name : fmt::format("{}-{}", name, before.size() + 1);
}

bool MpiHostTurns::peer_is_gone() const {
  return std::ranges::any_of(peers_, [](int pid) { return kill(pid, 0) != 0 && errno == ESRCH; });
}

bool MpiHostTurns::all_here() {
  if (broken_) return false;
  if (local_size_ == 1) return true;
  MPI_Request request = MPI_REQUEST_NULL;
  broken_ = MPI_Ibarrier(host_, &request) != MPI_SUCCESS;
  const auto deadline = Clock::now() + limit_;
  while (!broken_) {
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) broken_ = true;
    if (done) return true;
    inbox_.drain();
    if (inbox_.interrupts() > 0 || Clock::now() > deadline || peer_is_gone()) broken_ = true;
    std::this_thread::sleep_for(look_again);
  }
  return false;  // the request stays open: nobody can end it
}

Sending::Sending(std::string text) : text_(std::move(text)), size_(text_.size()) {
  requests_.emplace_back();
  MPI_Isend(&size_, 1, MPI_UINT64_T, 0, size_tag, MPI_COMM_WORLD, &requests_.back());
  for (std::size_t at = 0; at < text_.size(); at += chunk_bytes) {
    requests_.emplace_back();
    MPI_Isend(text_.data() + at, static_cast<int>(std::min(chunk_bytes, text_.size() - at)),
              MPI_BYTE, 0, text_tag, MPI_COMM_WORLD, &requests_.back());
  }
}

void Sending::finish() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

Gathering::Gathering(int size) {
  for (int rank = 1; rank < size; ++rank) waiting_.insert(rank);
}

void Gathering::poll(const std::function<void(int rank, std::string&& text)>& take) {
  while (true) {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, size_tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
      return;
    if (!there) break;
    Arriving& arriving = arriving_[status.MPI_SOURCE];
    MPI_Recv(&arriving.size, 1, MPI_UINT64_T, status.MPI_SOURCE, size_tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  for (auto& [rank, arriving] : arriving_) {
    // Piece by piece, so that a rank that dies in the middle holds nobody up.
    while (arriving.text.size() < arriving.size) {
      int there = 0, count = 0;
      MPI_Status status;
      if (MPI_Iprobe(rank, text_tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there)
        break;
      MPI_Get_count(&status, MPI_BYTE, &count);
      const std::size_t before = arriving.text.size();
      arriving.text.resize(before + static_cast<std::size_t>(count));
      MPI_Recv(arriving.text.data() + before, count, MPI_BYTE, rank, text_tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
  }
  for (auto at = arriving_.begin(); at != arriving_.end();) {
    if (at->second.text.size() < at->second.size) {
      ++at;
      continue;
    }
    waiting_.erase(at->first);
    take(at->first, std::move(at->second.text));
    at = arriving_.erase(at);
  }
}

void say_goodbye(int size, const std::set<int>& gone, bool all_alive) {
  const int word = all_alive;
  // A request to one that is gone is never done, and none of them is waited for.
  static std::vector<MPI_Request> requests;
  static int kept;
  kept = word;
  requests.resize(static_cast<std::size_t>(size), MPI_REQUEST_NULL);
  for (int rank = 1; rank < size; ++rank)
    if (!gone.contains(rank))
      MPI_Isend(&kept, 1, MPI_INT, rank, goodbye_tag, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(rank)]);
  if (all_alive) MPI_Waitall(size, requests.data(), MPI_STATUSES_IGNORE);
}

std::optional<bool> wait_for_goodbye(std::chrono::duration<double> limit, SignalInbox& inbox,
                                     const std::function<bool()>& in_vain) {
  const auto deadline = Clock::now() + limit;
  auto next_look = Clock::now();
  while (Clock::now() < deadline) {
    if (Clock::now() >= next_look) {
      if (in_vain()) return std::nullopt;
      next_look = Clock::now() + 300ms;
    }
    int there = 0;
    if (MPI_Iprobe(0, goodbye_tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return std::nullopt;
    if (there) {
      int word = 0;
      MPI_Recv(&word, 1, MPI_INT, 0, goodbye_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      return word != 0;
    }
    inbox.drain();
    if (inbox.interrupts() > 0) return std::nullopt;
    std::this_thread::sleep_for(look_again);
  }
  return std::nullopt;
}

}  // namespace fathom
