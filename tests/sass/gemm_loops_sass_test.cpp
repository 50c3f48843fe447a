// The loops of the contenders of fp32 and fp64: how much of them multiplies, which registers they
// keep to, when fragments are read and stages given back. What else they are made of:
// rung_code_contenders.cpp.

#include <regex>

#include "tests/sass/sass_file.h"

namespace {

bool has(const std::string& line, const char* opcode) {
  return line.find(opcode) != std::string::npos;
}
bool multiplies(const std::string& line) { return has(line, "FFMA"); }

/// Index of the instruction that a branch goes to; instructions have 16 bytes each.
std::optional<std::size_t> branch_target(const std::string& line) {
  const std::size_t hex = line.rfind("0x");
  if (line.find("BRA") == std::string::npos || hex == std::string::npos) return std::nullopt;
  return std::stoul(line.substr(hex), nullptr, 16) / 16;
}

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

/// Loads from shared memory before instruction `at` whose results nothing has waited for by then,
/// along the code as it lies.
int loads_in_flight(const SassFunction& kernel, std::size_t at) {
  std::array<int, 8> loads{};
  for (std::size_t i = 0; i <= at; ++i) {
    const Scoreboards& s = kernel.scoreboards[i];
    for (std::size_t board = 0; board < 6; ++board)
      if (s.awaited >> board & 1) loads[board] = 0;
    if (kernel.instructions[i].starts_with("LDS")) ++loads[static_cast<std::size_t>(s.written)];
  }
  loads[Scoreboards::none] = 0;
  int all = 0;
  for (const int n : loads) all += n;
  return all;
}

/// How often a kernel gives a stage of its ring back, with nothing of it still to come.
int releases_of(const SassFunction& kernel, auto is_release) {
  CAPTURE(kernel.name);
  REQUIRE(kernel.scoreboards.size() == kernel.lines.size());
  int releases = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (!is_release(kernel.instructions[i])) continue;
    ++releases;
    CAPTURE(i);
    CHECK(loads_in_flight(kernel, i) == 0);
  }
  CHECK(releases <= 1);
  if (releases == 0) return 0;
  const auto load = std::ranges::find_if(kernel.instructions,
                                         [](const std::string& s) { return s.starts_with("LDS"); });
  REQUIRE(load != kernel.instructions.end());
  CHECK(loads_in_flight(kernel, static_cast<std::size_t>(load - kernel.instructions.begin())) == 1);
  return releases;
}

}  // namespace

TEST_CASE("nine of ten instructions of the warp-specialised fp32 kernels' loop multiply",
          "[sass][gemm]") {
  for (const SassFunction* kernel : find_all(disassemble_ladder("fp32", "warp_specialised_tiles"),
                                             "warp_specialised_product<", 8)) {
    CAPTURE(kernel->name);
    CHECK(share_of_multiplications(kernel->lines) >= 0.89);
  }
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

TEST_CASE("late reads overwrite no register that the product before them takes", "[sass][gemm]") {
  const std::vector<SassFunction>& functions = disassemble_ladder("fp64");
  if (!functions.front().for_hopper()) SKIP("This build is for a chip other than Hopper.");
  // 16 x 16 doubles of A and 16 x 8 of B in the registers of a warp's 32 lanes.
  const std::regex product("DMMA\\.16x8x16 R[0-9]+, R([0-9]+), R([0-9]+),.*");
  const std::regex read("LDS\\.(64|128) R([0-9]+),.*");
  constexpr int registers_of_a = 16, registers_of_b = 8;
  for (const SassFunction* function : find_all(functions, "tma_product<", 4)) {
    CAPTURE(function->name);
    int a = -1, b = -1, reads = 0;
    for (const std::string& line : function->lines) {
      CAPTURE(line);
      std::smatch match;
      if (std::regex_match(line, match, product)) {
        a = std::stoi(match[1]), b = std::stoi(match[2]);
      } else if (std::regex_match(line, match, read) && a >= 0) {
        const int first = std::stoi(match[2]), end = first + std::stoi(match[1]) / 32;
        CHECK_FALSE((first < a + registers_of_a && a < end));
        CHECK_FALSE((first < b + registers_of_b && b < end));
        ++reads;
      }
    }
    CHECK(reads >= 24);
  }
}

// The compiler takes bar.arrive, and the release of an mbarrier, for allowed while loads before it
// are in flight; a build in which they were had products wrong by one k, hence StageRing::release
// (docs/gemm/tuning.md). The loading thread's arrival, which expects bytes, counts none: it lacks
// the A1T0.
TEST_CASE("a stage is given back when all of it has been read", "[sass][gemm]") {
  int fp32 = 0, fp64 = 0;
  for (const SassFunction& kernel : disassemble_ladder("fp32", "warp_specialised_tiles"))
    fp32 += releases_of(kernel, [](const std::string& s) { return s == "BAR.ARV"; });
  CHECK(fp32 == 8);
  if (!disassemble_ladder("fp64").front().for_hopper())
    SKIP("This build is for a chip other than Hopper.");
  for (const SassFunction* kernel : find_all(disassemble_ladder("fp64"), "tma_product<", 4))
    fp64 += releases_of(*kernel, [](const std::string& s) {
      return s.starts_with("SYNCS.ARRIVE") && s.ends_with("A1T0");
    });
  CHECK(fp64 == 4);
}
