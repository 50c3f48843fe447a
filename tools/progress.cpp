#include "tools/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace fathom {

std::optional<ProbeProgress> parse_progress(std::string_view line) {
  std::istringstream words{std::string(line)};
  ProbeProgress progress;
  double elapsed_s = 0;
  if (!(words >> progress.done >> progress.total >> elapsed_s)) return std::nullopt;
  std::getline(words >> std::ws, progress.name);
  return progress;
}

std::string spoken_duration(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

void ProgressLine::start_probe(std::size_t index, const std::string& name) {
  index_ = index;
  probe_ = fmt::format("[{}/{}] {}: ", index + 1, probes_, name);
  draw(probe_ + "starting");
}

void ProgressLine::update(const ProbeProgress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  // As if probes took equally long, since how many cases later ones have, only they know.
  const double done =
      static_cast<double>(index_) + 1.0 * progress.done / std::max(1, progress.total);
  const double left = elapsed.count() / done * (static_cast<double>(probes_) - done);
  draw(fmt::format("{}{} of {}, {}{}", probe_, progress.done, progress.total,
                   done > 0 ? fmt::format("about {} left, ", spoken_duration(left)) : "",
                   progress.name));
}

void ProgressLine::draw(const std::string& text) {
  if (isatty(STDERR_FILENO) != 1 || (text.empty() && !drawn_)) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, known ? size.ws_col - 1u : 79));
  std::fflush(stderr);
  drawn_ = !text.empty();
}

}  // namespace fathom
