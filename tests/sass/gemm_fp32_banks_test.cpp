#include <regex>

#include "tests/sass/sass_file.h"

// What the warp-specialised fp32 kernels can reach: of their loop's clocks, those in which a
// multiplication is issued.
//
// The registers are in two banks, of even and of odd numbers, and each gives one register of a warp
// a clock. A multiplication needs three; what the one before marked `.reuse` in the same place it
// need not read. On an H200 the stalls that PC sampling calls "dispatch" are those of a queue that
// lets a bank fall behind by one read: so modelled, loops of 548 and 1091 instructions had 156 and
// 35 clocks of them where 138 and 37 were measured.

namespace {

using Lines = std::vector<std::string>;

bool is_multiplication(const std::string& line) { return line.find("FFMA") != std::string::npos; }

/// The loop with the largest share of multiplications, without what a branch leaves out that waits
/// at a barrier in shared memory: that comes once a stage.
Lines hot_loop(const SassFunction& function) {
  const Lines& lines = function.lines;
  double best = 0;
  std::size_t first = 0, last = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const auto start = branch_target(lines[end]);
    if (!start || *start >= end) continue;
    const auto count = std::count_if(lines.begin() + static_cast<long>(*start),
                                     lines.begin() + static_cast<long>(end), is_multiplication);
    const double share = static_cast<double>(count) / static_cast<double>(end - *start + 1);
    if (count >= 512 && share > best) best = share, first = *start, last = end;
  }
  Lines loop;
  for (std::size_t i = first; i < last; ++i) {
    loop.push_back(lines[i]);
    const auto to = branch_target(lines[i]);
    if (!to || *to <= i || *to > last) continue;
    const bool waits =
        std::any_of(lines.begin() + static_cast<long>(i), lines.begin() + static_cast<long>(*to),
                    [](const std::string& l) { return l.find("SYNCS") != std::string::npos; });
    if (waits) i = *to - 1;
  }
  return loop;
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
      if (is_multiplication(line)) {
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
  for (const char* producer :
       {"TmaProducer", "TransposingProducer<true, false>", "TransposingProducer<false, true>",
        "TransposingProducer<true, true>"}) {
    int found = 0;
    for (const SassFunction& function : functions) {
      if (function.name.find("warp_specialised_product<") == std::string::npos ||
          function.name.find(producer) == std::string::npos)
        continue;
      ++found;
      const Lines loop = hot_loop(function);
      const auto multiplications = std::ranges::count_if(loop, is_multiplication);
      CAPTURE(function.name, loop.size(), multiplications, clocks(loop));
      CHECK(multiplications >= 1024);
      // The compiler's choice for the one that transposes both and cuts shares within stages is a
      // worse one.
      const bool worst =
          function.name.find("Cut)1>, fathom::gemm::fp32::TransposingProducer<true, true>") !=
          std::string::npos;
      CHECK(static_cast<double>(multiplications) / clocks(loop) >= (worst ? 0.87 : 0.89));
      CHECK(function.count("BAR.ARV") > 0);  // who multiplies waits for nobody to have read
    }
    CHECK(found == 2);
  }
}
