#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Where an instruction comes from.
struct SourceLine {
  std::string file;  ///< without its folder
  unsigned line = 0;
};

/// The line of the instruction `offset` bytes into a function of this machine code, by CUPTI, which
/// comes with the toolkit and needs no GPU for it. Nothing without line information (nvcc
/// -lineinfo). Throws CounterError where there is no CUPTI.
std::optional<SourceLine> source_line(const std::vector<char>& code, const std::string& function,
                                      std::uint64_t offset);

}  // namespace fathom
