#include "fleet/run/children.h"

#include <poll.h>

#include <csignal>
#include <optional>

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;

// As tools/child_process.cpp: a process that the driver holds does not die of SIGKILL.
constexpr std::chrono::seconds patience_with_children{10};
constexpr int look_again_ms = 100;

}  // namespace

std::vector<SupervisedEnd> supervise_all(std::vector<std::unique_ptr<ChildProcess>>& children,
                                         SignalInbox& inbox, std::chrono::milliseconds limit,
                                         std::chrono::milliseconds grace) {
  std::vector<std::optional<SupervisedEnd>> ends(children.size());
  enum class Phase { running, told_to_stop, killed } phase = Phase::running;
  Stopped stopped = Stopped::no;
  auto deadline = Clock::now() + limit;
  const int interrupts_before = inbox.interrupts();
  const auto tell_all = [&](int number, Phase next, std::chrono::milliseconds patience) {
    for (std::size_t i = 0; i < children.size(); ++i)
      if (!ends[i]) children[i]->signal(number);
    phase = next;
    deadline = Clock::now() + patience;
  };
  while (true) {
    std::size_t running = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (ends[i]) continue;
      if (const auto end = children[i]->try_end())
        ends[i] = SupervisedEnd{*end, stopped};
      else
        ++running;
    }
    if (running == 0) break;
    const int interrupts = inbox.interrupts() - interrupts_before;
    if (interrupts > 0 && phase == Phase::running) {
      stopped = Stopped::interrupt;
      tell_all(SIGINT, Phase::told_to_stop, grace);
    } else if (interrupts > 1 && phase == Phase::told_to_stop) {
      tell_all(SIGKILL, Phase::killed, patience_with_children);
    } else if (Clock::now() >= deadline) {
      if (phase == Phase::running) {
        stopped = Stopped::time_limit;
        tell_all(SIGTERM, Phase::told_to_stop, grace);
      } else if (phase == Phase::told_to_stop) {
        tell_all(SIGKILL, Phase::killed, patience_with_children);
      } else {
        for (auto& end : ends)
          if (!end) end = SupervisedEnd{ProcessEnd{0, SIGKILL, true}, stopped};
        break;
      }
    }
    pollfd source{inbox.descriptor(), POLLIN, 0};
    poll(&source, 1, look_again_ms);
    inbox.drain();
  }
  std::vector<SupervisedEnd> all;
  for (const auto& end : ends) all.push_back(*end);
  return all;
}

}  // namespace fathom
