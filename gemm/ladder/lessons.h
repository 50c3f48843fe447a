#pragma once

#include <vector>

#include "gemm/bench/rung.h"

// The lessons as rungs.

namespace fathom::gemm {

Rung rung_of(Class of, const Lesson& lesson);

/// The lessons of a type, parents before children. A lesson is a function of its file, declared
/// where these list it.
std::vector<Rung> lessons_of(Class of);
std::vector<Lesson> fp32_lessons();

}  // namespace fathom::gemm
