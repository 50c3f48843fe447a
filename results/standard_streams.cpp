#include "results/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "results/clean_text.h"
#include "results/fail.h"
#include "results/files.h"

namespace fathom {
namespace {

/// Only what a signal handler may do: what is half done lies in files that nobody reads.
void end_interrupted(int) { _exit(to_int(ExitCode::interrupted)); }

bool reader_has_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDWR);
}

void end_on_interrupts() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, end_interrupted) == SIG_IGN) std::signal(number, SIG_IGN);
}

void print_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_line(std::string_view text) { print_out(clean(text) + "\n"); }

void require_written_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  const int error = errno;  // 0: an earlier one, of which the number is gone
  if (error == EPIPE || reader_has_gone()) return;
  fail(error == 0 ? ExitCode::output_full : code_of_write(error),
       "The answer could not be written to standard output{}: make room there, or send it "
       "elsewhere.",
       error == 0 ? "" : fmt::format(" ({})", std::strerror(error)));
}

}  // namespace fathom
