#include "tools/held_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "results/error.h"

namespace fathom {

HeldRun::HeldRun(ChildStart start) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ExitCode::setup_incomplete,
                fmt::format("No pair of sockets for {}: {}.", start.program.string(),
                            std::strerror(errno)));
  gate_ = FileDescriptor(ends[0]);
  // Only the child's from then on: if it dies, the other end says so.
  const FileDescriptor inner(ends[1]);
  start.kept_open.push_back(inner.get());
  start.arguments.insert(start.arguments.end(), {"--start-fd", std::to_string(inner.get())});
  child_ = std::make_unique<ChildProcess>(start);
}

void HeldRun::release(std::size_t held_beside) const {
  const auto word = static_cast<unsigned char>(std::min<std::size_t>(held_beside, 255));
  // One that has ended does not need it.
  [[maybe_unused]] const ssize_t sent = send(gate_.get(), &word, 1, MSG_NOSIGNAL);
}

void wait_for_words(const std::vector<const HeldRun*>& runs, SignalInbox& inbox,
                    std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::vector<pollfd> waiting;
  for (const HeldRun* run : runs) waiting.push_back({run->gate_.get(), POLLIN, 0});
  while (!waiting.empty() && inbox.interrupts() == 0 &&
         std::chrono::steady_clock::now() < deadline) {
    constexpr int look_again_ms = 100;
    poll(waiting.data(), waiting.size(), look_again_ms);
    std::erase_if(waiting, [](const pollfd& source) {
      if (source.revents == 0) return false;
      char word = 0;  // of one that has ended there is none
      [[maybe_unused]] const ssize_t read = recv(source.fd, &word, 1, MSG_DONTWAIT);
      return true;
    });
    inbox.drain();
  }
}

}  // namespace fathom
