#pragma once

#include <elf.h>

#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::explain {

/// The functions of a module, as its machine code (an ELF file) names them: each has a section
/// ".text.NAME". Empty for what is no such file.
inline std::set<std::string> kernel_names(const std::vector<char>& code) {
  constexpr std::string_view prefix = ".text.";
  const auto fits = [&](std::uint64_t at, std::uint64_t bytes) {
    return at <= code.size() && bytes <= code.size() - at;
  };
  Elf64_Ehdr file;
  if (!fits(0, sizeof file)) return {};
  std::memcpy(&file, code.data(), sizeof file);
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_shstrndx >= file.e_shnum) return {};
  if (!fits(file.e_shoff, std::uint64_t{file.e_shnum} * sizeof(Elf64_Shdr))) return {};
  std::vector<Elf64_Shdr> sections(file.e_shnum);
  std::memcpy(sections.data(), code.data() + file.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const Elf64_Shdr& strings = sections[file.e_shstrndx];
  if (!fits(strings.sh_offset, strings.sh_size)) return {};
  const std::string_view names(code.data() + strings.sh_offset, strings.sh_size);
  std::set<std::string> found;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= names.size()) continue;
    const std::string_view name = names.substr(section.sh_name);
    if (name.starts_with(prefix))
      found.emplace(name.substr(prefix.size(), name.find('\0') - prefix.size()));
  }
  return found;
}

}  // namespace fathom::explain
