#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// One line that a probe writes to the descriptor of --progress-fd: "done total elapsed_s name".
struct ProbeProgress {
  int done = 0, total = 0;
  std::string name;  ///< of what is being measured
};

/// Nothing if the line is not of that form.
std::optional<ProbeProgress> parse_progress(std::string_view line);

/// "45 s", "2 min 5 s", "1 h 2 min"
std::string spoken_duration(double seconds);

/// A line on the terminal that says what is being measured and how long the run may still take.
/// Writes nothing where standard error is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::size_t probes) : probes_(probes) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void start_probe(std::size_t index, const std::string& name);
  void update(const ProbeProgress& progress);
  void clear() { draw(""); }

 private:
  void draw(const std::string& text);

  std::size_t probes_, index_ = 0;
  std::string probe_;  ///< "[1/6] copy_bandwidth: "
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool drawn_ = false;
};

}  // namespace fathom
