#include <regex>

#include "tests/sass/sass_file.h"

// What the warp-specialised fp32 kernels can reach: of their loop's clocks, those in which a
// multiplication is issued; and what the producer warps that transpose execute, which share the
// SM's schedulers with those that multiply.
//
// The registers are in two banks, of even and of odd numbers, and each gives one register of a warp
// a clock. A multiplication needs three; what the one before marked `.reuse` in the same place it
// need not read. On an H200 the stalls that PC sampling calls "dispatch" are those of a queue that
// lets a bank fall behind by one read: so modelled, loops of 548 and 1091 instructions had 156 and
// 35 clocks of them where 138 and 37 were measured.

namespace {

using Lines = std::vector<std::string>;

bool has(const std::string& line, const char* opcode) {
  return line.find(opcode) != std::string::npos;
}
bool multiplies(const std::string& line) { return has(line, "FFMA"); }

/// Lines `first` to `last` without what a branch leaves out that has this opcode.
Lines without(const Lines& lines, std::size_t first, std::size_t last, const char* opcode) {
  Lines left;
  for (std::size_t i = first; i < last; ++i) {
    left.push_back(lines[i]);
    const std::size_t to = branch_target(lines[i]).value_or(i);
    if (to <= i || to > last) continue;
    const std::span skipped(lines.begin() + static_cast<long>(i), to - i);
    if (std::ranges::any_of(skipped, [&](const std::string& l) { return has(l, opcode); }))
      i = to - 1;
  }
  return left;
}

/// The loop with the largest share of multiplications, without what waits at a barrier in shared
/// memory: that comes once a stage.
Lines hot_loop(const SassFunction& function) {
  const Lines& lines = function.lines;
  double best = 0;
  std::size_t first = 0, last = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const auto start = branch_target(lines[end]);
    if (!start || *start >= end) continue;
    const auto count = std::count_if(lines.begin() + static_cast<long>(*start),
                                     lines.begin() + static_cast<long>(end), multiplies);
    const double share = static_cast<double>(count) / static_cast<double>(end - *start + 1);
    if (count >= 512 && share > best) best = share, first = *start, last = end;
  }
  return without(lines, first, last, "SYNCS");
}

/// Clocks of the loop by the model, the second time round.
int clocks(const Lines& loop) {
  static const std::regex operand("(RZ|R[0-9]+)(\\.reuse)?");
  constexpr int may_fall_behind = 1;
  std::array<int, 2> behind{};
  std::array<std::string, 3> kept;
  int result = 0;
  for (int round = 0; round < 2; ++round) {
    result = 0;
    for (const std::string& line : loop) {
      std::array<int, 2> reads{};
      std::array<std::string, 3> keeps;
      if (has(line, "FFMA")) {
        std::sregex_iterator it(line.begin(), line.end(), operand);
        ++it;  // the result
        for (std::size_t place = 0; place < 3 && it != std::sregex_iterator(); ++place, ++it) {
          const std::string name = (*it)[1];
          if (name != "RZ" && kept[place] != name) ++reads[std::stoul(name.substr(1)) % 2];
          if ((*it)[2].matched) keeps[place] = name;
        }
      }
      kept = keeps;
      while (std::ranges::max(behind) > may_fall_behind) {
        for (int& b : behind) b = std::max(0, b - 1);
        ++result;
      }
      for (std::size_t bank = 0; bank < 2; ++bank)
        behind[bank] = std::max(0, behind[bank] + reads[bank] - 1);
      ++result;
    }
  }
  return result;
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

TEST_CASE("the model of register banks counts what it should", "[sass][gemm]") {
  // One of each bank a clock; two of one bank, alternately; two of the same bank each time; none
  // for what is kept.
  const Lines even_odd(100, "FFMA R4, R2.reuse, R6, R5");
  CHECK(clocks(even_odd) == 100);
  Lines turns, same;
  for (int i = 0; i < 50; ++i) {
    turns.push_back("FFMA R4, R2.reuse, R6, R8");
    turns.push_back("FFMA R4, R2.reuse, R7, R9");
    same.push_back("FFMA R4, R2.reuse, R6, R8");
    same.push_back("FFMA R4, R2.reuse, R10, R12");
  }
  CHECK(clocks(turns) == 100);
  CHECK(clocks(same) >= 198);
}

TEST_CASE("warp-specialised fp32 kernels issue a multiplication in nearly every clock",
          "[sass][gemm]") {
  const auto& functions = disassemble_ladder("fp32", "warp_specialised_tiles");
  for (const char* tile :
       {"Tile<false, false,", "Tile<true, false,", "Tile<false, true,", "Tile<true, true,"}) {
    int found = 0;
    for (const SassFunction& function : functions) {
      if (function.name.find("warp_specialised_product<") == std::string::npos ||
          function.name.find(tile) == std::string::npos)
        continue;
      ++found;
      const Lines loop = hot_loop(function);
      const auto multiplications = std::ranges::count_if(loop, multiplies);
      CAPTURE(function.name, loop.size(), multiplications, clocks(loop));
      CHECK(multiplications >= 1024);
      // The compiler's choice for the one that transposes both and cuts shares within stages is a
      // worse one.
      const bool worst =
          function.name.find("Tile<true, true, (fathom::gemm::Cut)1>") != std::string::npos;
      CHECK(static_cast<double>(multiplications) / clocks(loop) >= (worst ? 0.87 : 0.89));
      CHECK(function.count("BAR.ARV") > 0);  // who multiplies waits for nobody to have read
    }
    CHECK(found == 2);
  }
}

TEST_CASE("producer warps transpose by two instructions for 128 floats", "[sass][gemm]") {
  struct Expected {
    std::string tile;
    int rows;  ///< that a stage's transposed lines have in all
    int tma;   ///< boxes of a stage that TMA brings
  };
  const auto& functions = disassemble_ladder("fp32", "warp_specialised_tiles");
  std::vector<Expected> all;
  // Shares cut at stages and at bodies.
  for (const std::string cut : {" (fathom::gemm::Cut)0>", " (fathom::gemm::Cut)1>"}) {
    all.push_back({"Tile<true, false," + cut, 128, 2});
    all.push_back({"Tile<false, true," + cut, 256, 2});
    all.push_back({"Tile<true, true," + cut, 384, 2});
  }
  for (const Expected& e : all) {
    const SassFunction& kernel = find(functions, e.tile);
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
    const auto instructions = static_cast<int>(without(lines, start, end, "MUFU").size()) + 1;
    // Beside the transposition less than a hundredth of the stage's 32768 warp-wide
    // multiplications, with the one thread's that tells TMA counted in all four warps.
    CAPTURE(instructions);
    CHECK(warps * (instructions - 2 * pairs) < 32768 / 100);
  }
}
