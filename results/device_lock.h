#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "results/files.h"

namespace fathom {

/// One GPU job at a time per device: an advisory lock on a file named for the GPU. The file holds
/// the process id and name of its owner, so that a second start can say who holds it. A parent
/// that holds the lock passes it to its children by environment variable FATHOM_LOCK_FD (an
/// inherited descriptor), and such a child takes no second lock. The file lies in /tmp (or
/// FATHOM_LOCK_DIR), so that users see each other; containers with a /tmp of their own do not.
class DeviceLock {
 public:
  /// Throws Error(gpu_busy) naming the holder if the lock is still held after `longest_wait`.
  /// `on_wait` is called once, with who holds it, before a wait.
  explicit DeviceLock(const std::string& gpu_uuid_hash, std::chrono::seconds longest_wait = {},
                      const std::function<void(const std::string& holder)>& on_wait = {});

  /// Makes the lock inheritable and returns the text for FATHOM_LOCK_FD.
  std::string share_with_children();

 private:
  FileDescriptor fd_;
};

}  // namespace fathom
