#include <catch2/catch_test_macros.hpp>
#include <string>

#include "probes/atomics/kernels.h"
#include "probes/atomics/patterns.h"
#include "tests/sass/sass_file.h"

using namespace fathom::atomics;

namespace {

const char* word_of(Operation operation, Type type) {
  const bool halves = type == Type::f16x2 || type == Type::bf16x2;
  switch (operation) {
    case Operation::add:
      return halves ? "AddHalves" : type == Type::f32x4 ? "AddVector" : "Add";
    case Operation::min:
      return "Min";
    case Operation::max:
      return "Max";
    case Operation::bit_and:
      return "And";
    case Operation::exchange:
      return "Exch";
    case Operation::compare_swap:
      return "Cas";
  }
  return "";
}

std::string word_of(const Instruction& i) {
  const bool bits = i.operation == Operation::bit_and || i.operation == Operation::exchange ||
                    i.operation == Operation::compare_swap;
  if (i.type == Type::u32) return bits ? "B32" : "U32";
  if (i.type == Type::u64) return bits ? "B64" : "U64";
  constexpr const char* words[] = {"", "S32", "", "B128", "F32", "F64", "F16x2", "Bf16x2", "F32x4"};
  return words[static_cast<int>(i.type)];
}

/// The kernel of the instruction, by the types that its template takes.
const SassFunction* find_kernel_of(const std::vector<SassFunction>& functions,
                                   const Instruction& i) {
  const std::string scope = i.scope;
  const std::string scope_word = scope == "cta"   ? "Cta"
                                 : scope == "gpu" ? "Gpu"
                                 : scope == "sys" ? "Sys"
                                                  : "ClusterScope";
  const char* spaces[] = {"Global", "Shared", "ClusterShared"};
  const SassFunction* found = nullptr;
  for (const SassFunction& function : functions) {
    const auto has = [&](const std::string& word) {
      return function.name.find("::" + word + ",") != std::string::npos;
    };
    const bool form = function.name.find(i.returns ? "::Atom," : "::Red,") != std::string::npos;
    if (!form || !has(scope_word) || !has(spaces[static_cast<int>(i.level)]) ||
        !has(word_of(i.operation, i.type)) || !has(word_of(i))) {
      continue;
    }
    REQUIRE(found == nullptr);
    found = &function;
  }
  return found;
}

/// What the hardware has no instruction for in shared memory: the compiler makes a loop of it.
bool is_loop(const Instruction& i) {
  return i.level == Level::shared && i.operation == Operation::add && i.type != Type::u32;
}

}  // namespace

// The compiler turns atomics on one address into one of their sum, and those without a use of the
// result into reductions; each must stand there as itself, once for each turn that is unrolled.
TEST_CASE("every atomic stands in its loop as itself", "[sass][atomics]") {
  const auto functions = disassemble_library("probe_atomics_kernels");
  for (const Instruction& i : all_instructions()) {
    CAPTURE(i.ptx());
    const SassFunction* function = find_kernel_of(functions, i);
    REQUIRE(function != nullptr);
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
