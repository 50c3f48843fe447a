#include "tools/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace fathom {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

std::optional<ProbeProgress> parse_progress(std::string_view line) {
  std::istringstream words{std::string(line)};
  ProbeProgress progress;
  if (!(words >> progress.done >> progress.total >> progress.elapsed_s)) return std::nullopt;
  std::getline(words >> std::ws, progress.name);
  if (progress.done < 0 || progress.total < 0) return std::nullopt;
  return progress;
}

std::string spoken_duration(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::optional<double> seconds_left(double elapsed_s, std::size_t index, std::size_t probes,
                                   const ProbeProgress& progress) {
  const double of_probe = progress.total > 0 ? 1.0 * progress.done / progress.total : 0;
  const double done = static_cast<double>(index) + of_probe;
  if (done == 0) return std::nullopt;
  return elapsed_s / done * (static_cast<double>(probes) - done);
}

void ProgressLine::start_probe(std::size_t index, const std::string& name) {
  index_ = index;
  probe_ = fmt::format("[{}/{}] {}: ", index + 1, probes_, name);
  draw(probe_ + "starting");
}

void ProgressLine::update(const ProbeProgress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const auto seconds = seconds_left(elapsed.count(), index_, probes_, progress);
  draw(fmt::format("{}{} of {}, {}{}", probe_, progress.done, progress.total,
                   seconds ? fmt::format("about {} left, ", spoken_duration(*seconds)) : "",
                   progress.name));
}

void ProgressLine::draw(const std::string& text) {
  if (isatty(STDERR_FILENO) != 1 || (text.empty() && !drawn_)) return;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, terminal_columns() - 1));
  std::fflush(stderr);
  drawn_ = !text.empty();
}

}  // namespace fathom
