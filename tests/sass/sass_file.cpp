#include "tests/sass/sass_file.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <stdexcept>

#include "kernel_libraries.h"

namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string text;
  std::array<char, 65536> part;
  while (const std::size_t read = fread(part.data(), 1, part.size(), pipe.get())) {
    text.append(part.data(), read);
  }
  return text;
}

template <class F>
void for_each_line(const std::string& text, F&& f) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    f(text.substr(start, end - start));
    start = end + 1;
  }
}

}  // namespace

std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(name.get()) : mangled;
}

int SassFunction::count(const std::string& opcode) const {
  int found = 0;
  for (const std::string& instruction : instructions) {
    found += instruction == opcode || instruction.starts_with(opcode + ".");
  }
  return found;
}

std::map<std::string, int> SassFunction::histogram(const std::string& prefix) const {
  std::map<std::string, int> result;
  for (const std::string& instruction : instructions) {
    if (instruction.starts_with(prefix)) ++result[instruction];
  }
  return result;
}

std::vector<SassFunction> disassemble(const std::string& file) {
  std::vector<SassFunction> functions;
  std::map<std::string, std::size_t> by_mangled_name;
  const std::regex function_line("\\s*Function : (\\S+)");
  // "/*0050*/   @!P0 LDG.E.128 R4, ... ;": the address, perhaps a predicate, the opcode.
  const std::regex instruction_line("\\s*/\\*[0-9a-f]{4,}\\*/\\s+(?:@!?U?P[T0-9]+ )?\\s*(([A-Z][A-Z0-9_.]*)[^;]*).*");
  const std::string tool = FATHOM_CUOBJDUMP;
  std::smatch match;
  for_each_line(output_of(tool + " -sass " + file), [&](const std::string& line) {
    if (std::regex_match(line, match, function_line)) {
      by_mangled_name[match[1]] = functions.size();
      functions.push_back({demangle(match[1]), {}, 0, 0, 0, {}});
    } else if (!functions.empty() && std::regex_match(line, match, instruction_line)) {
      functions.back().lines.push_back(match[1]);
      functions.back().instructions.push_back(match[2]);
    }
  });
  if (functions.empty()) throw std::runtime_error("cuobjdump found no kernel in " + file);
  // " Function kernel:" and on the next line "  REG:32 STACK:0 SHARED:0 LOCAL:0 ..."
  const std::regex resource_function("\\s*Function ([^: ]+):");
  const std::regex resources(".*REG:([0-9]+) STACK:([0-9]+) .*LOCAL:([0-9]+).*");
  std::string current;
  for_each_line(output_of(tool + " -res-usage " + file + " 2>&1"), [&](const std::string& line) {
    if (std::regex_match(line, match, resource_function)) {
      current = match[1];
    } else if (by_mangled_name.contains(current) && std::regex_match(line, match, resources)) {
      SassFunction& function = functions[by_mangled_name[current]];
      function.registers = std::stoi(match[1]);
      function.stack_bytes = std::stoi(match[2]);
      function.local_bytes = std::stoi(match[3]);
    }
  });
  return functions;
}

std::set<std::string> kernels_of(const std::string& file) {
  std::set<std::string> names;
  // "STT_FUNC         STB_GLOBAL STO_ENTRY      name"
  const std::regex kernel("STT_FUNC .* STO_ENTRY +(\\S+)\\s*");
  std::smatch match;
  for_each_line(output_of(std::string(FATHOM_CUOBJDUMP) + " -symbols " + file),
                [&](const std::string& line) {
                  if (std::regex_match(line, match, kernel)) names.insert(match[1]);
                });
  if (names.empty()) throw std::runtime_error("cuobjdump found no kernel in " + file);
  return names;
}

std::vector<SassFunction> disassemble_library(const std::string& target) {
  for (const std::string file : kernel_libraries) {
    if (file.ends_with("/lib" + target + ".a")) return disassemble(file);
  }
  throw std::runtime_error(target + " is no kernel library of this build");
}

const SassFunction& find(const std::vector<SassFunction>& functions, const std::string& part) {
  const SassFunction* found = nullptr;
  for (const SassFunction& function : functions) {
    if (function.name.find(part) == std::string::npos) continue;
    if (found != nullptr) throw std::runtime_error("several kernels are named like " + part);
    found = &function;
  }
  if (found == nullptr) throw std::runtime_error("no kernel is named like " + part);
  return *found;
}
