#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tests/sass/sass_file.h"

namespace {

using Histogram = std::map<std::string, int>;

/// Whether the warp can end before it comes to the instruction.
bool ends_before(const SassFunction& function, const std::string& opcode) {
  const auto& all = function.instructions;
  return std::find(all.begin(), all.end(), "EXIT") < std::find(all.begin(), all.end(), opcode);
}

}  // namespace

// A counter must see the instruction under test once, with its width, and nothing else that it
// counts: what fills shared memory before loads is a store and what reads it back after stores a
// load. The one further store is the filling, which a counted launch skips.
TEST_CASE("each kernel of the model validation has its instruction once",
          "[sass][model_validation]") {
  const auto functions = disassemble_library("probe_model_validation_kernels");
  for (const auto& [width, suffix] :
       {std::pair{"1", ".U8"}, {"2", ".U16"}, {"4", ""}, {"8", ".64"}, {"16", ".128"}}) {
    const std::string template_name = std::string("<") + width + ">";
    CAPTURE(width);
    const auto with_suffix = [suffix = std::string(suffix)](const char* opcode) {
      return opcode + suffix;
    };

    const SassFunction& shared_load = find(functions, "shared_load" + template_name);
    CHECK(shared_load.histogram("LDS") == Histogram{{with_suffix("LDS"), 1}});
    CHECK(shared_load.histogram("STS") == Histogram{{"STS", 1}});
    CHECK(ends_before(shared_load, with_suffix("LDS")));

    const SassFunction& shared_store = find(functions, "shared_store" + template_name);
    Histogram stores{{"STS", 1}};
    ++stores[with_suffix("STS")];
    CHECK(shared_store.histogram("STS") == stores);
    CHECK(ends_before(shared_store, with_suffix("STS")));

    const SassFunction& global_load = find(functions, "global_load" + template_name);
    CHECK(global_load.histogram("LDG") == Histogram{{with_suffix("LDG.E"), 1}});
    CHECK(ends_before(global_load, with_suffix("LDG.E")));

    const SassFunction& global_store = find(functions, "global_store" + template_name);
    CHECK(global_store.histogram("STG") == Histogram{{with_suffix("STG.E"), 1}});
    CHECK(ends_before(global_store, with_suffix("STG.E")));

    for (const SassFunction* function : {&shared_load, &shared_store, &global_store}) {
      CAPTURE(function->name);
      CHECK(function->histogram("LDG").empty());
    }
    for (const SassFunction* function : {&global_load, &global_store}) {
      CAPTURE(function->name);
      CHECK(function->histogram("LDS").empty());
      CHECK(function->histogram("STS").empty());
    }
    for (const SassFunction* function :
         {&shared_load, &shared_store, &global_load, &global_store}) {
      CAPTURE(function->name);
      // Generic accesses and atomics would be counted elsewhere.
      for (const char* other : {"LD", "ST", "ATOM", "ATOMG", "ATOMS", "RED", "REDG"}) {
        CHECK(function->count(other) == 0);
      }
    }
  }
}

TEST_CASE("the kernels asked for their occupancy take different registers",
          "[sass][model_validation]") {
  std::map<int, int> registers;
  for (const SassFunction& function : disassemble_library("probe_model_validation_kernels")) {
    if (function.name.find("occupant<") != std::string::npos) ++registers[function.registers];
  }
  CHECK(registers.size() >= 12);
  CHECK(registers.begin()->first <= 32);
  CHECK(registers.rbegin()->first >= 160);
}
