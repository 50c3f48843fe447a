// `fathom explain` on a GPU: kernels with planted faults, held against their markers, and what it
// counts of these, of lessons and of bank conflicts, held against CUPTI's counters.

#include <cuda_runtime.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "explain/explain.h"
#include "harness/counters/range_profiler.h"
#include "tests/gpu/explain_kernels.h"
#include "tests/testing.h"
#include "tools/programs.h"

using namespace fathom;
using namespace fathom::explain;

namespace {

const std::vector<std::string> counted_roles{"global_load_sectors",    "global_store_sectors",
                                             "shared_load_wavefronts", "shared_store_wavefronts",
                                             "shared_load_conflicts",  "shared_store_conflicts"};

void need_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    SKIP("These tests need a GPU, and CUDA finds none on this machine.");
}

/// What is recorded of each entry of the program, by its number.
std::map<int, Counts> recorded() {
  const TemporaryFolder folder("The tests need a temporary folder.");
  const std::string command =
      "CUDA_INJECTION64_PATH=" FATHOM_EXPLAIN_INJECTION " FATHOM_EXPLAIN_FOLDER=" +
      folder.path().string() +
      " FATHOM_EXPLAIN_SANITIZER=" FATHOM_SANITIZER_LIBRARY
      " FATHOM_EXPLAIN_LAUNCHES=1000000 FATHOM_EXPLAIN_BLOCKS=0 " FATHOM_EXPLAIN_APP " marked";
  REQUIRE(std::system(command.c_str()) == 0);
  std::map<int, Counts> by_entry;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    Trace trace;
    read_trace(file.path(), trace);
    for (const std::string& note : trace.notes) FAIL(note);
    int entry = -1;
    for (const Launch& launch : trace.launches) {
      if (launch.function.find("explain_marker") != std::string::npos) {
        const int marked = static_cast<int>(launch.blocks) - 1;
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

TEST_CASE("explain names each planted fault at its line, and no other") {
  need_gpu();
  std::set<std::pair<int, std::string>> planted, found;
  std::ifstream source(FATHOM_EXPLAIN_PLANTED);
  const std::string marker = "// fault: ";
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (const auto at = line.find(marker); at != std::string::npos)
      planted.emplace(number, line.substr(at + marker.size()));
  }
  CHECK(planted.size() > 20);

  const TemporaryFolder folder("The tests need a temporary folder.");
  const std::string file = (folder.path() / "answer.json").string();
  const int status = std::system((FATHOM_EXPLAIN " explain --blocks 0 --format json --out " + file +
                                  " -- " FATHOM_EXPLAIN_APP " 1 7 > /dev/null")
                                     .c_str());
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 23) SKIP("Compute Sanitizer is absent or does not fit: see above.");
  REQUIRE(WEXITSTATUS(status) == 7);
  const auto answer = nlohmann::json::parse(std::ifstream(file));
  for (const auto& kernel : answer.at("kernels"))
    for (const auto& line : kernel.at("lines"))
      for (const auto& fault : line.at("faults")) found.emplace(line.at("line"), fault.at("rule"));
  CHECK(found == planted);
}

TEST_CASE("Sectors, wavefronts and conflicts that explain records are those that CUPTI counts") {
  need_gpu();
  if (const auto problem = CounterSession::problem_on(0); !problem.empty()) SKIP(problem);
  std::map<int, Counts> of = recorded();
  CounterSession session(0, counted_roles);
  int number = 0, disturbed = 0;
  bool planted = true;
  const test::Entry check = [&](const std::string& name, const std::function<void()>& launch) {
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
      const bool may_be_more = !planted && role.starts_with("shared_");
      CHECK((equal || (may_be_more && recorded <= *values.begin())));
    }
    if (!same) ++disturbed;
  };
  test::for_each_planted(check);
  planted = false;
  test::for_each_found(check);
  CHECK(number > 200);
  CAPTURE(number);
  CHECK(disturbed < number / 5);
}
