// What `fathom explain` records of lessons and of bank conflicts, held against CUPTI's counters.

#include <cuda_runtime.h>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "explain/measured.h"
#include "explain/rules.h"
#include "explain/trace.h"
#include "harness/counters/range_profiler.h"
#include "tests/gpu/explain_entries.h"
#include "tools/temporary_folder.h"

using namespace fathom;
using namespace fathom::explain;

namespace {

using Counts = std::map<std::string, double>;  ///< by role

/// What is recorded of each entry of the program, by its number.
std::map<int, Counts> recorded() {
  const TemporaryFolder folder("The tests need a temporary folder.");
  const std::string command =
      "CUDA_INJECTION64_PATH=" FATHOM_EXPLAIN_INJECTION " FATHOM_EXPLAIN_FOLDER=" +
      folder.path().string() +
      " FATHOM_EXPLAIN_SANITIZER=" FATHOM_SANITIZER_LIBRARY
      " FATHOM_EXPLAIN_LAUNCHES=1000000 FATHOM_EXPLAIN_BLOCKS=0 " FATHOM_EXPLAIN_ENTRIES_APP;
  REQUIRE(std::system(command.c_str()) == 0);
  std::map<int, Counts> by_entry;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const Trace trace = read_trace(file.path());
    for (const std::string& note : trace.notes) FAIL(note);
    int entry = -1;
    for (const Launch& launch : trace.launches) {
      if (launch.function.find("explain_marker") != std::string::npos) {
        const int marked = static_cast<int>(launch.grid[0]) - 1;
        entry = entry == marked ? -1 : marked;
      } else if (entry != -1) {
        REQUIRE(launch.kept == launch.counted);
        for (const Pattern& pattern : launch.kept_patterns) {
          const PatternCost cost = cost_of(pattern);
          add_counts(by_entry[entry], pattern.space, pattern.op, pattern.count * cost.cost,
                     pattern.count * cost.least);
        }
      }
    }
  }
  return by_entry;
}

}  // namespace

TEST_CASE("What explain records of lessons and of bank conflicts is what CUPTI counts") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    SKIP("These tests need a GPU, and CUDA finds none on this machine.");
  if (const auto counters = CounterSession::probe(0); !counters.ok()) SKIP(counters.sentence);
  std::map<int, Counts> of = recorded();
  const std::vector<std::string> roles{"global_load_sectors",    "global_store_sectors",
                                       "shared_load_wavefronts", "shared_store_wavefronts",
                                       "shared_load_conflicts",  "shared_store_conflicts"};
  CounterSession session(0, roles);
  int number = 0, disturbed = 0;
  test::for_each_entry([&](const std::string& name, const std::function<void()>& launch) {
    CAPTURE(name);
    Counts& counts = of[number++];
    std::map<std::string, std::set<double>> counted;
    for (int time = 0; time < 3; ++time) {
      for (const auto& [role, reading] : session.collect({}, launch)) {
        CAPTURE(role, reading.reason);
        REQUIRE(reading.value);
        counted[role].insert(*reading.value);
      }
    }
    bool same = true;
    for (const auto& [role, values] : counted) {
      CAPTURE(role, values);
      const double recorded = counts[role];
      const bool equal = values == std::set{recorded};
      same = same && equal;
      // Warps that meet other traffic on the way to shared memory are counted as conflicts too,
      // mostly another number each time: such a counter has the accesses' own part below it.
      CHECK((equal || (role.starts_with("shared_") && recorded <= *values.begin())));
    }
    if (!same) ++disturbed;
  });
  CHECK(number > 200);
  CAPTURE(number);
  CHECK(disturbed < number / 5);
}
