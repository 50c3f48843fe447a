#include "harness/device_facts.h"
#include "harness/doctor.h"
#include "harness/nvml_library.h"
#include "results/document_fields.h"
#include "results/fields.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/fake_nvml.h"

using namespace fathom;
using Answers = FakeNvml::Answers;

namespace {

constexpr const char* first_gpu = "0000:0A:00.0";

CudaDevice h200() {
  CudaDevice device;
  device.name = "NVIDIA H200";
  device.pci_bus_id = first_gpu;
  device.major = 9;
  device.sms = 132;
  device.memory_bytes = 150109880320;
  device.l2_bytes = 62914560;
  device.memory_bus_bits = 6016;
  device.sm_clock_max_hz = 1980e6;
  device.memory_clock_max_hz = 3201e6;
  return device;
}

DeviceFacts facts(const CudaDevice& device = h200()) {
  return assemble_device_facts(device, NvmlLibrary());
}

std::vector<Check> gpu_checks() {
  const NvmlLibrary nvml;
  return check_gpu(0, nvml, nvml.device_by_pci_bus_id(first_gpu));
}

TEST_CASE("Every reading comes with its unit", "[harness][nvml]") {
  const FakeNvml fake;
  const NvmlLibrary nvml;
  CHECK(*nvml.device_count() == 2);
  const auto gpu = *nvml.device_by_pci_bus_id(first_gpu);
  CHECK(*gpu.name() == "Fake H200");
  CHECK(*gpu.clock_hz(NvmlClock::sm) == 345e6);
  CHECK(*gpu.clock_hz(NvmlClock::memory) == 3201e6);
  CHECK(*gpu.power_w() == Approx(75.5));
  CHECK(*gpu.power_limit_w() == Approx(700));
  CHECK(*gpu.energy_j() == Approx(123456.789));
  CHECK(*gpu.temperature_c() == 31);
  CHECK(gpu.memory()->total == 143771ull << 20);
  CHECK(gpu.memory()->free == 143171ull << 20);
  CHECK(gpu.pcie_link()->generation == 1);
  CHECK(gpu.pcie_link()->generation_max == 5);
  CHECK(gpu.compute_processes()->empty());
  // GPUs are found by PCI address, not by number.
  CHECK(*nvml.device_by_pci_bus_id("0000:0B:00.0")->name() == "Second fake H200");
  CHECK(nvml.device_by_pci_bus_id("0000:FF:00.0").status == NvmlStatus::not_found);
  // A list longer than expected is read whole.
  const FakeNvml busy(Answers{{"processes", "100"}});
  const auto list = *gpu.compute_processes();
  REQUIRE(list.size() == 100);
  CHECK(list[99].pid == 4000100);
  CHECK(list[0].used_bytes == 3ull << 30);
  CHECK(list[1].used_bytes == NvmlProcess::unknown);
}

TEST_CASE("NVLinks count where they are up", "[harness][nvml]") {
  const auto links = [](const Answers& answers) {
    const FakeNvml fake(answers);
    return NvmlLibrary().device_by_pci_bus_id(first_gpu)->nvlinks();
  };
  CHECK(links({})->active == 18);
  CHECK(links({})->bytes_per_second == Approx(26.562e9));
  const auto down = links({{"nvlink_up", "0"}});
  REQUIRE(down);
  CHECK((down->active == 0 && down->bytes_per_second == 0));
  CHECK_FALSE(links({{"nvlink_count", "error:3"}}));
}

TEST_CASE("A refusal is a reason, not a zero", "[harness][nvml]") {
  const FakeNvml fake(Answers{{"sm_clock", "error:3"},
                              {"ecc", "error:4"},
                              {"pcie_width", "error:999"},
                              {"power_instant", "error:3"}});
  const auto gpu = *NvmlLibrary().device_by_index(0);
  CHECK_FALSE(gpu.clock_hz(NvmlClock::sm));
  CHECK_THAT(gpu.clock_hz(NvmlClock::sm).missing(), contains("not supported"));
  CHECK_THAT(gpu.ecc().missing(), contains("not permitted"));
  CHECK_THAT(gpu.pcie_link().missing(), contains("999"));
  CHECK(gpu.clock_hz(NvmlClock::memory));
  CHECK(*gpu.power_w() == Approx(74));  // the average, where there is no instant value
}

TEST_CASE("NVML that is missing or does not start says why", "[harness][nvml]") {
  const auto check = [](const FakeNvml&, const char* problem) {
    const NvmlLibrary nvml;
    CHECK_FALSE((nvml.available() || nvml.device_count() || nvml.device_by_index(0)));
    CHECK_THAT(nvml.problem(), contains(problem));
  };
  check(FakeNvml({}, absent_nvml), absent_nvml);
  check(FakeNvml(Answers{{"init", "error:18"}}), "different versions");
  const FakeNvml no_nvml({}, "libm.so.6");
  CHECK(NvmlLibrary().status() == NvmlStatus::function_not_found);
}

TEST_CASE("Throttle reasons have names, sorted, without idleness", "[harness][nvml]") {
  CHECK(throttle_reason_names(0x1).empty());
  CHECK(throttle_reason_names(0x8 | 0x40 | 0x2) ==
        std::vector<std::string>{"applications_clocks_setting", "hw_slowdown",
                                 "hw_thermal_slowdown"});
  CHECK(throttle_reason_names(0x10000) == std::vector<std::string>{"unknown_0x10000"});
}

// Beside the idle GPU's, what differs. The versions of CUDA are not the fake's.
TEST_CASE("What facts, warnings and checks say of a GPU, by what NVML answers",
          "[harness][facts]") {
  std::string all;
  std::map<std::string, std::string> idle;
  const auto say = [&](const std::string& name, const std::string& value) {
    const auto [known, first] = idle.try_emplace(name, value);
    if (first || known->second != value) all += "  " + name + ": " + value + "\n";
  };
  const auto add = [&](const Answers& answers, const CudaDevice& device = h200()) {
    const FakeNvml fake(answers);
    for (const auto& [answer, value] : answers) all += answer + "=" + value + "\n";
    const Refusal refused = refusal_of([&] {
      const DeviceFacts found = facts(device);
      const auto print = write_fields(found.fingerprint);
      for (const auto& [name, value] : print.items())
        if (name != "cuda_driver" && name != "cuda_runtime" && name != "toolkit")
          say(name, value.dump());
      std::string bounds;
      for (const DeviceBound& bound : found.bounds)
        bounds += fmt::format(" {} {:.7g} {}", bound.name, bound.value, bound.unit);
      say("bounds", bounds);
      for (const std::string& warning : found.warnings) all += "  warning: " + warning + "\n";
    });
    if (!refused.text.empty()) all += fmt::format("  {}: {}\n", to_int(refused.code), refused.text);
    const auto checks = to_json(gpu_checks());
    for (const auto& check : checks.at("checks"))
      if (check.at("status") != "ok") all += "  " + check.dump() + "\n";
  };
  add({});
  std::istringstream answers(
      "ecc_pending=0 ecc_errors=3 remap_pending=1 remap_failed=1 mig=1 virtualization=2 "
      "confidential_computing=1 compute_mode=2 application_clock=1200 power_limit=500000 "
      "reasons=0x48 temperature=85 processes=2 memory_used=2147483648 pcie_width=4 "
      "handle=error:15 ALL=error:3 ALL=error:4 init=error:9");
  for (std::string answer, value; std::getline(answers, answer, '=') && answers >> value;
       answers >> std::ws)
    add({{answer, value}});
  // A clock that CUDA no longer tells comes from NVML.
  CudaDevice without_clocks = h200();
  without_clocks.sm_clock_max_hz = without_clocks.memory_clock_max_hz = 0;
  add({{"name", "no clock by CUDA"}}, without_clocks);
  add({{"memory_clock_max", "error:3"}}, without_clocks);
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/gpu_state.txt", all);
}

TEST_CASE("Siblings on a GPU are no disturbance, facts have the build's CUDA and bounds by name",
          "[harness][facts]") {
  const FakeNvml fake(Answers{{"processes", "2"}});
  CHECK(assemble_device_facts(h200(), NvmlLibrary(), true).warnings.empty());
  CHECK(facts().fingerprint.cuda_runtime == version_text(CUDART_VERSION));
  CHECK_THROWS_AS(bound(facts(), "warp_drive"), std::out_of_range);
}

}  // namespace
