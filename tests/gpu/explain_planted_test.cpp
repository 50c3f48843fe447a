// `fathom explain` on a GPU: kernels with planted faults, held against their markers and CUPTI.

#include <cuda_runtime.h>
#include <sys/wait.h>

#include <array>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/counters/range_profiler.h"
#include "tests/gpu/explain_planted.h"
#include "tools/temporary_folder.h"

using namespace fathom;
using fathom::test::Planted;

namespace {

const std::vector<std::string> counted_roles{"global_load_sectors",    "global_store_sectors",
                                             "shared_load_wavefronts", "shared_store_wavefronts",
                                             "shared_load_conflicts",  "shared_store_conflicts"};

/// What `fathom explain` says of explain_app, every block recorded.
nlohmann::json explained() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    SKIP("These tests need a GPU, and CUDA finds none on this machine.");
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
void add(const nlohmann::json& line, std::map<std::string, double>& counts) {
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

struct Buffers : test::PlantedBuffers {
  Buffers() {
    int* order_there = nullptr;
    REQUIRE(cudaMalloc(&in, test::planted_bytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&out, test::planted_bytes) == cudaSuccess);
    const std::vector<int> shuffled = test::planted_order();
    REQUIRE(cudaMalloc(&order_there, sizeof(int) * shuffled.size()) == cudaSuccess);
    cudaMemset(in, 0, test::planted_bytes);
    cudaMemcpy(order_there, shuffled.data(), sizeof(int) * shuffled.size(), cudaMemcpyDefault);
    order = order_there;
  }
  ~Buffers() {
    for (const void* memory : std::array<const void*, 3>{in, out, order})
      cudaFree(const_cast<void*>(memory));
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
};

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
  if (const auto counters = CounterSession::probe(0); !counters.ok()) SKIP(counters.sentence);
  CounterSession session(0, counted_roles);
  const Buffers buffers;
  for (const Planted& kernel : test::planted_kernels()) {
    CAPTURE(kernel.name);
    std::map<std::string, double> counts;
    for (const auto& line : kernel_named(answer, kernel.name).at("lines")) add(line, counts);
    const auto readings = session.collect({}, [&] { kernel.launch(buffers, nullptr); });
    for (const auto& [role, reading] : readings) {
      CAPTURE(role, reading.reason);
      REQUIRE(reading.value);
      CHECK(counts[role] == *reading.value);
    }
  }
}
