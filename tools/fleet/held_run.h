#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "results/file_descriptor.h"
#include "tools/child_process.h"

namespace fathom {

/// A probe that is started and made ready, and measures once it is released: starting CUDA takes
/// longer than what is to be measured, and many can do it at the same time.
class HeldRun {
 public:
  /// `start` with --start-fd added. Throws Error(setup_incomplete).
  explicit HeldRun(ChildStart start);

  /// To be had by supervise_all.
  std::unique_ptr<ChildProcess>& child() { return child_; }
  void release() const;

 private:
  friend void wait_until_ready(std::vector<HeldRun>& runs, SignalInbox& inbox,
                               std::chrono::milliseconds limit);
  FileDescriptor gate_;
  std::unique_ptr<ChildProcess> child_;
};

/// Until each is ready or has ended, or an interrupt has come.
void wait_until_ready(std::vector<HeldRun>& runs, SignalInbox& inbox,
                      std::chrono::milliseconds limit);

}  // namespace fathom
