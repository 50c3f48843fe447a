#include "tests/sass/rung_code.h"

#include <cctype>
#include <regex>

namespace {

/// Whether the parts of `pattern` between its '*' are in `text`, one behind the other.
bool matches(const std::string& text, const std::string& pattern) {
  std::istringstream parts(pattern);
  std::size_t from = 0;
  for (std::string part; std::getline(parts, part, '*');) {
    const std::size_t at = text.find(part, from);
    if (at == std::string::npos) return false;
    from = at + part.size();
  }
  return true;
}

int count(const SassFunction& kernel, const std::string& opcodes) {
  std::istringstream all(opcodes);
  int found = 0;
  for (std::string opcode; std::getline(all, opcode, '|');) {
    if (opcode.find('*') == std::string::npos) {
      found += kernel.count(opcode);
    } else {
      found += static_cast<int>(std::ranges::count_if(
          kernel.instructions, [&](const std::string& i) { return matches(i, opcode); }));
    }
  }
  return found;
}

/// The longest run of `opcode` with no addition and no branch between.
int longest_run(const SassFunction& kernel, const std::string& opcode) {
  int longest = 0, run = 0;
  for (const std::string& instruction : kernel.instructions) {
    if (instruction == opcode) {
      longest = std::max(longest, ++run);
    } else if (instruction.starts_with("IADD3") || instruction.starts_with("BRA")) {
      run = 0;
    }
  }
  return longest;
}

/// "FFMA>=512", "BAR=2", "LDS.128".
struct Condition {
  std::string opcode, relation = ">=", right = "1";
  bool plain = false;

  explicit Condition(const std::string& text) {
    static const std::regex form("([^<>=!]+)(?:(!?)(>=|<=|=)(.+))?");
    std::smatch part;
    if (!std::regex_match(text, part, form)) throw std::runtime_error("no condition: " + text);
    opcode = part[1];
    if (!part[3].matched) return;
    plain = part[2].length() != 0;
    relation = part[3];
    right = part[4];
  }
  int count_in(const SassFunction& kernel) const {
    return plain ? static_cast<int>(std::ranges::count(kernel.instructions, opcode))
                 : count(kernel, opcode);
  }
  bool holds(int found, const SassFunction& kernel) const {
    const int wanted = std::isdigit(static_cast<unsigned char>(right.front())) != 0
                           ? std::stoi(right)
                           : count(kernel, right);
    if (relation == ">=") return found >= wanted;
    if (relation == "<=") return found <= wanted;
    return found == wanted;
  }
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// What is wrong with the kernel, in words: nothing, if it is as the row says.
std::string wrong_with(const RungCode& code, const SassFunction& kernel) {
  std::string wrong;
  const auto check = [&](const Condition& condition, int found, const std::string& wanted) {
    if (!condition.holds(found, kernel))
      wrong += fmt::format("{} {}, wanted {}; ", found, condition.opcode, wanted);
  };
  for (const std::string& word : words(code.has)) {
    const Condition condition(word);
    check(condition, condition.count_in(kernel), word);
  }
  for (const std::string& opcode : words(code.lacks))
    check(Condition(opcode + "=0"), kernel.count(opcode), "none");
  for (const std::string& word : words(code.in_a_row)) {
    const Condition condition(word);
    check(condition, longest_run(kernel, condition.opcode), word + " in a row");
  }
  std::ptrdiff_t before = -1;
  for (const std::string& text : words(code.order)) {
    const auto first = std::ranges::find_if(
        kernel.lines, [&](const std::string& l) { return l.find(text) != std::string::npos; });
    if (first == kernel.lines.end() || first - kernel.lines.begin() <= before)
      wrong += fmt::format("{} comes too early or not at all; ", text);
    before = first - kernel.lines.begin();
  }
  if (code.registers > 0 && kernel.registers > code.registers)
    wrong += fmt::format("{} registers, at most {}; ", kernel.registers, code.registers);
  return wrong;
}

}  // namespace

bool is_about(const RungCode& code, const SassFunction& kernel) {
  return matches(kernel.name, code.kernel);
}

void check_code(const RungCode& code, const std::vector<SassFunction>& kernels,
                const std::function<bool(const SassFunction&)>& is_for) {
  CAPTURE(code.rung, code.kernel);
  int found = 0;
  for (const SassFunction& kernel : kernels) {
    if (!is_about(code, kernel)) continue;
    ++found;
    if (is_for(kernel)) CHECK(wrong_with(code, kernel) == "");
  }
  CHECK(found == code.kernels);
}
