#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tools/probe_runner.h"

namespace fathom {

/// How many probes of a run may be up at the same time on this GPU. 1: none beside another, since
/// only one process may use the GPU or its memory is unknown or small.
std::size_t most_held_together(const Fingerprint& gpu);

/// Probes that were all started at once and are ready, and measure in turn: CUDA takes each of them
/// most of a second to start, and they can do that at the same time. Those that are left at the end
/// are killed.
class HeldProbes {
 public:
  /// Waits until all are ready, have ended, or have taken their time limit to be ready, or an
  /// interrupt has come. Where there is no room for all of them at once, none is held.
  HeldProbes(std::span<const ProbeBinary> probes, const RunArguments& options,
             const OutputFolder& folder, SignalInbox& inbox);
  ~HeldProbes() { clear(); }
  HeldProbes(const HeldProbes&) = delete;
  HeldProbes& operator=(const HeldProbes&) = delete;

  /// The next one in the order of the constructor, released, beside `ending` others that have
  /// measured and not ended; nothing where it is not held, and is to be started now.
  std::unique_ptr<ProbeProcess> release_next(std::size_t ending);

 private:
  bool no_room();
  void clear();

  std::vector<std::unique_ptr<ProbeProcess>> probes_;  ///< those released are gone from here
  std::size_t next_ = 0;
};

}  // namespace fathom
