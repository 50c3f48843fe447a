#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// Where an instruction comes from.
struct SourceLine {
  std::string file;  ///< a whole path
  unsigned line = 0;
};

/// "kernel.cu:12"
inline std::string place_of(const SourceLine& at) {
  return std::filesystem::path(at.file).filename().string() + ":" + std::to_string(at.line);
}

/// The line of the instruction `offset` bytes into a function of this machine code, by CUPTI, which
/// comes with the toolkit and needs no GPU for it. Nothing without line information (nvcc
/// -lineinfo). Throws CounterError where there is no CUPTI.
std::optional<SourceLine> source_line(const std::vector<char>& code, const std::string& function,
                                      std::uint64_t offset);

}  // namespace fathom
