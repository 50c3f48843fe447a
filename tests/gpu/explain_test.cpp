// `fathom explain` on a GPU: kernels with planted faults, held against their markers, and what it
// counts of these, of lessons and of bank conflicts, held against CUPTI's counters.

#include <cuda_runtime.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "explain/analysis.h"
#include "explain/trace.h"
#include "harness/counters/range_profiler.h"
#include "tests/gpu/explain_entries.h"
#include "tests/gpu/explain_planted.h"
#include "tests/testing.h"
#include "tools/output_folder.h"

using namespace fathom;
using namespace fathom::explain;
using fathom::test::Planted;

namespace {

using Counts = std::map<std::string, double>;  ///< by role

const std::vector<std::string> counted_roles{"global_load_sectors",    "global_store_sectors",
                                             "shared_load_wavefronts", "shared_store_wavefronts",
                                             "shared_load_conflicts",  "shared_store_conflicts"};

void need_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    SKIP("These tests need a GPU, and CUDA finds none on this machine.");
}

/// What `fathom explain` says of explain_app, every block recorded.
nlohmann::json explained() {
  need_gpu();
  const TemporaryFolder folder("The tests need a temporary folder.");
  const std::string answer = (folder.path() / "answer.json").string();
  const std::string command = std::string(FATHOM_EXPLAIN) + " explain --blocks 0 --format json" +
                              " --out " + answer + " -- " + FATHOM_EXPLAIN_APP + " 1 7 > " +
                              (folder.path() / "out").string();
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 23) SKIP("Compute Sanitizer is absent or does not fit: see above.");
  REQUIRE(WEXITSTATUS(status) == 7);
  return nlohmann::json::parse(std::ifstream(answer));
}

const nlohmann::json& kernel_named(const nlohmann::json& answer, const std::string& name) {
  for (const auto& kernel : answer.at("kernels"))
    if (kernel.at("name").get<std::string>().find("::" + name + "(") != std::string::npos)
      return kernel;
  FAIL("no kernel " << name);
  return answer;
}

/// A line's part in the counters, as CUPTI counts: cp.async's writes to shared memory in none.
void add(const nlohmann::json& line, Counts& counts) {
  const std::string operation = line.at("operation");
  const bool load = operation == "load" || operation == "ldmatrix" || operation == "cp.async read";
  const std::string kind = load ? "load" : "store";
  if (line.at("space") == "global") {
    counts["global_" + kind + "_sectors"] += line.at("sectors").get<double>();
  } else if (operation != "cp.async write") {
    const double wavefronts = line.at("wavefronts");
    counts["shared_" + kind + "_wavefronts"] += wavefronts;
    counts["shared_" + kind + "_conflicts"] +=
        wavefronts - line.at("least_wavefronts").get<double>();
  }
}

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
    Trace trace;
    read_trace(file.path(), trace);
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

TEST_CASE("explain names each planted fault at its line, and no other") {
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
  const nlohmann::json answer = explained();
  for (const auto& kernel : answer.at("kernels"))
    for (const auto& line : kernel.at("lines"))
      for (const auto& fault : line.at("faults")) found.emplace(line.at("line"), fault.at("rule"));
  CHECK(found == planted);
}

TEST_CASE("Sectors, wavefronts and conflicts that explain says are those that CUPTI counts") {
  const nlohmann::json answer = explained();
  if (const auto problem = CounterSession::problem_on(0); !problem.empty()) SKIP(problem);
  CounterSession session(0, counted_roles);
  test::PlantedBuffers buffers;
  REQUIRE(buffers.allocate());
  for (const Planted& kernel : test::planted_kernels()) {
    CAPTURE(kernel.name);
    Counts counts;
    for (const auto& line : kernel_named(answer, kernel.name).at("lines")) add(line, counts);
    const auto readings = session.collect({}, [&] { kernel.launch(buffers, nullptr); });
    for (const auto& [role, reading] : readings) {
      CAPTURE(role, reading.reason);
      REQUIRE(reading.value);
      CHECK(counts[role] == *reading.value);
    }
  }
}

TEST_CASE("What explain records of lessons and of bank conflicts is what CUPTI counts") {
  need_gpu();
  if (const auto problem = CounterSession::problem_on(0); !problem.empty()) SKIP(problem);
  std::map<int, Counts> of = recorded();
  CounterSession session(0, counted_roles);
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
