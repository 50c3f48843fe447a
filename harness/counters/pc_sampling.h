#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/counters/catalogue.h"

namespace fathom {

/// Where an instruction comes from.
struct SourceLine {
  std::string file;  ///< a whole path
  unsigned line = 0;
};

/// "kernel.cu:12"
inline std::string place_of(const SourceLine& at) {
  return std::filesystem::path(at.file).filename().string() + ":" + std::to_string(at.line);
}

/// The line of the instruction `offset` bytes into a function of this machine code, by CUPTI, which
/// comes with the toolkit and needs no GPU for it. Nothing without line information (nvcc
/// -lineinfo). Throws CounterError where there is no CUPTI.
std::optional<SourceLine> source_line(const std::vector<char>& code, const std::string& function,
                                      std::uint64_t offset);

/// Where the warps of a launch were found waiting at one instruction.
struct PcSample {
  std::string function;         ///< mangled name of the kernel
  std::uint64_t pc_offset = 0;  ///< bytes from the kernel's first instruction
  /// "long_scoreboard" -> samples. CUPTI's names, which may differ from the roles of the catalogue
  /// by an ending ("no_instructions"); "selected" is an issue, not a stall.
  std::map<std::string, std::uint64_t> by_reason;
  std::optional<SourceLine> source;  ///< none without line information
};

struct PcProfile {
  std::vector<PcSample> samples;  ///< by function, then by pc_offset
  /// Why instructions have no source line; empty if all have one.
  std::string line_reason;
};

/// Samples the program counter of every warp scheduler at a fixed period and sums up, instruction
/// by instruction, why its warp did or did not issue: it shows which instruction a kernel waits on.
/// Statistical, so compare shares over thousands of samples. An instruction is charged for what it
/// waits for itself: a full store queue shows at the store as lg_throttle, but a late load shows as
/// long_scoreboard at the first instruction that uses its result, which in a copy is the store too.
///
/// Source lines need kernels compiled with -lineinfo and a `watch_modules` before the first launch.
/// While a sampler is alive, `counters_active()` is true and nothing may be timed; it excludes
/// CounterSession.
class PcSampler {
 public:
  /// Keeps a copy of each module's machine code as it is loaded, which source lines are looked up
  /// in. Call it at the program's start, before the first kernel: modules loaded earlier have no
  /// lines. Throws CounterError. Repeated calls do nothing.
  static void watch_modules();

  /// Takes a sample every 2048 cycles of each SM. Throws CounterError.
  explicit PcSampler(int device);
  ~PcSampler();

  /// Samples all kernels that `launch` starts; it may be asynchronous. Throws CounterError, and
  /// whatever `launch` throws.
  PcProfile collect(const std::function<void()>& launch);

  /// The same for what is launched between the two calls. `end` waits for it.
  void begin();
  PcProfile end();

 private:
  struct State;
  CountersActive active_;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
