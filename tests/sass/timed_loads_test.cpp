// What is timed of memory_latency and of topology: what stands between two readings of the clock.

#include <regex>

#include "probes/memory_latency/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::memory_latency;

namespace {

/// A load: the register that it writes and the one that holds its address.
struct Load {
  std::string result, address;
};

/// The load in `line`, if its opcode begins with `opcode`.
std::optional<Load> load_in(const std::string& line, const std::string& opcode) {
  if (!line.starts_with(opcode)) return std::nullopt;
  std::smatch match;
  // "LDG.E.64 R4, desc[UR6][R2.64]", "ATOMS.ADD R4, [R2], R5", "LDC R4, c[0x3][R2]"
  static const std::regex in_brackets(
      "\\S+ (?:P[T0-9]+, )?(R[0-9]+), .*\\[(R[0-9]+)(?:\\.64|\\.U32)?(?:\\+[^\\]]*)?\\].*");
  // "TLD.LZ RZ, R4, R2, UR6, 0x0, 1D, 0x1"
  static const std::regex texture("T\\S+ RZ, (R[0-9]+), (R[0-9]+), .*");
  if (std::regex_match(line, match, in_brackets) || std::regex_match(line, match, texture))
    return Load{match[1], match[2]};
  return std::nullopt;
}

using Part = std::vector<std::string>;

/// What stands between two clock reads with `loads` of `opcode` between them; the shortest such
/// part, since others hold the loads that warm up or read the times.
Part timed_part(const SassFunction& function, const std::string& opcode, int loads) {
  Part shortest, part;
  bool inside = false;
  for (const std::string& line : function.lines) {
    if (!line.starts_with("CS2R") || line.find("SR_CLOCKLO") == std::string::npos) {
      part.push_back(line);
      continue;
    }
    const auto found = std::ranges::count_if(
        part, [&](const std::string& l) { return load_in(l, opcode).has_value(); });
    if (inside && found == loads && (shortest.empty() || part.size() < shortest.size()))
      shortest = part;
    part.clear();
    inside = true;
  }
  return shortest;
}

/// Between the clocks: the loads, each with the result of the one before as its address, then one
/// store, for which the last clock waits.
void check_timed(const SassFunction& function, const std::string& opcode, int loads) {
  CAPTURE(function.name, opcode);
  const Part part = timed_part(function, opcode, loads);
  REQUIRE_FALSE(part.empty());
  std::string previous;
  int seen = 0, independent = 0, stores = 0;
  for (const std::string& line : part) {
    if (line.starts_with("ST")) {
      ++stores;
      CHECK(seen == loads);
    }
    const std::optional<Load> load = load_in(line, opcode);
    if (!load) continue;
    ++seen;
    independent += !previous.empty() && load->address != previous;
    previous = load->result;
  }
  CHECK(independent == 0);
  CHECK(stores == 1);
}

std::string timed_name(const std::string& kernel, Timed timed) {
  return fmt::format("{}(fathom::memory_latency::Timed){}>", kernel, static_cast<int>(timed));
}

}  // namespace

TEST_CASE("the timed part of a chase is dependent loads of the level's instruction",
          "[sass][memory_latency]") {
  const auto functions = disassemble_library("probe_memory_latency_kernels");
  const auto check_both = [&](const std::string& kernel, const char* opcode) {
    check_timed(find(functions, timed_name(kernel, Timed::mean)), opcode, chase_unroll);
    check_timed(find(functions, timed_name(kernel, Timed::each)), opcode, 1);
  };
  for (const auto& [load, opcode] : {std::pair{GlobalLoad::cached, "LDG.E.64"},
                                     {GlobalLoad::l2_only, "LDG.E.64.STRONG.GPU"},
                                     {GlobalLoad::read_only, "LDG.E.64.CONSTANT"},
                                     {GlobalLoad::system, "LDG.E.64.STRONG.SYS"},
                                     {GlobalLoad::atomic_add, "ATOMG.E.ADD.64"},
                                     {GlobalLoad::atomic_cas, "ATOMG.E.CAS.64"}}) {
    const std::string kernel = fmt::format("chase_global<(fathom::memory_latency::GlobalLoad){}, ",
                                           static_cast<int>(load));
    check_both(kernel, opcode);
    // A plain load is the cached one, not one with a scope or a path of its own.
    if (load != GlobalLoad::cached) continue;
    const SassFunction& plain = find(functions, timed_name(kernel, Timed::mean));
    CHECK(plain.count("LDG") == std::ranges::count(plain.instructions, opcode));
  }
  for (const auto& [load, opcode, by_cluster] :
       {std::tuple{SharedLoad::load, "LDS", "LD.E"},
        {SharedLoad::atomic_add, "ATOMS.ADD", "ATOM.E.ADD"},
        {SharedLoad::atomic_cas, "ATOMS.CAS", "ATOM.E.CAS"}}) {
    const std::string type =
        fmt::format("<(fathom::memory_latency::SharedLoad){}", static_cast<int>(load));
    check_both("chase_shared" + type + ", ", opcode);
    // Empty before compute capability 9.0.
    const SassFunction& cluster = find(functions, "chase_cluster" + type + ">");
    if (cluster.capability() >= 90) check_timed(cluster, by_cluster, chase_unroll);
  }
  check_both("chase_constant<", "LDC");
  check_both("chase_parameters<", "LDC");
  check_both("chase_texture<", "TLD");
}

TEST_CASE("between the clocks there is one access to a line and the store that needs it",
          "[sass][topology]") {
  const auto functions = disassemble_library("probe_topology_kernels");
  for (const auto& [kind, opcode] :
       {std::pair{0, "LDG.E.STRONG.GPU"}, {1, "ATOMG.E.ADD.STRONG.GPU"}}) {
    const SassFunction& function =
        find(functions, fmt::format("line_latencies<(fathom::topology::LineAccess){}>", kind));
    check_timed(function, opcode, 1);
    // One in the loop over warm passes, and one that is timed: none merged, none unrolled. An
    // atomic one also counts the SMs.
    CHECK(function.count(opcode) == 2 + kind);
    const Part part = timed_part(function, opcode, 1);
    CHECK(part.size() <= 4);
    for (const std::string& line : part) {
      if (line.starts_with(opcode) || line.starts_with("STS")) continue;
      CAPTURE(line);
      // Nothing that waits, and nothing that takes from memory of any kind.
      for (const char* memory : {"LD", "ST", "ATOM", "S2", "BAR", "MEMBAR"})
        CHECK_FALSE(line.starts_with(memory));
    }
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
  const auto is_sum = [](const std::string& line) { return line.starts_with("FFMA"); };
  // From one branch that leaves the code to the next: nothing is hoisted out of a block or shared.
  std::vector<std::size_t> leaving;
  int additions = 0;
  const auto last = std::find_if(function.lines.rbegin(), function.lines.rend(), is_sum).base();
  for (auto line = std::ranges::find_if(function.lines, is_sum); line < last; ++line) {
    additions += is_sum(*line);
    if (line->find("BRA") == std::string::npos) continue;
    CHECK(additions == code_block_sums);
    additions = 0;
    leaving.push_back(static_cast<std::size_t>(line - function.lines.begin()));
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
    CHECK(loads_of(timed_name("chase_parameters<", timed), "c[0x0]") >= 1);
    CHECK(loads_of(timed_name("chase_constant<", timed), "c[0x3]") >= 1);
  }
}
