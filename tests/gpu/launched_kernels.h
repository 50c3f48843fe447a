#pragma once

#include <string>
#include <vector>

namespace fathom::test {

/// Fathom's own kernels in this program that it has not launched so far, demangled and in order.
/// Knows every kernel that nvcc's code registered at the start, and every launch by <<<>>>.
std::vector<std::string> kernels_never_launched();

}  // namespace fathom::test
