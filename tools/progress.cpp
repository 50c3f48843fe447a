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

void TimeLeft::start_probe(std::size_t index, double run_elapsed_s) {
  index_ = index;
  probe_start_s_ = run_elapsed_s;
  first_of_phase_ = last_ = {};
}

void TimeLeft::update(const ProbeProgress& progress) {
  if (progress.done < last_.done || progress.total != last_.total) first_of_phase_ = progress;
  last_ = progress;
}

std::optional<double> TimeLeft::seconds(double run_elapsed_s) const {
  const int done = last_.done - first_of_phase_.done;
  const auto later_probes = static_cast<double>(probes_ - index_ - 1);
  double probe_left = 0;
  if (done > 0) {
    const double per_case = (last_.elapsed_s - first_of_phase_.elapsed_s) / done;
    probe_left = per_case * std::max(0, last_.total - last_.done);
  } else if (index_ == 0) {
    return std::nullopt;
  }
  const double probe_all = run_elapsed_s - probe_start_s_ + probe_left;
  const double average = (probe_start_s_ + probe_all) / static_cast<double>(index_ + 1);
  return probe_left + later_probes * average;
}

double ProgressLine::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::start_probe(std::size_t index, const std::string& name) {
  probe_ = fmt::format("[{}/{}] {}: ", index + 1, probes_, name);
  left_.start_probe(index, elapsed_s());
  draw(probe_ + "starting");
}

void ProgressLine::update(const ProbeProgress& progress) {
  left_.update(progress);
  const auto seconds = left_.seconds(elapsed_s());
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
