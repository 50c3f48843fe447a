#pragma once

#include <fmt/format.h>

#include <utility>

#include "results/error.h"

namespace fathom {

/// Throws Error with a sentence that fmt makes. Apart from error.h, which CUDA sources include.
template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> sentence, Args&&... args) {
  throw Error(code, fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace fathom
