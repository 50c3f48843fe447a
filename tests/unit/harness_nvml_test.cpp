#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/device_facts.h"
#include "harness/doctor.h"
#include "harness/nvml_library.h"
#include "harness/telemetry.h"
#include "results/error.h"

namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using fathom::Check;
using fathom::CheckStatus;
using fathom::NvmlClock;
using fathom::NvmlLibrary;
using fathom::NvmlStatus;
using namespace std::chrono_literals;

constexpr const char* first_gpu = "0000:0A:00.0";
constexpr const char* second_gpu = "0000:0B:00.0";

using Answers = std::map<std::string, std::string>;

/// Sets what the fake NVML answers, and takes it back.
class FakeNvml {
 public:
  explicit FakeNvml(const Answers& answers = {}) {
    set("FATHOM_NVML_LIBRARY", FATHOM_FAKE_NVML);
    for (const auto& [name, value] : answers) set("FAKE_NVML_" + name, value);
  }
  ~FakeNvml() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

 private:
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  std::vector<std::string> names_;
};

fathom::CudaDevice h200() {
  fathom::CudaDevice device;
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

fathom::DeviceFacts facts(const fathom::CudaDevice& device = h200()) {
  return fathom::assemble_device_facts(device, {13000, 13000}, NvmlLibrary());
}

std::vector<Check> gpu_checks(bool own_context = false) {
  const NvmlLibrary nvml;
  return fathom::check_gpu(0, nvml, nvml.device_by_pci_bus_id(first_gpu), own_context);
}

Check check_of(const std::vector<Check>& checks, const std::string& id) {
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.id == id; });
  REQUIRE(found != checks.end());
  return *found;
}

TEST_CASE("Every reading comes with its unit", "[harness][nvml]") {
  const FakeNvml fake;
  const NvmlLibrary nvml;
  REQUIRE(nvml.available());
  CHECK(*nvml.device_count() == 2);
  const auto gpu = *nvml.device_by_pci_bus_id(first_gpu);
  CHECK(*gpu.name() == "Fake H200");
  CHECK(*gpu.clock_hz(NvmlClock::sm) == 345e6);
  CHECK(*gpu.clock_hz(NvmlClock::memory) == 3201e6);
  CHECK(*gpu.power_w() == Approx(75.5));
  CHECK(*gpu.power_average_w() == Approx(74));
  CHECK(*gpu.power_limit_w() == Approx(700));
  CHECK(*gpu.energy_j() == Approx(123456.789));
  CHECK(*gpu.temperature_c() == 31);
  CHECK(gpu.memory()->total == 143771ull << 20);
  CHECK(gpu.memory()->free == 143171ull << 20);
  CHECK(gpu.pcie_link()->generation == 1);
  CHECK(gpu.pcie_link()->generation_max == 5);
  CHECK(gpu.compute_processes()->empty());
}

TEST_CASE("NVLinks count where they are up", "[harness][nvml]") {
  {
    const FakeNvml fake;
    const auto links = NvmlLibrary().device_by_pci_bus_id(first_gpu)->nvlinks();
    REQUIRE(links);
    CHECK(links->active == 18);
    CHECK(links->bytes_per_second == Approx(26.562e9));
  }
  {
    const FakeNvml fake(Answers{{"nvlink_up", "0"}});
    const auto links = NvmlLibrary().device_by_pci_bus_id(first_gpu)->nvlinks();
    REQUIRE(links);
    CHECK(links->active == 0);
    CHECK(links->bytes_per_second == 0);
  }
  const FakeNvml fake(Answers{{"nvlink_count", "error:3"}});
  CHECK_FALSE(NvmlLibrary().device_by_pci_bus_id(first_gpu)->nvlinks());
}

TEST_CASE("GPUs are found by PCI address, not by number", "[harness][nvml]") {
  const FakeNvml fake;
  const NvmlLibrary nvml;
  CHECK(*nvml.device_by_pci_bus_id(second_gpu)->name() == "Second fake H200");
  CHECK(nvml.device_by_pci_bus_id("0000:FF:00.0").status == NvmlStatus::not_found);
}

TEST_CASE("A refusal is a reason, not a zero", "[harness][nvml]") {
  const FakeNvml fake(
      Answers{{"sm_clock", "error:3"}, {"ecc", "error:4"}, {"pcie_width", "error:999"}});
  const auto gpu = *NvmlLibrary().device_by_index(0);
  CHECK_FALSE(gpu.clock_hz(NvmlClock::sm));
  CHECK_THAT(gpu.clock_hz(NvmlClock::sm).missing(), ContainsSubstring("not supported"));
  CHECK_THAT(gpu.ecc().missing(), ContainsSubstring("not permitted"));
  CHECK_THAT(gpu.pcie_link().missing(), ContainsSubstring("999"));
  CHECK(gpu.clock_hz(NvmlClock::memory));
}

TEST_CASE("Power falls back to the average where there is no instant value", "[harness][nvml]") {
  const FakeNvml fake(Answers{{"power_instant", "error:3"}});
  CHECK(*NvmlLibrary().device_by_index(0)->power_w() == Approx(74));
}

TEST_CASE("A list of processes longer than expected is read whole", "[harness][nvml]") {
  const FakeNvml fake(Answers{{"processes", "100"}});
  const auto list = *NvmlLibrary().device_by_index(0)->compute_processes();
  REQUIRE(list.size() == 100);
  CHECK(list[99].pid == 4000100);
  CHECK(list[0].used_bytes == 3ull << 30);
  CHECK_FALSE(list[1].used_bytes);
}

TEST_CASE("NVML that is missing or does not start says why", "[harness][nvml]") {
  SECTION("no such library") {
    setenv("FATHOM_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
    const NvmlLibrary nvml;
    unsetenv("FATHOM_NVML_LIBRARY");
    CHECK_FALSE(nvml.available());
    CHECK_THAT(nvml.problem(), ContainsSubstring("/nonexistent/libnvidia-ml.so.1"));
    CHECK_FALSE(nvml.device_count());
    CHECK_FALSE(nvml.device_by_index(0));
  }
  SECTION("a library of another version than the driver") {
    const FakeNvml fake(Answers{{"init", "error:18"}});
    const NvmlLibrary nvml;
    CHECK_FALSE(nvml.available());
    CHECK_THAT(nvml.problem(), ContainsSubstring("different versions"));
  }
  SECTION("a library that is no NVML") {
    setenv("FATHOM_NVML_LIBRARY", "libm.so.6", 1);
    const NvmlLibrary nvml;
    unsetenv("FATHOM_NVML_LIBRARY");
    CHECK(nvml.status() == NvmlStatus::function_not_found);
  }
}

TEST_CASE("Throttle reasons have names, sorted, without idleness", "[harness][nvml]") {
  using fathom::throttle_reason_names;
  CHECK(throttle_reason_names(0).empty());
  CHECK(throttle_reason_names(0x1).empty());
  CHECK(throttle_reason_names(0x4 | 0x1) == std::vector<std::string>{"sw_power_cap"});
  CHECK(throttle_reason_names(0x8 | 0x40 | 0x2) ==
        std::vector<std::string>{"applications_clocks_setting", "hw_slowdown",
                                 "hw_thermal_slowdown"});
  CHECK(throttle_reason_names(0x1ff).size() == 8);
  CHECK(throttle_reason_names(0x10000) == std::vector<std::string>{"unknown_0x10000"});
}

TEST_CASE("Facts join what CUDA and NVML say", "[harness][facts]") {
  const FakeNvml fake;
  const auto found = facts();
  CHECK(found.warnings.empty());
  CHECK(found.fingerprint.driver == "580.95.05");
  CHECK(found.fingerprint.vbios == "96.00.BC.00.01");
  CHECK(found.fingerprint.ecc == "enabled");
  CHECK(found.fingerprint.mig == "disabled");
  CHECK(found.fingerprint.persistence == "enabled");
  CHECK(found.fingerprint.pcie_link == "generation 5, x16");
  CHECK(found.pcie_generation == 5);
  CHECK(found.pcie_lanes == 16);
  CHECK(found.fingerprint.virtualization == "none");
  CHECK(found.fingerprint.compute_mode == "default");
  CHECK(found.fingerprint.confidential_computing == "disabled");
  CHECK(found.fingerprint.cuda_runtime == "13.0");
  CHECK(*found.fingerprint.power_limit_w == Approx(700));
  // 6016 / 8 B x 3.201 GHz x 2; 132 x 1.98 GHz x 128 B, and x 128 x 2.
  CHECK(bound(found, "dram_bandwidth").value == Approx(4.814304e12));
  CHECK(bound(found, "shared_bandwidth").value == Approx(3.345408e13));
  CHECK(bound(found, "l1_bandwidth").value == Approx(3.345408e13));
  CHECK(bound(found, "fp32_fma").value == Approx(6.690816e13));
  CHECK_THROWS_AS(bound(found, "warp_drive"), std::out_of_range);
}

TEST_CASE("A clock that CUDA no longer tells comes from NVML", "[harness][facts]") {
  const FakeNvml fake;
  auto device = h200();
  device.sm_clock_max_hz = device.memory_clock_max_hz = 0;
  CHECK(facts(device).sm_clock_max_hz == 1980e6);
  CHECK(facts(device).memory_clock_max_hz == 3201e6);
}

TEST_CASE("Without a clock there is a warning, not a bound of zero", "[harness][facts]") {
  const FakeNvml fake(Answers{{"memory_clock_max", "error:3"}});
  auto device = h200();
  device.memory_clock_max_hz = 0;
  const auto found = facts(device);
  CHECK_FALSE(found.fingerprint.memory_clock_max_hz);
  CHECK_THROWS_AS(bound(found, "dram_bandwidth"), std::out_of_range);
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], ContainsSubstring("bound is unknown"));
}

TEST_CASE("Facts without NVML say what is unknown", "[harness][facts]") {
  const FakeNvml fake(Answers{{"init", "error:9"}});
  const auto found = facts();
  CHECK_THAT(found.fingerprint.ecc, ContainsSubstring("unknown"));
  CHECK_THAT(found.fingerprint.driver, ContainsSubstring("unknown"));
  CHECK_FALSE(found.fingerprint.power_limit_w);
  CHECK(bound(found, "dram_bandwidth").value == Approx(4.814304e12));
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], ContainsSubstring("not loaded"));
}

TEST_CASE("What a GPU does not support is no unknown", "[harness][facts]") {
  const FakeNvml fake(Answers{{"ALL", "error:3"}});
  const auto found = facts();
  CHECK(found.fingerprint.mig == "not supported");
  CHECK(found.fingerprint.pcie_link == "not supported");
  CHECK(found.warnings.empty());
}

TEST_CASE("A lost GPU ends the program", "[harness][facts]") {
  const FakeNvml fake(Answers{{"handle", "error:15"}});
  try {
    facts();
    FAIL("no error");
  } catch (const fathom::Error& error) {
    CHECK(error.code() == fathom::ExitCode::gpu_lost);
    CHECK_THAT(error.what(), ContainsSubstring("fallen off the bus"));
  }
}

TEST_CASE("MIG, vGPU and fewer lanes show in facts and warnings", "[harness][facts]") {
  const FakeNvml fake(Answers{{"mig", "1"}, {"virtualization", "2"}, {"pcie_width", "8"}});
  const auto found = facts();
  CHECK(found.mig);
  CHECK(found.vgpu);
  CHECK(found.fingerprint.pcie_link == "generation 5, x8 of x16");
  CHECK(found.warnings.size() == 3);
}

TEST_CASE("Processes on the GPU are a warning, unless they may be siblings", "[harness][facts]") {
  const FakeNvml fake(Answers{{"processes", "2"}});
  CHECK(facts().warnings.size() == 1);
  CHECK(
      fathom::assemble_device_facts(h200(), {13000, 13000}, NvmlLibrary(), true).warnings.empty());
}

TEST_CASE("An idle healthy GPU gets no complaint", "[harness][doctor]") {
  const FakeNvml fake;
  for (const Check& check : gpu_checks()) {
    CAPTURE(check.id, check.detail);
    CHECK(check.status == CheckStatus::ok);
  }
}

TEST_CASE("Each fault of a GPU gets its line with what to do", "[harness][doctor]") {
  struct Fault {
    Answers answers;
    std::string id;
    CheckStatus status;
    std::string detail, what_to_do;
  };
  const std::vector<Fault> faults = {
      {{{"ecc_pending", "0"}}, "ecc", CheckStatus::warn, "off after the next reset", "Restart"},
      {{{"ecc_errors", "3"}}, "memory_errors", CheckStatus::warn, "3 uncorrected", "Reset"},
      {{{"remap_pending", "1"}}, "memory_errors", CheckStatus::warn, "wait for a reset", "Reset"},
      {{{"remap_failed", "1"}}, "memory_errors", CheckStatus::fail, "could not", "replaced"},
      {{{"mig", "1"}}, "mig", CheckStatus::warn, "part of the GPU", "nvidia-smi -mig 0"},
      {{{"virtualization", "2"}}, "virtualization", CheckStatus::warn, "vGPU", "passthrough"},
      {{{"confidential_computing", "1"}},
       "confidential_computing",
       CheckStatus::warn,
       "counters are closed",
       "Switch it off"},
      {{{"compute_mode", "2"}}, "compute_mode", CheckStatus::fail, "prohibited", "-c DEFAULT"},
      {{{"application_clock", "1200"}}, "clocks", CheckStatus::warn, "set to 1200 MHz", "-rac"},
      {{{"power_limit", "500000"}}, "power_limit", CheckStatus::warn, "500 W", "-pl 700"},
      {{{"reasons", "0x48"}}, "throttling", CheckStatus::warn, "hw_thermal_slowdown", "cooling"},
      {{{"temperature", "85"}}, "temperature", CheckStatus::warn, "85", "cool"},
      {{{"processes", "2"}}, "processes", CheckStatus::warn, "4000001, 3072 MiB", "End them"},
      {{{"memory_used", "2147483648"}}, "memory", CheckStatus::warn, "use 2048 MiB", "End"},
      {{{"pcie_width", "4"}}, "pcie_link", CheckStatus::warn, "x4 of x16", "seating"},
  };
  for (const Fault& fault : faults) {
    const FakeNvml fake(fault.answers);
    const Check check = check_of(gpu_checks(), fault.id);
    CAPTURE(fault.id, check.detail, check.what_to_do);
    CHECK(check.status == fault.status);
    CHECK_THAT(check.detail, ContainsSubstring(fault.detail));
    CHECK_THAT(check.what_to_do, ContainsSubstring(fault.what_to_do));
  }
}

TEST_CASE("What cannot be read is skipped with the reason", "[harness][doctor]") {
  const FakeNvml fake(Answers{{"ALL", "error:4"}});
  int skipped = 0;
  for (const Check& check : gpu_checks()) {
    CAPTURE(check.id);
    if (check.id == "confidential_computing") continue;  // asked of the system, not of a GPU
    CHECK(check.status == CheckStatus::skip);
    CHECK_THAT(check.detail, ContainsSubstring("not permitted"));
    ++skipped;
  }
  CHECK(skipped == 13);
}

TEST_CASE("This program is not one of the other processes", "[harness][doctor]") {
  SECTION("known by its process id") {
    const FakeNvml fake(Answers{{"processes", "1"}, {"process_pid", std::to_string(getpid())}});
    CHECK(check_of(gpu_checks(), "processes").status == CheckStatus::ok);
  }
  SECTION("in a container, whose process ids NVML does not use") {
    const FakeNvml fake(Answers{{"processes", "1"}, {"memory_used", "2147483648"}});
    CHECK(check_of(gpu_checks(true), "processes").status == CheckStatus::ok);
    CHECK(check_of(gpu_checks(true), "memory").status == CheckStatus::ok);
    CHECK(check_of(gpu_checks(false), "processes").status == CheckStatus::warn);
  }
}

TEST_CASE("A lost GPU is one failed check", "[harness][doctor]") {
  const FakeNvml fake(Answers{{"handle", "error:15"}});
  const auto checks = gpu_checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].status == CheckStatus::fail);
}

TEST_CASE("A window holds the lowest, median and highest reading", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"sm_clock", "1980,1400,1500"}, {"reasons", "0,4,0"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  std::this_thread::sleep_for(200ms);
  const auto telemetry = sampler.stop();
  CHECK(telemetry.missing_reason.empty());
  CHECK(telemetry.sm_clock_hz.high == 1980e6);
  CHECK(telemetry.sm_clock_hz.low == 1400e6);
  CHECK(telemetry.sm_clock_hz.median == 1500e6);  // the last value of the list stays
  CHECK(telemetry.power_w.median == Approx(75.5));
  CHECK(telemetry.throttle_reasons == std::vector<std::string>{"sw_power_cap"});
}

TEST_CASE("A window shorter than the period has its two ends", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"sm_clock", "1000,2000,1,1,1"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  const auto telemetry = sampler.stop();
  CHECK(telemetry.sm_clock_hz.low == 1000e6);
  CHECK(telemetry.sm_clock_hz.high == 2000e6);
  CHECK(telemetry.sm_clock_hz.median == 1500e6);
}

TEST_CASE("A window does not know of the one before", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"temperature", "90,90,40"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  CHECK(sampler.stop().temperature_c.low == 90);
  sampler.start();
  CHECK(sampler.stop().temperature_c.high == 40);
}

TEST_CASE("A window goes on without what happened in between", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"temperature", "50,60,70,40,90"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  CHECK(sampler.stop().temperature_c.high == 60);
  sampler.resume();
  const auto telemetry = sampler.stop();
  CHECK(telemetry.temperature_c.low == 40);
  CHECK(telemetry.temperature_c.high == 70);
  CHECK(telemetry.temperature_c.median == Approx(55));
}

TEST_CASE("Telemetry counts the other processes on the GPU", "[harness][telemetry]") {
  {
    const FakeNvml fake(Answers{{"processes", "2"}, {"process_pid", std::to_string(getpid())}});
    fathom::TelemetrySampler sampler{std::string(first_gpu)};
    sampler.start();
    CHECK(sampler.stop().other_processes == 1);
  }
  {
    // Within 100 ms the list is not read again; what came is seen in the next window.
    const FakeNvml fake(Answers{{"processes", "1,3"}});
    fathom::TelemetrySampler sampler{std::string(first_gpu)};
    sampler.start();
    CHECK(sampler.stop().other_processes == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    sampler.start();
    CHECK(sampler.stop().other_processes == 2);
  }
  const FakeNvml fake(Answers{{"processes", "error:3"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  const auto telemetry = sampler.stop();
  CHECK_FALSE(telemetry.other_processes);
  CHECK(telemetry.temperature_c.median == 31);
}

TEST_CASE("Siblings that wait for their turn are no other processes", "[harness][telemetry]") {
  for (const auto& [seen, counted] : {std::pair("6", 0), std::pair("8", 2), std::pair("2", 0)}) {
    CAPTURE(seen);
    const FakeNvml fake(Answers{{"processes", seen}});  // this one is among them
    fathom::TelemetrySampler sampler{std::string(first_gpu)};
    sampler.set_held_beside(5);
    sampler.start();
    CHECK(sampler.stop().other_processes == counted);
  }
}

TEST_CASE("One channel that is refused does not take the others along", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"power_instant", "error:3"},
                              {"power_average", "error:3"},
                              {"reasons", "error:3"},
                              {"energy", "error:3"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  const auto telemetry = sampler.stop();
  CHECK_FALSE(telemetry.power_w.low);
  CHECK_FALSE(telemetry.power_w.median);
  CHECK(telemetry.temperature_c.median == 31);
  CHECK(telemetry.throttle_reasons.empty());
  CHECK(telemetry.missing_reason.empty());
  CHECK_FALSE(sampler.energy_j());
}

TEST_CASE("No telemetry at all says why", "[harness][telemetry]") {
  SECTION("the GPU refuses everything") {
    const FakeNvml fake(Answers{{"ALL", "error:15"}});
    fathom::TelemetrySampler sampler{std::string(first_gpu)};
    sampler.start();
    CHECK_THAT(sampler.stop().missing_reason, ContainsSubstring("fallen off the bus"));
  }
  SECTION("NVML does not start") {
    const FakeNvml fake(Answers{{"init", "error:9"}});
    fathom::TelemetrySampler sampler{std::string(first_gpu)};
    sampler.start();
    CHECK_THAT(sampler.stop().missing_reason, ContainsSubstring("not loaded"));
    CHECK_FALSE(sampler.energy_j());
  }
}

TEST_CASE("A slow NVML does not hold up the end of a window", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"DELAY_MS", "100"}});
  fathom::TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  std::this_thread::sleep_for(50ms);  // the thread is at its first round now
  const auto before = std::chrono::steady_clock::now();
  CHECK(sampler.stop().sm_clock_hz.median == 345e6);
  // A round of five readings takes 500 ms: stop() makes one and must not wait for the thread's too.
  CHECK(std::chrono::steady_clock::now() - before < 800ms);
}

}  // namespace
