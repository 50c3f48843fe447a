#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "probes/memory_latency/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::memory_latency;

namespace {

/// A load: the register that it writes and the one that holds its address.
struct Load {
  std::string opcode, result, address;
};

/// The load in `line`, if its opcode begins with `opcode`.
std::optional<Load> load_in(const std::string& line, const std::string& opcode) {
  if (!line.starts_with(opcode)) return std::nullopt;
  std::smatch match;
  // "LDG.E.64 R4, desc[UR6][R2.64]", "ATOMS.ADD R4, [R2], R5", "LDC R4, c[0x3][R2]"
  static const std::regex in_brackets(
      "(\\S+) (?:P[T0-9]+, )?(R[0-9]+), .*\\[(R[0-9]+)(?:\\.64|\\.U32)?(?:\\+[^\\]]*)?\\].*");
  // "TLD.LZ RZ, R4, R2, UR6, 0x0, 1D, 0x1"
  static const std::regex texture("(T\\S+) RZ, (R[0-9]+), (R[0-9]+), .*");
  if (std::regex_match(line, match, in_brackets) || std::regex_match(line, match, texture)) {
    return Load{match[1], match[2], match[3]};
  }
  return std::nullopt;
}

/// What stands between two clock reads with `loads` of `opcode` between them; the shortest such
/// part, since others hold the loads that warm up or read the times.
std::vector<std::string> timed_part(const SassFunction& function, const std::string& opcode,
                                    int loads) {
  auto parts = parts_by_clock(function);
  if (parts.size() < 3) return {};
  parts.erase(parts.begin());  // before the first clock
  parts.pop_back();            // and behind the last
  std::erase_if(parts, [&](const std::vector<std::string>& part) {
    return loads != std::ranges::count_if(part, [&](const std::string& line) {
             return load_in(line, opcode).has_value();
           });
  });
  const auto shortest = std::ranges::min_element(parts, {}, &std::vector<std::string>::size);
  return shortest == parts.end() ? std::vector<std::string>() : *shortest;
}

/// Between the clocks: the loads, each with the result of the one before as its address, then one
/// store, for which the last clock waits.
void check_chase(const SassFunction& function, const std::string& opcode) {
  CAPTURE(function.name, opcode);
  const std::vector<std::string> part = timed_part(function, opcode, chase_unroll);
  REQUIRE_FALSE(part.empty());
  std::string previous;
  int independent = 0, stores = 0;
  for (const std::string& line : part) {
    stores += line.starts_with("ST");
    const std::optional<Load> load = load_in(line, opcode);
    if (!load) continue;
    CHECK(stores == 0);
    independent += !previous.empty() && load->address != previous;
    previous = load->result;
  }
  CHECK(independent == 0);
  CHECK(stores == 1);
}

/// One load stands in the bracket, and one store behind it.
void check_bracket(const SassFunction& function, const std::string& opcode) {
  CAPTURE(function.name, opcode);
  const std::vector<std::string> part = timed_part(function, opcode, 1);
  REQUIRE_FALSE(part.empty());
  int stores = 0;
  bool loaded = false;
  for (const std::string& line : part) {
    if (load_in(line, opcode)) loaded = true;
    if (line.starts_with("ST")) {
      CHECK(loaded);
      ++stores;
    }
  }
  CHECK(stores == 1);
}

/// The kernel of each way to time; `kind` is what its instances have before that.
template <class... Kind>
void check_both(const std::vector<SassFunction>& functions, const std::string& opcode,
                const char* kernel, Kind... kind) {
  check_chase(find(functions, instance(kernel, kind..., Timed::mean)), opcode);
  check_bracket(find(functions, instance(kernel, kind..., Timed::each)), opcode);
}

}  // namespace

TEST_CASE("the timed part of a chase is dependent loads of the level's instruction",
          "[sass][memory_latency]") {
  const auto functions = disassemble_library("probe_memory_latency_kernels");
  const std::pair<GlobalLoad, const char*> globals[] = {
      {GlobalLoad::cached, "LDG.E.64"},
      {GlobalLoad::l2_only, "LDG.E.64.STRONG.GPU"},
      {GlobalLoad::read_only, "LDG.E.64.CONSTANT"},
      {GlobalLoad::system, "LDG.E.64.STRONG.SYS"},
      {GlobalLoad::atomic_add, "ATOMG.E.ADD.64"},
      {GlobalLoad::atomic_cas, "ATOMG.E.CAS.64"}};
  for (const auto& [load, opcode] : globals) check_both(functions, opcode, "chase_global", load);
  // A plain load is the cached one, not one with a scope or a path of its own.
  const SassFunction& cached =
      find(functions, instance("chase_global", GlobalLoad::cached, Timed::mean));
  CHECK(cached.histogram("LDG").size() == 1);
  const std::pair<SharedLoad, const char*> shareds[] = {{SharedLoad::load, "LDS"},
                                                        {SharedLoad::atomic_add, "ATOMS.ADD"},
                                                        {SharedLoad::atomic_cas, "ATOMS.CAS"}};
  for (const auto& [load, opcode] : shareds) check_both(functions, opcode, "chase_shared", load);
  check_both(functions, "LDC", "chase_constant");
  check_both(functions, "LDC", "chase_parameters");
  check_both(functions, "TLD", "chase_texture");
  for (const auto& [load, opcode] : {std::pair{SharedLoad::load, "LD.E"},
                                     {SharedLoad::atomic_add, "ATOM.E.ADD"},
                                     {SharedLoad::atomic_cas, "ATOM.E.CAS"}}) {
    const SassFunction& function = find(functions, instance("chase_cluster", load));
    // Empty before compute capability 9.0.
    if (function.count("LD") > 0 || function.count("ATOM") > 0) check_chase(function, opcode);
  }
}

TEST_CASE("nothing between a chase's loads invalidates the L1", "[sass][memory_latency]") {
  for (const SassFunction& function : disassemble_library("probe_memory_latency_kernels")) {
    if (function.name.find("chase_cluster") != std::string::npos) continue;  // cluster.sync
    CAPTURE(function.name);
    CHECK(function.count("CCTL") == 0);
  }
}

TEST_CASE("a block of code is as long as it says", "[sass][memory_latency]") {
  const auto functions = disassemble_library("probe_memory_latency_kernels");
  const SassFunction& function = find(functions, "run_code_and_constants");
  CHECK(function.count("FFMA") == most_code_blocks * code_block_sums);
  // From one branch that leaves the code to the next: nothing is hoisted out of a block or shared.
  std::vector<std::size_t> leaving;
  std::size_t first = 0, last = 0;
  for (std::size_t i = 0; i < function.lines.size(); ++i) {
    if (function.lines[i].starts_with("FFMA")) last = i;
    if (first == 0) first = last;
  }
  int additions = 0;
  for (std::size_t i = first; i <= last; ++i) {
    additions += function.lines[i].starts_with("FFMA");
    if (function.lines[i].find("BRA") == std::string::npos) continue;
    CHECK(additions == code_block_sums);
    additions = 0;
    leaving.push_back(i);
  }
  REQUIRE(leaving.size() + 1 >= most_code_blocks);
  for (std::size_t b = 2; b < leaving.size(); ++b) {
    // Some chips need one more to compare.
    const std::size_t length = leaving[b] - leaving[b - 1];
    CHECK((length == code_block_instructions || length == code_block_instructions + 1));
  }
}

TEST_CASE("constants and parameters come from their banks", "[sass][memory_latency]") {
  const auto functions = disassemble_library("probe_memory_latency_kernels");
  const auto loads_of = [&](const std::string& kernel, const std::string& bank) {
    const SassFunction& function = find(functions, kernel);
    CHECK(function.count("LDG") == 0);
    return std::ranges::count_if(function.lines, [&](const std::string& line) {
      return line.find(bank + "[R") != std::string::npos;
    });
  };
  CHECK(loads_of("run_code_and_constants", "c[0x3]") >= 4);
  CHECK(loads_of("run_code_and_constants", "c[0x0]") == 0);
  for (const Timed timed : {Timed::mean, Timed::each}) {
    CHECK(loads_of(instance("chase_parameters", timed), "c[0x0]") >= 1);
    CHECK(loads_of(instance("chase_constant", timed), "c[0x3]") >= 1);
  }
}

TEST_CASE("both loads of a pair are what the level asks for", "[sass][memory_latency]") {
  const auto functions = disassemble_library("probe_memory_latency_kernels");
  for (const auto& [load, opcode] :
       {std::pair{GlobalLoad::cached, "LDG.E"}, {GlobalLoad::l2_only, "LDG.E.STRONG.GPU"}}) {
    const SassFunction& function = find(functions, instance("second_of_pair", load));
    CHECK(function.histogram("LDG") == std::map<std::string, int>{{opcode, 2}});
    check_bracket(function, opcode);
  }
}
