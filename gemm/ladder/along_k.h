#pragma once

#include <vector>

#include "gemm/ladder/lesson.h"

// The lessons of tf32, fp8 and int8, one file each. wgmma takes these types along k alone.

namespace fathom::gemm {

namespace tf32::along_k {
Lesson wgmma();
}
namespace fp8::along_k {
Lesson fast_sums();
Lesson promoted();
}  // namespace fp8::along_k
namespace int8::along_k {
Lesson wgmma();
}

}  // namespace fathom::gemm
