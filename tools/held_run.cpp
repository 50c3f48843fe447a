#include "tools/held_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "results/fail.h"

namespace fathom {

HeldRun::HeldRun(ChildStart start, Start when) {
  int ends[2] = {-1, -1};
  if (when == Start::held && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail(ExitCode::setup_incomplete, "No pair of sockets for {}: {}.", start.program.string(),
         std::strerror(errno));
  gate_ = FileDescriptor(ends[0]);
  // Only the child's from then on: if it dies, the other end says so.
  const FileDescriptor inner(ends[1]);
  if (when == Start::held) {
    start.kept_open.push_back(inner.get());
    start.arguments.insert(start.arguments.end(), {"--start-fd", std::to_string(inner.get())});
  }
  child_ = std::make_unique<ChildProcess>(start);
}

void HeldRun::release(std::size_t held_beside) const {
  const auto word = static_cast<unsigned char>(std::min<std::size_t>(held_beside, 255));
  // One that has ended does not need it.
  [[maybe_unused]] const ssize_t sent = send(gate_.get(), &word, 1, MSG_NOSIGNAL);
}

std::vector<const HeldRun*> wait_for_words(const std::vector<const HeldRun*>& runs,
                                           SignalInbox& inbox, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::vector<const HeldRun*> silent = runs;
  while (!silent.empty() && inbox.interrupts() == 0 &&
         std::chrono::steady_clock::now() < deadline) {
    std::vector<pollfd> waiting;
    for (const HeldRun* run : silent) waiting.push_back({run->words(), POLLIN, 0});
    constexpr int look_again_ms = 100;
    poll(waiting.data(), waiting.size(), look_again_ms);
    std::vector<const HeldRun*> still;
    bool some_are_ending = false;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      char word = 0;
      if (waiting[i].revents == 0) {
        still.push_back(silent[i]);
      } else if (recv(waiting[i].fd, &word, 1, MSG_DONTWAIT) == 0 && silent[i]->child() &&
                 !silent[i]->child()->try_end()) {
        // A process closes its files a moment before it has ended, and who asks then how it did
        // would hear that it lives.
        still.push_back(silent[i]);
        some_are_ending = true;
      }
    }
    silent = std::move(still);
    if (some_are_ending) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    inbox.drain();
  }
  return silent;
}

}  // namespace fathom
