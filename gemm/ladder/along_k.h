#pragma once

#include "gemm/ladder/lesson.h"

// The lessons of tf32, fp8 and int8. wgmma takes these types along k alone.

namespace fathom::gemm::along_k {

Lesson wgmma(Class of);
Lesson promoted();  ///< of fp8

}  // namespace fathom::gemm::along_k
