#pragma once

#include <vector>

#include "probes/atomics/kernels.h"

// One list for each source file of kernels.

namespace fathom::atomics {

std::vector<Kernel> global_kernels();
std::vector<Kernel> shared_kernels();

}  // namespace fathom::atomics
