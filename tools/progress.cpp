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

ProgressLine::ProgressLine(std::size_t probes)
    : probes_(probes), terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::start_probe(std::size_t index, const std::string& name) {
  index_ = index;
  probe_ = name;
  draw(fmt::format("[{}/{}] {}: starting", index_ + 1, probes_, probe_));
}

void ProgressLine::update(const ProbeProgress& progress) {
  // As if all probes took the same time; one goes through its cases again for the counters.
  const double share = progress.total > 0 ? double(progress.done) / progress.total : 0;
  const double done = (static_cast<double>(index_) + share) / static_cast<double>(probes_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const std::string left =
      done > 0
          ? fmt::format("about {} left, ", spoken_duration(elapsed.count() * (1 - done) / done))
          : "";
  draw(fmt::format("[{}/{}] {}: {} of {}, {}{}", index_ + 1, probes_, probe_, progress.done,
                   progress.total, left, progress.name));
}

void ProgressLine::draw(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, terminal_columns() - 1));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace fathom
