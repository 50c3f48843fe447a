#include "tests/sass/rung_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>

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

struct Condition {
  std::string opcode, relation;
  int number = 0;

  /// "FFMA>=512", "BAR=2", "LDS.128".
  explicit Condition(const std::string& text) {
    const std::size_t end = text.find_first_of("<>=");
    opcode = text.substr(0, end);
    relation = ">";
    if (end == std::string::npos) return;
    const std::size_t digits = text.find_first_of("0123456789", end);
    if (digits == std::string::npos) throw std::runtime_error("no number in " + text);
    relation = text.substr(end, digits - end);
    number = std::stoi(text.substr(digits));
  }
  bool holds(int count) const {
    if (relation == ">") return count > number;
    if (relation == ">=") return count >= number;
    if (relation == "<=") return count <= number;
    if (relation == "=") return count == number;
    throw std::runtime_error("no relation: " + relation);
  }
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string half_rung(const std::string& rung) { return "half" + rung.substr(rung.find('/')); }

bool is_half(const std::string& rung) {
  return rung.starts_with("fp16/") || rung.starts_with("bf16/");
}

}  // namespace

const std::vector<RungCode>& rung_codes() {
  static const std::vector<RungCode> all = [] {
    std::vector<RungCode> codes;
    for (auto part : {fp32_codes(), fp64_codes(), half_codes(), other_tensor_codes()})
      std::ranges::move(part, std::back_inserter(codes));
    return codes;
  }();
  return all;
}

std::string folder_of(const std::string& rung) {
  std::string folder = is_half(rung) ? "half" : rung.substr(0, rung.find('/'));
  std::ranges::replace(folder, '-', '_');
  return folder;
}

bool is_about(const RungCode& code, const std::string& rung) {
  return code.rung == rung || (is_half(rung) && code.rung == half_rung(rung));
}

bool is_about(const RungCode& code, const SassFunction& kernel, const std::string& rung) {
  const char* type = rung.starts_with("fp16/")   ? "__half"
                     : rung.starts_with("bf16/") ? "__nv_bfloat16"
                                                 : "";
  return matches(kernel.name, code.kernel) && kernel.name.find(type) != std::string::npos;
}

std::string wrong_with(const RungCode& code, const SassFunction& kernel) {
  std::string wrong;
  for (const std::string& word : words(code.has)) {
    const Condition condition(word);
    const int count = kernel.count(condition.opcode);
    if (!condition.holds(count))
      wrong += fmt::format("{} {}, wanted {}; ", count, condition.opcode, word);
  }
  for (const std::string& opcode : words(code.lacks)) {
    if (kernel.count(opcode) > 0)
      wrong += fmt::format("{} {}, wanted none; ", kernel.count(opcode), opcode);
  }
  if (kernel.stack_bytes + kernel.local_bytes + kernel.count("LDL") + kernel.count("STL") > 0)
    wrong += "spills; ";
  if (code.registers > 0 && kernel.registers > code.registers)
    wrong += fmt::format("{} registers, at most {}; ", kernel.registers, code.registers);
  return wrong;
}
