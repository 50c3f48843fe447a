#include <catch2/catch_test_macros.hpp>

#include "probes/bank_conflicts/kernels.h"
#include "tests/sass/sass_file.h"

using namespace fathom::bank_conflicts;

// The compiler merges repeated loads of one address, even volatile ones: what the probe times must
// be there as many times as it says, with its width, and nothing else in shared memory beside it.
TEST_CASE("shared accesses have their width and count", "[sass][bank_conflicts]") {
  const auto functions = disassemble_library("probe_bank_conflicts_kernels");
  const int own_words = region_words / threads_per_block;
  for (const auto& [width, suffix] : {std::pair{"4", ""}, {"8", ".64"}, {"16", ".128"}}) {
    const std::string template_name = std::string("<") + width + ">";
    CAPTURE(width);
    const SassFunction& loads = find(functions, "shared_loads" + template_name);
    const SassFunction& stores = find(functions, "shared_stores" + template_name);
    std::map<std::string, int> expected_stores{{"STS", own_words}};
    expected_stores[std::string("STS") + suffix] += accesses_per_iteration;
    CHECK(loads.histogram("LDS") ==
          std::map<std::string, int>{{std::string("LDS") + suffix, accesses_per_iteration}});
    CHECK(loads.histogram("STS") == std::map<std::string, int>{{"STS", own_words}});
    CHECK(stores.histogram("STS") == expected_stores);
    CHECK(stores.histogram("LDS") == std::map<std::string, int>{{"LDS", own_words}});
  }
}
