#include "fleet/run/host_barrier.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "fleet/run/jobs.h"

namespace fathom {

HostBarrier::~HostBarrier() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

std::string HostBarrier::make_own() {
  file_ = "/dev/shm/fathom-" + new_run();
  own_ = FileDescriptor(open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  broken_ = own_.get() < 0 || flock(own_.get(), LOCK_EX) != 0;
  return broken_ ? "" : file_.string();
}

void HostBarrier::join(const std::vector<std::string>& others,
                       std::chrono::duration<double> limit) {
  limit_ = limit;
  for (const std::string& other : others) {
    others_.emplace_back(open(other.c_str(), O_RDONLY | O_CLOEXEC));
    if (others_.back().get() < 0) broken_ = true;
  }
}

bool HostBarrier::all_here(SignalInbox& inbox) {
  if (others_.empty()) return true;
  ++parts_;
  broken_ = broken_ || ftruncate(own_.get(), parts_) != 0;
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit_;
  for (const FileDescriptor& other : others_) {
    const auto is_here = [&] {
      struct stat now {};
      return fstat(other.get(), &now) == 0 && now.st_size >= parts_;
    };
    while (!broken_ && !is_here()) {
      inbox.drain();
      // Its lock is free once it has ended; it may have come here before that.
      const bool ended = flock(other.get(), LOCK_SH | LOCK_NB) == 0;
      broken_ = (ended && !is_here()) || inbox.interrupts() > 0 || Clock::now() > deadline;
      if (!broken_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::error_code ignored;
  if (broken_)
    own_.close();  // the others are not to wait for this one either
  else if (parts_ == 1)
    std::filesystem::remove(file_, ignored);  // all have opened it
  return !broken_;
}

}  // namespace fathom
