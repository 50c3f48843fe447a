#include "tests/sass/sass_file.h"

#include <cxxabi.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <system_error>

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
void for_each_line(std::string_view text, F&& f) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    f(text.substr(start, end - start));
    start = end + 1;
  }
}

/// What follows `begin` at the line's start, but for spaces.
std::optional<std::string_view> after(std::string_view line, std::string_view begin) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(begin)) return std::nullopt;
  return line.substr(begin.size());
}

/// "        /*0050*/   @!P0 LDG.E.128 R4, [R2.64] ;  /* ... */": the instruction without its
/// predicate. (By hand: a regular expression takes longer for these lines than cuobjdump does to
/// write them.)
std::optional<std::string_view> instruction(std::string_view line) {
  auto rest = after(line, "/*");
  if (!rest) return std::nullopt;
  const std::size_t address = rest->find_first_not_of("0123456789abcdef");
  if (address < 4 || !rest->substr(std::min(address, rest->size())).starts_with("*/"))
    return std::nullopt;
  rest = after(rest->substr(address + 2), "");
  if (rest->starts_with('@'))
    rest = after(rest->substr(std::min(rest->find(' '), rest->size())), "");
  if (rest->empty() || rest->front() < 'A' || rest->front() > 'Z') return std::nullopt;
  return rest->substr(0, rest->find(';'));
}

/// The upper half of an instruction, which has a line of its own: "     /* 0x000fe200078e00ff */".
std::optional<Scoreboards> scoreboards(std::string_view line) {
  const auto hex = after(line, "/* 0x");
  std::uint64_t word = 0;
  if (!hex || std::from_chars(hex->data(), hex->data() + hex->size(), word, 16).ec != std::errc())
    return std::nullopt;
  const auto control = static_cast<unsigned>(word >> 41);
  return Scoreboards{static_cast<int>(control >> 5 & 7), control >> 11 & 63};
}

/// What cuobjdump writes of a file's code. Kept beside the file while that stays as it is: many
/// tests read the same kernels, each in a process of its own, and some take seconds.
std::string code_of(const std::string& file) {
  namespace fs = std::filesystem;
  const std::string kept = file + ".sass";
  std::error_code absent;
  if (fs::last_write_time(kept, absent) > fs::last_write_time(file)) {
    std::ifstream stream(kept, std::ios::binary);
    std::string text(fs::file_size(kept), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
  }
  const std::string text = output_of(std::string(FATHOM_CUOBJDUMP) + " -sass " + file + " 2>&1");
  if (text.find("Function : ") == std::string::npos) return text;
  // Another test may do the same at this moment.
  const std::string unfinished = kept + "." + std::to_string(getpid());
  std::ofstream(unfinished, std::ios::binary) << text;
  fs::rename(unfinished, kept);
  return text;
}

/// None where it has no kernel.
std::vector<SassFunction> kernels_in(const std::string& file) {
  std::vector<SassFunction> functions;
  std::map<std::string, std::size_t> by_mangled_name;
  std::string architecture;
  for_each_line(code_of(file), [&](std::string_view line) {
    if (const auto code_for = after(line, "code for ")) {
      architecture = *code_for;
    } else if (const auto name = after(line, "Function : ")) {
      by_mangled_name[std::string(*name)] = functions.size();
      functions.push_back({demangle(std::string(*name)), {}, 0, architecture, {}, {}});
    } else if (const auto text = instruction(line); text && !functions.empty()) {
      functions.back().lines.emplace_back(*text);
      functions.back().instructions.emplace_back(text->substr(0, text->find_first_of(" ;")));
    } else if (const auto control = scoreboards(line);
               control && !functions.empty() &&
               functions.back().scoreboards.size() < functions.back().lines.size()) {
      functions.back().scoreboards.push_back(*control);
    }
  });
  for (const KernelResources& used : resources_of(file)) {
    const auto at = by_mangled_name.find(used.name);
    if (at != by_mangled_name.end()) functions[at->second].registers = used.registers;
  }
  return functions;
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

int SassFunction::capability() const {
  const std::size_t digits = architecture.find_first_of("0123456789");
  if (digits == std::string::npos)
    throw std::runtime_error("cuobjdump does not say what " + name + " is for");
  return std::stoi(architecture.substr(digits));
}

std::vector<KernelResources> resources_of(const std::string& file) {
  std::vector<KernelResources> found;
  // " Function kernel:" and on the next line "  REG:32 STACK:0 SHARED:0 LOCAL:0 ..."
  KernelResources used{};
  for_each_line(
      output_of(std::string(FATHOM_CUOBJDUMP) + " -res-usage " + file + " 2>&1"),
      [&](std::string_view line) {
        if (const auto kernel = after(line, "Function ")) {
          used.name = kernel->substr(0, kernel->find(':'));
        } else if (std::sscanf(std::string(line).c_str(), " REG:%d STACK:%d SHARED:%*d LOCAL:%d",
                               &used.registers, &used.stack_bytes, &used.local_bytes) == 3) {
          found.push_back(used);
        }
      });
  return found;
}

std::vector<SassFunction> disassemble_library(const std::string& target) {
  for (const std::string file : kernel_libraries) {
    if (!file.ends_with("/lib" + target + ".a")) continue;
    std::vector<SassFunction> functions = kernels_in(file);
    if (functions.empty()) throw std::runtime_error("cuobjdump found no kernel in " + file);
    return functions;
  }
  throw std::runtime_error(target + " is no kernel library of this build");
}

const std::vector<SassFunction>& disassemble_ladder(const std::string& folder,
                                                    const std::string& file) {
  static std::map<std::string, std::vector<SassFunction>> known;
  std::vector<SassFunction>& functions = known[folder + "/" + file];
  if (!functions.empty()) return functions;
  for (const std::filesystem::path object : library_objects) {
    const std::string path = object.lexically_normal().string(),
                      best = "/gemm_ladder_kernels.dir/best/";
    const std::size_t at = path.find(best);
    if (at == std::string::npos) continue;
    const std::string below = path.substr(at + best.size());
    const std::string where = below.substr(0, below.find_first_of("/."));  // a folder, or a file
    if ((folder.empty() ? below.find('/') != std::string::npos : where != folder) ||
        object.filename().string().find(file) == std::string::npos)
      continue;
    std::ranges::move(kernels_in(object), std::back_inserter(functions));
  }
  if (functions.empty())
    throw std::runtime_error("the ladder has no kernel in " + folder + "/*" + file + "*");
  return functions;
}

std::vector<const SassFunction*> find_all(const std::vector<SassFunction>& functions,
                                          const std::string& part, std::size_t count) {
  std::vector<const SassFunction*> found;
  for (const SassFunction& function : functions)
    if (function.name.find(part) != std::string::npos) found.push_back(&function);
  if (found.size() != count)
    throw std::runtime_error(fmt::format("{} kernels are named like {}", found.size(), part));
  return found;
}

const SassFunction& find(const std::vector<SassFunction>& functions, const std::string& part) {
  return *find_all(functions, part, 1).front();
}
