#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "probes/memory_bandwidth/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::memory_bandwidth;

namespace {

const char* suffix(int width) { return width == 16 ? ".128" : width == 8 ? ".64" : ""; }

/// The longest run of `opcode` without another opcode of the same prefix or a sum between them.
int longest_run(const SassFunction& function, const std::string& opcode) {
  int longest = 0, run = 0;
  for (const std::string& instruction : function.instructions) {
    if (instruction == opcode) {
      longest = std::max(longest, ++run);
    } else if (instruction.starts_with("IADD3") || instruction.starts_with("BRA")) {
      run = 0;
    }
  }
  return longest;
}

constexpr Path paths[] = {Path::cached, Path::l2_only, Path::no_allocate};

}  // namespace

TEST_CASE(
    "streams through global memory have the width and the number of loads that they are "
    "counted with",
    "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  const std::map<Path, std::string> opcodes{
      {Path::cached, "LDG.E"}, {Path::l2_only, "LDG.E"}, {Path::no_allocate, "LDG.E.NA"}};
  const auto check = [&](Path path, int width, int loads) {
    CAPTURE(static_cast<int>(path), width, loads);
    const SassFunction& function =
        find(functions, instance("stream_global", Operation::load, path, width, loads));
    std::string opcode = opcodes.at(path) + suffix(width);
    if (path == Path::l2_only) opcode += ".STRONG.GPU";
    // Before the loop and in it, and nothing else is loaded.
    CHECK(function.histogram("LDG") == std::map<std::string, int>{{opcode, 2 * loads}});
    CHECK(longest_run(function, opcode) >= loads);
  };
  for (const Path path : paths) {
    for (const int width : {4, 8, 16}) check(path, width, 4);
    for (const int loads : {1, 2, 8}) check(path, 16, loads);
  }
  for (const int width : {4, 8, 16}) {
    CAPTURE(width);
    const SassFunction& store =
        find(functions, instance("stream_global", Operation::store, Path::l2_only, width, 4));
    const std::string stored = std::string("STG.E") + suffix(width);
    // Six more are the report's, of 4 and of 8 bytes.
    CHECK(store.histogram("STG")[stored] == 4 + (width == 4 ? 2 : width == 8 ? 4 : 0));
    CHECK(store.count("LDG") == 0);
    const SassFunction& copy =
        find(functions, instance("stream_global", Operation::copy, Path::l2_only, width, 4));
    CHECK(copy.histogram("LDG") ==
          std::map<std::string, int>{{std::string("LDG.E") + suffix(width) + ".STRONG.GPU", 4}});
    CHECK(copy.histogram("STG")[stored] == 4 + (width == 4 ? 2 : width == 8 ? 4 : 0));
  }
}

TEST_CASE("single tiles are the loads and stores that they are counted with",
          "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  const auto of = [&](Operation operation, int loads) {
    return find(functions, instance("stream_tiles", operation, Path::l2_only, loads));
  };
  const std::string load = "LDG.E.128.STRONG.GPU", store = "STG.E.128";
  for (const int loads : {1, 2, 4}) {
    CAPTURE(loads);
    const SassFunction function = of(Operation::load, loads);
    CHECK(function.histogram("LDG") == std::map<std::string, int>{{load, loads}});
    CHECK(longest_run(function, load) == loads);
    CHECK(function.count("STG") == 0);
  }
  for (const int loads : {1, 2}) {
    CAPTURE(loads);
    CHECK(of(Operation::store, loads).histogram("STG") ==
          std::map<std::string, int>{{store, loads}});
    CHECK(of(Operation::store, loads).count("LDG") == 0);
    CHECK(of(Operation::copy, loads).histogram("LDG") == std::map<std::string, int>{{load, loads}});
    CHECK(of(Operation::copy, loads).histogram("STG") ==
          std::map<std::string, int>{{store, loads}});
  }
}

TEST_CASE("chosen SMs load by the same loop as all of them", "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  const SassFunction& function = find(functions, "stream_on_sms(");
  const std::string opcode = "LDG.E.128.STRONG.GPU";
  CHECK(function.histogram("LDG") == std::map<std::string, int>{{opcode, 8}});
  CHECK(longest_run(function, opcode) >= 4);
}

TEST_CASE(
    "streams through shared memory have the width and the number of accesses that they are "
    "counted with",
    "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  for (const int width : {4, 8, 16}) {
    CAPTURE(width);
    const std::string load = std::string("LDS") + suffix(width);
    const std::string store = std::string("STS") + suffix(width);
    const bool narrow = width == 4;
    // Of 4 bytes there are also those that fill and save the memory, and one load behind the
    // stores, of whose words only one is needed.
    const auto of = [&](Operation operation) {
      return find(functions, instance("stream_shared", operation, width));
    };
    const auto exactly_or_more = [&](int found, int wanted) {
      return narrow ? found >= wanted : found == wanted;
    };
    CHECK(exactly_or_more(of(Operation::load).histogram("LDS")[load],
                          2 * shared_loads(Operation::load)));
    CHECK(longest_run(of(Operation::load), load) >= shared_loads(Operation::load));
    CHECK(exactly_or_more(of(Operation::store).histogram("STS")[store],
                          shared_loads(Operation::store)));
    CHECK(
        exactly_or_more(of(Operation::copy).histogram("LDS")[load], shared_loads(Operation::copy)));
    CHECK(exactly_or_more(of(Operation::copy).histogram("STS")[store],
                          shared_loads(Operation::copy)));
  }
}

TEST_CASE(
    "streams through clusters have the width and the number of accesses that they are counted "
    "with",
    "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  const auto of = [&](Operation operation, int width) {
    return find(functions, instance("stream_cluster", operation, width));
  };
  if (functions.front().capability() < 90) SKIP("built for a chip without clusters");
  for (const int width : {4, 8, 16}) {
    CAPTURE(width);
    const std::string load = std::string("LD.E") + suffix(width);
    const std::string store = std::string("ST.E") + suffix(width);
    CHECK(of(Operation::load, width).histogram("LD.E") ==
          std::map<std::string, int>{{load, 2 * shared_loads(Operation::load)}});
    CHECK(of(Operation::store, width).histogram("ST.E") ==
          std::map<std::string, int>{{store, shared_loads(Operation::store)}});
    CHECK(of(Operation::copy, width).histogram("ST.E") ==
          std::map<std::string, int>{{store, shared_loads(Operation::copy)}});
  }
}

TEST_CASE("the register stream is multiply-adds of three vector registers without reuse",
          "[sass][memory_bandwidth]") {
  const auto functions = disassemble_library("probe_memory_bandwidth_kernels");
  const SassFunction& function = find(functions, "read_registers(");
  int multiply_adds = 0, reused = 0, uniform = 0;
  for (const std::string& line : function.lines) {
    if (!line.starts_with("FFMA")) continue;
    ++multiply_adds;
    reused += line.find(".reuse") != std::string::npos;
    uniform += line.find("UR") != std::string::npos || line.find("c[") != std::string::npos;
  }
  CHECK(multiply_adds >= register_steps * register_chains);
  CHECK(multiply_adds <= register_steps * register_chains + register_chains);
  CHECK(reused <= register_chains);  // in what is around the loop
  CHECK(uniform <= register_chains);
}
