#include "tools/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <tuple>

#include "results/text.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A process that the driver holds in the kernel does not die of SIGKILL; nothing may wait for it
// for ever.
constexpr auto patience_after_kill = 10s;
/// The longest answer of a helper program.
constexpr std::size_t longest_answer = std::size_t{1} << 30;

/// `kept_open`: a descriptor that stays open under its number; -1: none.
[[noreturn]] void become(const ChildStart& start, char* const* arguments, pid_t parent,
                         int error_socket, int kept_open) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl
  if (!start.work) signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(start.output, STDOUT_FILENO);
  dup2(start.errors, STDERR_FILENO);
  if (kept_open >= 0) fcntl(kept_open, F_SETFD, 0);
  if (!start.cpus.empty()) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const int cpu : start.cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);  // refused: it stays where its parent was
  }
  if (start.work) {
    close(error_socket);
    _exit(start.work());
  }
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  execv(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const auto written = write(error_socket, &error, sizeof error);
  _exit(127);
}

/// All that was written to it.
std::string text_of(const FileDescriptor& memory) {
  return read_file_up_to(fmt::format("/proc/self/fd/{}", memory.get()), longest_answer);
}

}  // namespace

SignalInbox::SignalInbox(Interrupts interrupts) {
  sigemptyset(&collected_);
  sigaddset(&collected_, SIGCHLD);
  if (interrupts == Interrupts::collect)
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&collected_, number);
  sigprocmask(SIG_BLOCK, &collected_, &previous_mask_);
}

SignalInbox::~SignalInbox() {
  interrupts();  // one that was collected must not act after all
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

int SignalInbox::interrupts(std::chrono::milliseconds longest) {
  timespec patience{longest.count() / 1000, longest.count() % 1000 * 1'000'000};
  for (int number; (number = sigtimedwait(&collected_, nullptr, &patience)) > 0; patience = {})
    if (number != SIGCHLD) ++interrupts_;
  return interrupts_;
}

std::string ProcessEnd::describe() const {
  if (signal == 0) return fmt::format("exit status {}", status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("signal SIG{} ({})", name ? name : std::to_string(signal), strsignal(signal));
}

ChildProcess::ChildProcess(ChildStart start) {
  // Orphans of the group become our children, so that we can reap them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string program = start.program.string();
  // The second end is only the child's from then on: if it dies, our end says so.
  const auto connected = [&](int type) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | type, 0, ends) != 0)
      fail(ExitCode::setup_incomplete, "No pair of sockets for {}: {}.", program,
           std::strerror(errno));
    return std::pair(FileDescriptor(ends[0]), FileDescriptor(ends[1]));
  };
  FileDescriptor childs;
  if (!start.socket_flags.empty()) std::tie(socket_, childs) = connected(SOCK_NONBLOCK);
  std::vector<std::string> words{program};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  for (const std::string& flag : start.socket_flags)
    words.insert(words.end(), {flag, std::to_string(childs.get())});
  auto [reader, writer] = connected(0);

  const std::vector<char*> arguments = pointers_to(words);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(start, arguments.data(), parent, writer.get(), childs.get());
  if (pid_ < 0)
    fail(ExitCode::setup_incomplete, "Cannot start {}: {}.", program, std::strerror(errno));
  setpgid(pid_, pid_);  // in both processes, so that neither has to wait for the other
  writer.close();
  int error = 0;
  if (read(reader.get(), &error, sizeof error) == sizeof error) {
    waitpid(pid_, nullptr, 0);
    fail(ExitCode::setup_incomplete, "Cannot start {}: {}; build Fathom again with ./fathom run.",
         program, std::strerror(error));
  }
}

ChildProcess::~ChildProcess() {
  if (!end_) reap_group();
}

void ChildProcess::signal(int number) const {
  if (!end_) kill(-pid_, number);
}

std::optional<ProcessEnd> ChildProcess::try_end(Stopped stopped) {
  if (end_) return end_;
  siginfo_t info{};
  // WNOWAIT: while its zombie is there, the group's number cannot be given to anyone else.
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return end_ = ProcessEnd{.stopped = stopped};  // not ours any more: someone else reaped it
  if (info.si_pid == 0) return std::nullopt;
  reap_group();
  end_ = {.stopped = stopped};
  (info.si_code == CLD_EXITED ? end_->status : end_->signal) = info.si_status;
  return end_;
}

void ChildProcess::give_up(Stopped stopped) {
  if (!end_) end_ = {.signal = SIGKILL, .unkillable = true, .stopped = stopped};
}

std::optional<std::string> ChildProcess::next_line() {
  while (true) {
    if (const auto end = begun_.find('\n'); end != begun_.npos) {
      std::string line = begun_.substr(0, end);
      begun_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> block;
    const ssize_t n = read(socket_.get(), block.data(), block.size());
    if (n == 0) socket_.close();  // it is about to end, which SIGCHLD will say
    if (n <= 0) return std::nullopt;
    begun_.append(block.data(), static_cast<std::size_t>(n));
  }
}

void ChildProcess::release(std::size_t held_beside) const {
  const auto word = static_cast<unsigned char>(std::min<std::size_t>(held_beside, 255));
  // One that has ended does not need it.
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &word, 1, MSG_NOSIGNAL);
}

void ChildProcess::reap_group() {
  kill(-pid_, SIGKILL);
  const auto deadline = Clock::now() + patience_after_kill;
  while (Clock::now() < deadline) {
    const pid_t reaped = waitpid(-pid_, nullptr, WNOHANG);
    if (reaped < 0 && errno == ECHILD && kill(-pid_, 0) != 0) return;
    if (reaped <= 0) std::this_thread::sleep_for(2ms);
  }
}

void supervise(const Children& children, SignalInbox& inbox, const Supervision& supervision) {
  const auto longest = supervision.look ? supervision.look_every : 1000ms;
  auto deadline = Clock::now() + supervision.limit;
  int told = 0;  // to stop: 2 is SIGKILL
  Stopped stopped = Stopped::no;
  const auto is_late = [&] { return Clock::now() >= deadline; };
  const auto tell = [&](int number, std::chrono::milliseconds patience) {
    for (const ChildProcess* child : children) child->signal(number);
    ++told;
    deadline = Clock::now() + patience;
  };
  for (auto patience = 0ms;; patience = longest) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const int interrupts = inbox.interrupts(std::clamp(left, 0ms, patience));
    bool all_ended = true;
    for (ChildProcess* child : children) all_ended &= child->try_end(stopped).has_value();
    if (supervision.look) supervision.look();
    if (all_ended) return;
    if (told == 0 && (interrupts > 0 || is_late())) {
      stopped = interrupts > 0 ? Stopped::interrupt : Stopped::time_limit;
      tell(interrupts > 0 ? SIGINT : SIGTERM, supervision.grace);
    }
    if (told == 1 && (interrupts > 1 || is_late())) tell(SIGKILL, patience_after_kill);
    if (told == 2 && is_late())
      for (ChildProcess* child : children) child->give_up(stopped);
  }
}

ProcessEnd supervise(ChildProcess& child, SignalInbox& inbox, const Supervision& supervision) {
  supervise(Children{&child}, inbox, supervision);
  return *child.try_end();
}

Children wait_until_ready(Children children, SignalInbox& inbox, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!children.empty() && inbox.interrupts(10ms) == 0 && Clock::now() < deadline)
    std::erase_if(children, [](auto* child) { return child->next_line() || child->try_end(); });
  return children;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

CapturedRun run_and_capture(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments,
                            std::chrono::milliseconds limit) {
  SignalInbox inbox(SignalInbox::Interrupts::act);
  const FileDescriptor output(memfd_create("output", MFD_CLOEXEC));
  const FileDescriptor errors(memfd_create("errors", MFD_CLOEXEC));
  ChildProcess child({program, arguments, output.get(), errors.get()});
  const ProcessEnd end = supervise(child, inbox, {.limit = limit, .grace = 2000ms});
  return {text_of(output), text_of(errors), end};
}

std::string last_line(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  text = text.substr(0, text.find_last_not_of(space) + 1);  // npos + 1 is 0
  text.remove_prefix(text.find_last_of("\r\n") + 1);
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  return std::string(text);
}

std::string last_line_of(const std::filesystem::path& log) {
  std::string end(4096, '\0');
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg(), longest = static_cast<std::streamoff>(end.size());
  file.seekg(std::max<std::streamoff>(0, size - longest));
  file.read(end.data(), longest);
  end.resize(static_cast<std::size_t>(file.gcount()));
  return last_line(end);
}

}  // namespace fathom
