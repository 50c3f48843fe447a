// How much of the loop of the warp-specialised fp32 kernels multiplies, and that their producers
// keep to their registers; what else they are made of: rung_code_contenders.cpp.

#include <regex>

#include "tests/sass/sass_file.h"

namespace {

bool has(const std::string& line, const char* opcode) {
  return line.find(opcode) != std::string::npos;
}
bool multiplies(const std::string& line) { return has(line, "FFMA"); }

/// The largest share of multiplications in a loop that has many, with what waits once a stage.
double share_of_multiplications(const std::vector<std::string>& lines) {
  double best = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const std::size_t start = branch_target(lines[end]).value_or(end);
    if (start >= end) continue;
    const auto count = std::count_if(lines.begin() + static_cast<long>(start),
                                     lines.begin() + static_cast<long>(end), multiplies);
    if (count < 1024) continue;
    best = std::max(best, static_cast<double>(count) / static_cast<double>(end - start + 1));
  }
  return best;
}

/// Highest register that a line uses: LDSM fills four from the one that it names first, STS.128
/// stores four from the one that it names last.
int highest_register(const std::string& line) {
  static const std::regex name("\\bR([0-9]+)");
  std::vector<int> named;
  for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it)
    named.push_back(std::stoi((*it)[1]));
  if (named.empty()) return -1;
  if (has(line, "LDSM")) named.front() += 3;
  if (has(line, "STS.128")) named.back() += 3;
  return std::ranges::max(named);
}

}  // namespace

TEST_CASE("nine of ten instructions of the warp-specialised fp32 kernels' loop multiply",
          "[sass][gemm]") {
  int found = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp32", "warp_specialised_tiles")) {
    if (kernel.name.find("warp_specialised_product<") == std::string::npos) continue;
    ++found;
    CAPTURE(kernel.name);
    CHECK(share_of_multiplications(kernel.lines) >= 0.89);
  }
  CHECK(found == 8);
}

TEST_CASE("producer warps that transpose keep to the registers that they do not give away",
          "[sass][gemm]") {
  int found = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp32", "warp_specialised_tiles")) {
    const auto& lines = kernel.lines;
    const auto loads = [](const std::string& line) { return has(line, "LDSM"); };
    const auto stores = [](const std::string& line) { return has(line, "STS.128"); };
    const auto first = std::ranges::find_if(lines, loads);
    if (first == lines.end()) continue;
    const auto last = std::find_if(lines.rbegin(), lines.rend(), stores).base();
    ++found;
    CAPTURE(kernel.name);
    CHECK(last - first > 0);
    for (auto line = first; line < last; ++line) CHECK(highest_register(*line) < 40);
  }
  CHECK(found == 6);
}
