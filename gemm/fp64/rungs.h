#pragma once

#include "gemm/rung.h"

// The fp64 ladder, one function per rung and file, in order.

namespace fathom::gemm::fp64 {

Rung shared_memory();
Rung register_tile();
Rung tensor_cores();
Rung wide_products();
Rung tma();
Rung cluster_multicast();
Rung stream_k();
Rung late_reads();

}  // namespace fathom::gemm::fp64
