#include "tools/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
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

#include "results/fail.h"
#include "results/files.h"

namespace fathom {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A process that the driver holds in the kernel does not die of SIGKILL; nothing may wait for it
// for ever.
constexpr auto patience_after_kill = 10s;
/// The longest answer of a helper program.
constexpr std::size_t longest_answer = std::size_t{1} << 30;

[[noreturn]] void become(const ChildStart& start, char* const* arguments, pid_t parent,
                         int error_pipe) {
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
  for (const int descriptor : start.kept_open) fcntl(descriptor, F_SETFD, 0);
  if (!start.cpus.empty()) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const int cpu : start.cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);  // refused: it stays where its parent was
  }
  if (start.work) {
    close(error_pipe);
    _exit(start.work());
  }
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  execv(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const auto written = write(error_pipe, &error, sizeof error);
  _exit(127);
}

/// All that was written to it.
std::string text_of(const FileDescriptor& memory) {
  return read_file_up_to(fmt::format("/proc/self/fd/{}", memory.get()), longest_answer);
}

/// Hands the lines that have come through a pipe on; its number is -1 once every writer has closed
/// it. `begun`: what there is of the next line.
void read_lines(int& pipe, std::string& begun, const std::function<void(std::string_view)>& line) {
  std::array<char, 4096> block;
  while (pipe >= 0) {
    const ssize_t n = read(pipe, block.data(), block.size());
    if (n < 0) return;
    if (n == 0) pipe = -1;
    begun.append(block.data(), static_cast<std::size_t>(n));
    for (std::size_t end; (end = begun.find('\n')) != begun.npos; begun.erase(0, end + 1))
      line(std::string_view(begun).substr(0, end));
  }
}

}  // namespace

SignalInbox::SignalInbox(Interrupts interrupts) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  if (interrupts == Interrupts::collect)
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, number);
  sigprocmask(SIG_BLOCK, &wanted, &previous_mask_);
  descriptor_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalInbox::~SignalInbox() {
  drain();  // an interrupt that was collected must not act after all
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void SignalInbox::drain() {
  signalfd_siginfo info;
  while (read(descriptor_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) ++interrupts_;
}

std::string ProcessEnd::describe() const {
  if (signal == 0) return fmt::format("exit status {}", status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("signal SIG{} ({})", name ? name : std::to_string(signal), strsignal(signal));
}

ChildProcess::ChildProcess(const ChildStart& start) {
  // Orphans of the group become our children, so that we can reap them.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<std::string> words{start.program.string()};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(ExitCode::setup_incomplete, "No pipe for {}: {}.", words.front(), std::strerror(errno));
  const FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(start, arguments.data(), parent, writer.get());
  if (pid_ < 0)
    fail(ExitCode::setup_incomplete, "Cannot start {}: {}.", words.front(), std::strerror(errno));
  setpgid(pid_, pid_);  // in both processes, so that neither has to wait for the other
  writer.close();
  int error = 0;
  if (read(reader.get(), &error, sizeof error) == sizeof error) {
    waitpid(pid_, nullptr, 0);
    fail(ExitCode::setup_incomplete, "Cannot start {}: {}; build Fathom again with ./fathom run.",
         words.front(), std::strerror(error));
  }
}

ChildProcess::~ChildProcess() {
  if (end_) return;
  signal(SIGKILL);
  const auto deadline = Clock::now() + patience_after_kill;
  while (!try_end() && Clock::now() < deadline) std::this_thread::sleep_for(10ms);
}

void ChildProcess::signal(int number) const {
  if (!end_) kill(-pid_, number);
}

std::optional<ProcessEnd> ChildProcess::try_end() {
  if (end_) return end_;
  siginfo_t info{};
  // WNOWAIT: while its zombie is there, the group's number cannot be given to anyone else.
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    end_ = ProcessEnd{};  // not ours any more: someone else reaped it
    return end_;
  }
  if (info.si_pid == 0) return std::nullopt;
  reap_group();
  end_ = info.si_code == CLD_EXITED ? ProcessEnd{info.si_status, 0} : ProcessEnd{0, info.si_status};
  return end_;
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

namespace {

/// Until all have ended, or one of them, with nothing, by its word.
std::vector<std::optional<SupervisedEnd>> watch(const std::vector<ChildProcess*>& children,
                                                SignalInbox& inbox, const Supervision& supervision,
                                                int word = -1) {
  int pipe = supervision.lines_from;
  std::string begun;
  const auto read_available = [&] { read_lines(pipe, begun, supervision.line); };
  std::vector<std::optional<SupervisedEnd>> ends(children.size());
  auto deadline = Clock::now() + supervision.limit;
  enum class Phase { running, told_to_stop, killed } phase = Phase::running;
  Stopped stopped = Stopped::no;
  const int interrupts_before = inbox.interrupts();
  const auto is_late = [&] { return Clock::now() >= deadline; };
  const auto tell = [&](int number, Phase next, std::chrono::milliseconds patience) {
    for (std::size_t i = 0; i < children.size(); ++i)
      if (!ends[i]) children[i]->signal(number);
    phase = next;
    deadline = Clock::now() + patience;
  };

  while (true) {
    bool running = false;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (ends[i]) continue;
      if (const auto end = children[i]->try_end())
        ends[i] = SupervisedEnd{*end, stopped};
      else
        running = true;
    }
    if (!running) {
      read_available();
      return ends;
    }
    const int interrupts = inbox.interrupts() - interrupts_before;
    if (phase == Phase::running && (interrupts > 0 || is_late())) {
      stopped = interrupts > 0 ? Stopped::interrupt : Stopped::time_limit;
      tell(interrupts > 0 ? SIGINT : SIGTERM, Phase::told_to_stop, supervision.grace);
    }
    if (phase == Phase::told_to_stop && (interrupts > 1 || is_late()))
      tell(SIGKILL, Phase::killed, patience_after_kill);
    if (phase == Phase::killed && is_late()) {
      for (auto& end : ends)
        if (!end) end = SupervisedEnd{ProcessEnd{0, SIGKILL, true}, stopped};
      return ends;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (supervision.tick) supervision.tick();
    const long longest = supervision.tick ? 20 : 1000;
    const int wait_ms = static_cast<int>(std::clamp<long>(left.count() + 1, 1, longest));
    std::array<pollfd, 3> sources{pollfd{inbox.descriptor(), POLLIN, 0}, pollfd{pipe, POLLIN, 0},
                                  pollfd{word, POLLIN, 0}};
    poll(sources.data(), sources.size(), wait_ms);
    inbox.drain();
    read_available();
    if (sources[2].revents == 0) continue;
    char byte = 0;
    if (recv(word, &byte, 1, MSG_DONTWAIT) == 1 && phase == Phase::running) return ends;
    word = -1;  // closed: the child is about to end; or it was told to, and that is waited for
  }
}

}  // namespace

SupervisedEnd supervise(ChildProcess& child, SignalInbox& inbox, const Supervision& supervision) {
  return *watch({&child}, inbox, supervision).front();
}

std::optional<SupervisedEnd> supervise_until_word(ChildProcess& child, SignalInbox& inbox,
                                                  const Supervision& supervision, int word) {
  return watch({&child}, inbox, supervision, word).front();
}

std::vector<SupervisedEnd> supervise_all(const std::vector<std::unique_ptr<ChildProcess>>& children,
                                         SignalInbox& inbox, const Supervision& supervision) {
  std::vector<ChildProcess*> all;
  for (const auto& child : children) all.push_back(child.get());
  std::vector<SupervisedEnd> ends;
  for (const auto& end : watch(all, inbox, supervision)) ends.push_back(*end);
  return ends;
}

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

std::vector<CapturedRun> run_all_and_capture(const std::vector<std::filesystem::path>& programs,
                                             const std::vector<std::string>& arguments,
                                             std::chrono::milliseconds limit) {
  SignalInbox inbox(SignalInbox::Interrupts::act);
  std::vector<FileDescriptor> output, errors;
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (const auto& program : programs) {
    output.emplace_back(memfd_create("output", MFD_CLOEXEC));
    errors.emplace_back(memfd_create("errors", MFD_CLOEXEC));
    children.push_back(std::make_unique<ChildProcess>(
        ChildStart{program, arguments, output.back().get(), errors.back().get()}));
  }
  const auto ends = supervise_all(children, inbox, {.limit = limit, .grace = 2000ms, .line = {}});
  std::vector<CapturedRun> runs;
  for (std::size_t i = 0; i < ends.size(); ++i)
    runs.push_back({text_of(output[i]), text_of(errors[i]), ends[i]});
  return runs;
}

CapturedRun run_and_capture(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments,
                            std::chrono::milliseconds limit) {
  return run_all_and_capture({program}, arguments, limit).front();
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
