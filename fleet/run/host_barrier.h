#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "results/file_descriptor.h"
#include "tools/child_process.h"

namespace fathom {

/// Where the processes of one host wait for each other: a file of each in the host's shared memory
/// has as many bytes as the parts that it has come to, and is locked as long as its process lives.
/// Without others nobody is waited for.
class HostBarrier {
 public:
  HostBarrier() = default;
  ~HostBarrier();
  HostBarrier(const HostBarrier&) = delete;
  HostBarrier& operator=(const HostBarrier&) = delete;

  /// Makes the own file, before the others hear its name. Empty where it cannot be made: the others
  /// do not wait for this process then, and it not for them.
  std::string make_own();
  /// The others' files, and for how long one is waited for.
  void join(const std::vector<std::string>& others, std::chrono::duration<double> limit);
  /// In the process that started the one that is waited for.
  void leave_to_child() { own_.close(); }

  /// Waits until all are there. False where one of them is gone, or did not come in time: from then
  /// on nobody waits, and nothing can be said to have been alone.
  bool all_here(SignalInbox& inbox);

 private:
  std::filesystem::path file_;
  FileDescriptor own_;
  std::vector<FileDescriptor> others_;
  std::chrono::duration<double> limit_{};
  int parts_ = 0;
  bool broken_ = false;
};

}  // namespace fathom
