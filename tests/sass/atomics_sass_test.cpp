#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "probes/atomics/kernels.h"
#include "probes/atomics/patterns.h"
#include "tests/sass/sass_file.h"

using namespace fathom::atomics;

namespace {

/// What the hardware has no instruction for in shared memory: the compiler makes a loop of it.
bool is_loop(const Instruction& i) {
  return i.level == Level::shared && i.operation == Operation::add && i.type != Type::u32;
}

}  // namespace

// The compiler turns atomics on one address into one of their sum, and those without a use of the
// result into reductions; each must stand there as itself, once for each turn that is unrolled.
TEST_CASE("every atomic stands in its loop as itself", "[sass][atomics]") {
  const auto functions = disassemble_library("probe_atomics_kernels");
  for (std::size_t place = 0; place < all_instructions.size(); ++place) {
    const Instruction& i = all_instructions[place];
    CAPTURE(i.ptx());
    const std::string atomic = "Atomic<" + std::to_string(place) + "ul>";
    const auto function = std::ranges::find_if(
        functions, [&](const SassFunction& f) { return f.name.find(atomic) != std::string::npos; });
    REQUIRE(function != functions.end());
    if (function->capability() < i.since) continue;
    const int atom = function->count("ATOMG"), shared = function->count("ATOMS");
    const int red = function->count("REDG") + function->count("RED");
    const int generic = function->count("ATOM");
    CAPTURE(atom, shared, red, generic);
    CHECK(atom == (i.level == Level::l2 && i.returns ? unroll : 0));
    CHECK(red == (i.level == Level::l2 && !i.returns ? unroll : 0));
    CHECK(shared == (i.level == Level::shared ? unroll : 0));
    CHECK(generic == (i.level == Level::cluster ? unroll : 0));
    // A loop of compare and swap reads first: what the probe's text says of these types.
    CHECK(function->count("ATOMS.CAST") == (is_loop(i) ? unroll : 0));
    for (const char* aggregate :
         {"REDUX", "VOTE", "VOTEU", "MATCH", "POPC", "UPOPC", "FLO", "UFLO"}) {
      CAPTURE(aggregate);
      CHECK(function->count(aggregate) == 0);
    }
  }
}
