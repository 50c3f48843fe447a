#include <catch2/catch_test_macros.hpp>

#include <string>

#include "probes/copy_bandwidth/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::copy_bandwidth;

namespace {

using Histogram = std::map<std::string, int>;

/// The part of a copy kernel's name that tells it from the others.
std::string copy_name(const std::string& element, int count, int unroll = 1,
                      LoadHint load = LoadHint::none, StoreHint store = StoreHint::none) {
  return "Pack<" + element + ", " + std::to_string(count) + ">, " + std::to_string(unroll) +
         ", (fathom::copy_bandwidth::LoadHint)" + std::to_string(static_cast<int>(load)) +
         ", (fathom::copy_bandwidth::StoreHint)" + std::to_string(static_cast<int>(store)) + ">(";
}

}  // namespace

// Each copy has its packs' accesses twice, for whole tiles and for the last one, and one element's
// for what is no whole pack.
TEST_CASE("copies have the accesses of their width", "[sass][copy_bandwidth]") {
  const auto functions = disassemble_library("probe_copy_bandwidth_kernels");
  const auto check = [&](const char* element, int count, const Histogram& loads,
                         const Histogram& stores) {
    CAPTURE(element, count);
    const SassFunction& function = find(functions, copy_name(element, count));
    CHECK(function.histogram("LDG") == loads);
    CHECK(function.histogram("STG") == stores);
  };
  check("signed char", 1, {{"LDG.E.U8", 3}}, {{"STG.E.U8", 3}});
  check("__half", 1, {{"LDG.E.U16", 3}}, {{"STG.E.U16", 3}});
  check("__nv_bfloat16", 1, {{"LDG.E.U16", 3}}, {{"STG.E.U16", 3}});
  check("float", 1, {{"LDG.E", 3}}, {{"STG.E", 3}});
  check("float", 2, {{"LDG.E", 1}, {"LDG.E.64", 2}}, {{"STG.E", 1}, {"STG.E.64", 2}});
  check("float", 4, {{"LDG.E", 1}, {"LDG.E.128", 2}}, {{"STG.E", 1}, {"STG.E.128", 2}});
  check("__half", 8, {{"LDG.E.U16", 1}, {"LDG.E.128", 2}}, {{"STG.E.U16", 1}, {"STG.E.128", 2}});
  check("signed char", 16, {{"LDG.E.U8", 1}, {"LDG.E.128", 2}},
        {{"STG.E.U8", 1}, {"STG.E.128", 2}});
  // 32 bytes are two instructions of 16 (V6).
  check("float", 8, {{"LDG.E", 1}, {"LDG.E.128", 4}}, {{"STG.E", 1}, {"STG.E.128", 4}});
  check("double", 4, {{"LDG.E.64", 1}, {"LDG.E.128", 4}}, {{"STG.E.64", 1}, {"STG.E.128", 4}});
}

TEST_CASE("unrolled copies have all their loads, none merged", "[sass][copy_bandwidth]") {
  const auto functions = disassemble_library("probe_copy_bandwidth_kernels");
  for (const int unroll : {4, 16, 32}) {
    CAPTURE(unroll);
    const SassFunction& function = find(functions, copy_name("__half", 1, unroll));
    CHECK(function.histogram("LDG") == Histogram{{"LDG.E.U16", unroll + 2}});
    CHECK(function.histogram("STG") == Histogram{{"STG.E.U16", unroll + 2}});
  }
}

TEST_CASE("hinted copies are of 16 bytes", "[sass][copy_bandwidth]") {
  const auto functions = disassemble_library("probe_copy_bandwidth_kernels");
  for (const LoadHint hint : {LoadHint::non_coherent, LoadHint::no_allocate, LoadHint::streaming,
                              LoadHint::not_cached, LoadHint::evict_first, LoadHint::evict_last}) {
    CAPTURE(static_cast<int>(hint));
    const SassFunction& function = find(functions, copy_name("float", 4, 1, hint));
    int wide = 0, narrow = 0;
    for (const auto& [opcode, number] : function.histogram("LDG")) {
      (opcode.find(".128") == std::string::npos ? narrow : wide) += number;
    }
    CHECK(wide == 2);
    CHECK(narrow == 1);  // the tail's element
  }
}

TEST_CASE("asynchronous copies use the asynchronous instructions", "[sass][copy_bandwidth]") {
  const auto functions = disassemble_library("probe_copy_bandwidth_kernels");
  const SassFunction& async = find(functions, "async_copy");
  CHECK(async.count("LDGSTS") == 1);
  CHECK(async.count("LDG") == 0);
  CHECK(async.count("STG.E.128") == 1);
  const SassFunction& bulk = find(functions, "bulk_copy");
  CHECK(bulk.count("UBLKCP") == 3);  // in, with and without a policy, and out
  CHECK(bulk.count("LDG") == 0);
  CHECK(bulk.count("STG") == 0);
}
