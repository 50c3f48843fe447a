#pragma once

#include <string>
#include <vector>

#include "gemm/bench/rung.h"
#include "gemm/ladder/lesson.h"

// The lessons as rungs.

namespace fathom::gemm {

/// A rung that goes on from another: gains are against that one.
struct LessonRung : Rung {
  const char* parent = "";  ///< the name of one of the same type; empty: the first of its tree
};
LessonRung rung_of(Class of, const Lesson& lesson);

/// The lessons of a type, parents before children. A lesson is a function of its file, declared
/// where these list it.
std::vector<LessonRung> lessons_of(Class of);
std::vector<Lesson> fp32_lessons();
std::vector<LessonRung> all_lessons();
/// The lesson of this id; null if that is no lesson's.
const LessonRung* find_lesson(const std::string& id);

}  // namespace fathom::gemm
