#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::test {

/// Fathom's own kernels in this program that it has not launched so far, as people read them and in
/// order. Knows every kernel that nvcc's code registered at the start, and every launch by <<<>>>.
std::vector<std::string> kernels_never_launched();

struct KernelLaunch {
  int threads, dynamic_shared_bytes;  ///< of a block
};
/// The last launch of a kernel that had a configuration (cudaLaunchKernelEx); not by <<<>>>.
std::optional<KernelLaunch> last_launch(const void* host_function);

/// Launches so far, of whatever kernel, that were allowed to begin before the one before them on
/// the stream had ended (programmatic dependent launch).
int launches_that_may_begin_early();

}  // namespace fathom::test
