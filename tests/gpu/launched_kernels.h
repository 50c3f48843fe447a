#pragma once

#include <string>
#include <vector>

namespace fathom::test {

/// Fathom's own kernels in this program that it has not launched so far, demangled and in order.
/// Knows every kernel that nvcc's code registered at the start, and every launch by <<<>>>.
std::vector<std::string> kernels_never_launched();

/// Launches so far, of whatever kernel, that were allowed to begin before the one before them on
/// the stream had ended (programmatic dependent launch).
int launches_that_may_begin_early();

}  // namespace fathom::test
