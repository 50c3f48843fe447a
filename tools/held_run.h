#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "results/file_descriptor.h"
#include "tools/child_process.h"

namespace fathom {

/// A probe that is started and made ready, and measures once it is released: starting CUDA takes
/// longer than what is to be measured, and many can do it at the same time. It sends a word when it
/// is ready, and another when it has measured, since ending takes a while, too.
class HeldRun {
 public:
  enum class Start { held, at_once };
  /// `start` with --start-fd added; one that begins at once has none, and sends no words. Throws
  /// Error(setup_incomplete).
  explicit HeldRun(ChildStart start, Start when = Start::held);

  /// To be had by who waits for its end.
  std::unique_ptr<ChildProcess>& child() { return child_; }
  const std::unique_ptr<ChildProcess>& child() const { return child_; }
  /// The socket on which it sends its words; -1: none.
  int words() const { return gate_.get(); }
  /// Says with it how many others are held on the same GPU, so that they do not pass for a load.
  void release(std::size_t held_beside) const;

 private:
  FileDescriptor gate_;
  std::unique_ptr<ChildProcess> child_;
};

/// Until each has sent its next word or has ended, or an interrupt has come. Returns those that
/// have done neither.
std::vector<const HeldRun*> wait_for_words(const std::vector<const HeldRun*>& runs,
                                           SignalInbox& inbox, std::chrono::milliseconds limit);

}  // namespace fathom
