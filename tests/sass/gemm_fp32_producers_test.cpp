#include <regex>

#include "tests/sass/sass_file.h"

// What the producer warps that transpose execute: they share the SM's schedulers with those that
// multiply.

namespace {

using Lines = std::vector<std::string>;

bool has(const std::string& line, const char* opcode) {
  return line.find(opcode) != std::string::npos;
}

/// Index of the instruction that ends the loop around instruction `inside`: the first that branches
/// back to before it. `start`: where to.
std::size_t loop_around(const Lines& lines, std::size_t inside, std::size_t& start) {
  for (std::size_t end = inside; end < lines.size(); ++end) {
    start = branch_target(lines[end]).value_or(inside);
    if (start < inside) return end;
  }
  return lines.size();
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

TEST_CASE("producer warps transpose by two instructions for 128 floats", "[sass][gemm]") {
  struct Expected {
    std::string producer;
    int rows;  ///< that a stage's transposed lines have in all
    int tma;   ///< boxes of a stage that TMA brings
  };
  const auto& functions = disassemble_ladder("fp32", "warp_specialised_tiles");
  std::vector<Expected> all;
  // Shares cut at stages and at bodies.
  for (const std::string cut : {"Cut)0>, fathom::gemm::fp32::", "Cut)1>, fathom::gemm::fp32::"}) {
    all.push_back({cut + "TransposingProducer<true, false>", 128, 2});
    all.push_back({cut + "TransposingProducer<false, true>", 256, 2});
    all.push_back({cut + "TransposingProducer<true, true>", 384, 2});
  }
  for (const Expected& e : all) {
    const SassFunction& kernel = find(functions, e.producer);
    CAPTURE(kernel.name);
    const int at_once = 4, warps = 4, pairs = e.rows / warps / at_once;
    CHECK(kernel.count("LDSM.16.M88.4") == pairs);
    CHECK(kernel.count("STS.128") == pairs);
    CHECK(kernel.count("STS") == pairs);
    // Those of the first box of all, once more.
    CHECK(kernel.count("UTMALDG.2D") == e.tma + (e.rows == 384 ? 2 : 1));

    const Lines& lines = kernel.lines;
    const auto first = std::ranges::find_if(lines, [](const auto& l) { return has(l, "LDSM"); });
    const auto last =
        std::find_if(lines.rbegin(), lines.rend(), [](const auto& l) { return has(l, "STS.128"); });
    REQUIRE(first != lines.end());
    const auto from = static_cast<std::size_t>(first - lines.begin());
    const auto to = static_cast<std::size_t>(last.base() - lines.begin());
    // Among the transposition there is next to nothing else, and it stays within 40 registers.
    CHECK(static_cast<int>(to - from) <= 2 * pairs + 12);
    for (std::size_t i = from; i < to; ++i) CHECK(highest_register(lines[i]) < 40);

    std::size_t start = 0;
    const std::size_t end = loop_around(lines, from, start);
    REQUIRE(end < lines.size());
    // The loop without the way to another tile, which divides, and which most stages leave out.
    int instructions = 0;
    for (std::size_t i = start; i <= end; ++i) {
      ++instructions;
      const std::size_t target = branch_target(lines[i]).value_or(i);
      if (target <= i || target > end) continue;
      const bool divides = std::any_of(lines.begin() + static_cast<long>(i),
                                       lines.begin() + static_cast<long>(target),
                                       [](const auto& l) { return has(l, "MUFU"); });
      if (divides) i = target - 1;
    }
    // Beside the transposition less than a hundredth of the stage's 32768 warp-wide
    // multiplications, with the one thread's that tells TMA counted in all four warps.
    CAPTURE(instructions);
    CHECK(warps * (instructions - 2 * pairs) < 32768 / 100);
  }
}
