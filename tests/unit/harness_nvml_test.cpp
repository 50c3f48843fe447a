// What NVML answers, and what is said of GPUs, drivers and the build from it.

#include <nlohmann/json.hpp>
#include <regex>

#include "harness/cuda_check.h"
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
  return check_gpu(0, nvml.device_by_pci_bus_id(first_gpu));
}

TEST_CASE("Every reading comes with its unit", "[harness][nvml]") {
  const FakeNvml fake;
  const NvmlLibrary nvml;
  CHECK(*nvml.device_count() == 2);
  const auto gpu = *nvml.device_by_pci_bus_id(first_gpu);
  CHECK(*gpu.vbios() == "96.00.BC.00.01");
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
  CHECK(*nvml.device_by_pci_bus_id("0000:0B:00.0")->vbios() == "96.00.BC.00.02");
  CHECK(nvml.device_by_pci_bus_id("0000:FF:00.0").status == NvmlStatus::not_found);
  // A list longer than expected is read whole.
  const FakeNvml busy(Answers{{"processes", "100"}});
  const auto list = *gpu.compute_processes();
  REQUIRE(list.size() == 100);
  CHECK(list[99].pid == 4000100);
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
    CHECK_FALSE((nvml.available() || nvml.device_count()));
    CHECK_THAT(nvml.device_by_index(0).missing(), contains(problem));
  };
  check(FakeNvml({}, absent_nvml), "not installed");
  check(FakeNvml(Answers{{"init", "error:18"}}), "different versions");
  check(FakeNvml({}, "libm.so.6"), "no such function");
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
      "reasons=0x48 processes=2 memory_used=2147483648 pcie_width=4 "
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

TEST_CASE("CUDA errors have the exit code of their cause", "[harness][cuda_check]") {
  using enum ExitCode;
  for (const auto& [status, code] : {std::pair{cudaErrorMemoryAllocation, gpu_out_of_memory},
                                     {cudaErrorNoDevice, no_driver},
                                     {cudaErrorUnsupportedPtxVersion, driver_too_old},
                                     {cudaErrorDevicesUnavailable, gpu_busy},
                                     {cudaErrorInvalidDevice, bad_input},
                                     {cudaErrorDeviceNotLicensed, partitioned_gpu},
                                     {cudaErrorNoKernelImageForDevice, setup_incomplete},
                                     {cudaErrorECCUncorrectable, gpu_lost},
                                     {cudaErrorLaunchTimeout, probe_timed_out},
                                     {cudaErrorIllegalAddress, probe_crashed},
                                     {cudaErrorInvalidValue, probe_crashed}}) {
    CAPTURE(cudaGetErrorName(status));
    CHECK(explain_cuda_error(status).code == code);
    const Refusal failed =
        refusal_of([&] { check_cuda(status, "cudaSomething(x)", "file.cu", 42); });
    CHECK(failed.code == code);
    CHECK_THAT(failed.text,
               contains("cudaSomething(x) at file.cu:42") && contains(cudaGetErrorName(status)));
  }
  CHECK_NOTHROW(FATHOM_CUDA(cudaSuccess));
}

TEST_CASE("Why there is no GPU, and the software's checks", "[harness][cuda_device]") {
  std::string all;
  const auto add = [&](const char* what, const FakeNvml&, cudaError_t status, int driver) {
    const NvmlLibrary nvml;
    const CudaVersions versions{driver, 13000};
    all += std::string(what) + "\n";
    if (status != cudaSuccess) {
      const CudaFailure why = explain_no_gpu(status, versions, nvml);
      all += fmt::format("  {}: {}: {}.\n", to_int(why.code), why.cause, why.remedy);
    }
    const auto checks = to_json(check_software({status == cudaSuccess, status}, versions, nvml));
    for (const auto& check : checks.at("checks"))
      if (check.at("status") != "ok") all += "  " + check.dump() + "\n";
  };
  const Answers none, old{{"driver", "550.54.15"}};
  add("all is well", FakeNvml(), cudaSuccess, 13000);
  add("no NVML", FakeNvml(none, absent_nvml), cudaSuccess, 13000);
  add("no driver", FakeNvml(none, absent_nvml), cudaErrorInsufficientDriver, 0);
  add("an old driver", FakeNvml(old), cudaErrorInsufficientDriver, 12040);
  add("lost", FakeNvml(Answers{{"handle", "error:15"}}), cudaErrorNoDevice, 13000);
  add("MIG", FakeNvml(Answers{{"mig", "1"}}), cudaErrorNoDevice, 13000);
  add("none", FakeNvml(Answers{{"count", "0"}}), cudaErrorNoDevice, 13000);
  // Any other failure keeps its own code.
  add("no fabric manager", FakeNvml(), cudaErrorSystemNotReady, 13000);
  all = std::regex_replace(all, std::regex("toolkit [0-9]+[.0-9]*"), "this toolkit");
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/no_gpu.txt", all);
}

TEST_CASE("A UUID is text for CUDA_VISIBLE_DEVICES, and has a hash", "[harness][cuda_device]") {
  std::array<unsigned char, 16> uuid{};
  CHECK(uuid_hash(uuid) == "88201fb960ff6465");  // by another implementation
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<unsigned char>(i + 1);
  CHECK(uuid_hash(uuid) == "e7ecfb4f6e006495");
  CHECK(uuid_text(uuid) == "GPU-01020304-0506-0708-090a-0b0c0d0e0f10");
}

TEST_CASE("A GPU's health is what NVML tells, and unknown is not zero", "[harness][fleet]") {
  const auto health = [](const Answers& answers) {
    const FakeNvml fake(answers);
    return health_json(NvmlLibrary().device_by_index(0)).dump();
  };
  CHECK(health({{"processes", "2"}}) ==
        R"({"pcie_generation":5,"pcie_width":16,"uncorrected_ecc_errors":0,"remapped_rows":0,)"
        R"("remapping_failed":false,"remapping_pending":false,"processes":2})");
  for (const char* refused : {"ALL", "handle"})
    CHECK(health({{refused, "error:4"}}) ==
          R"({"pcie_generation":null,"pcie_width":null,"uncorrected_ecc_errors":null,)"
          R"("remapped_rows":null,"remapping_failed":false,"remapping_pending":false,)"
          R"("processes":null})");
}

}  // namespace
