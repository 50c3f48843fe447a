#include "harness/device_facts.h"
#include "harness/doctor.h"
#include "harness/nvml_library.h"
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

TEST_CASE("Facts join what CUDA and NVML say", "[harness][facts]") {
  const FakeNvml fake;
  const auto found = facts();
  CHECK(found.warnings.empty());
  const Fingerprint& print = found.fingerprint;
  CHECK(print.driver == "580.95.05");
  CHECK(print.vbios == "96.00.BC.00.01");
  CHECK(print.ecc + ", " + print.mig + ", " + print.persistence == "enabled, disabled, enabled");
  CHECK(print.virtualization + ", " + print.compute_mode == "none, default");
  CHECK(print.confidential_computing + ", " + print.pcie_link == "disabled, generation 5, x16");
  CHECK(print.cuda_runtime == version_text(CUDART_VERSION));
  CHECK(*print.power_limit_w == Approx(700));
  // 6016 / 8 B x 3.201 GHz x 2; 132 x 1.98 GHz x 128 B, and x 128 x 2.
  CHECK(bound(found, "dram_bandwidth").value == Approx(4.814304e12));
  for (const char* name : {"shared_bandwidth", "l1_bandwidth"})
    CHECK(bound(found, name).value == Approx(3.345408e13));
  CHECK(bound(found, "fp32_fma").value == Approx(6.690816e13));
  CHECK_THROWS_AS(bound(found, "warp_drive"), std::out_of_range);
}

TEST_CASE("A clock that CUDA no longer tells comes from NVML", "[harness][facts]") {
  auto device = h200();
  device.sm_clock_max_hz = device.memory_clock_max_hz = 0;
  {
    const FakeNvml fake;
    CHECK(facts(device).sm_clock_max_hz == 1980e6);
    CHECK(facts(device).memory_clock_max_hz == 3201e6);
  }
  const FakeNvml fake(Answers{{"memory_clock_max", "error:3"}});
  const auto found = facts(device);
  CHECK_FALSE(found.fingerprint.memory_clock_max_hz);
  CHECK_THROWS_AS(bound(found, "dram_bandwidth"), std::out_of_range);
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], contains("bound is unknown"));
}

TEST_CASE("Without NVML facts are unknown, unsupported ones are not", "[harness][facts]") {
  {
    const FakeNvml fake(Answers{{"init", "error:9"}});
    const auto found = facts();
    CHECK_THAT(found.fingerprint.ecc, contains("unknown"));
    CHECK_THAT(found.fingerprint.driver, contains("unknown"));
    CHECK_FALSE(found.fingerprint.power_limit_w);
    CHECK(bound(found, "dram_bandwidth").value == Approx(4.814304e12));
    REQUIRE(found.warnings.size() == 1);
    CHECK_THAT(found.warnings[0], contains("not loaded"));
  }
  const FakeNvml fake(Answers{{"ALL", "error:3"}});
  const auto found = facts();
  CHECK(found.fingerprint.mig == "not supported");
  CHECK(found.fingerprint.pcie_link == "not supported");
  CHECK(found.warnings.empty());
}

TEST_CASE("A lost GPU ends the program, and is one failed check", "[harness][facts]") {
  const FakeNvml fake(Answers{{"handle", "error:15"}});
  const Refusal lost = refusal_of([] { facts(); });
  CHECK(lost.code == ExitCode::gpu_lost);
  CHECK_THAT(lost.text, contains("fallen off the bus"));
  const auto checks = gpu_checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].status == CheckStatus::fail);
}

TEST_CASE("MIG, vGPU, fewer lanes and processes show in facts and warnings", "[harness][facts]") {
  {
    const FakeNvml fake(Answers{{"mig", "1"}, {"virtualization", "2"}, {"pcie_width", "8"}});
    const auto found = facts();
    CHECK(found.fingerprint.mig + ", " + found.fingerprint.virtualization == "enabled, vGPU");
    CHECK(found.fingerprint.pcie_link == "generation 5, x8 of x16");
    CHECK(found.warnings.size() == 3);
  }
  const FakeNvml fake(Answers{{"processes", "2"}});
  CHECK(facts().warnings.size() == 1);
  // Siblings are none.
  CHECK(assemble_device_facts(h200(), NvmlLibrary(), true).warnings.empty());
}

TEST_CASE("An idle healthy GPU gets no complaint", "[harness][doctor]") {
  const FakeNvml fake;
  for (const Check& check : gpu_checks()) {
    CAPTURE(check.id, check.detail);
    CHECK(check.status == CheckStatus::ok);
  }
}

TEST_CASE("Each fault of a GPU gets its line with what to do", "[harness][doctor]") {
  using enum CheckStatus;
  const auto fault = [](const char* answer, const char* value, const char* id, CheckStatus status,
                        const char* detail, const char* what_to_do) {
    const FakeNvml fake(Answers{{answer, value}});
    const std::vector<Check> checks = gpu_checks();
    const auto check = std::ranges::find(checks, id, &Check::id);
    CAPTURE(id);
    REQUIRE(check != checks.end());
    CHECK(check->status == status);
    CHECK_THAT(check->detail, contains(detail));
    CHECK_THAT(check->what_to_do, contains(what_to_do));
  };
  fault("ecc_pending", "0", "ecc", warn, "off after the next reset", "Restart");
  fault("ecc_errors", "3", "memory_errors", warn, "3 uncorrected", "Reset");
  fault("remap_pending", "1", "memory_errors", warn, "wait for a reset", "Reset");
  fault("remap_failed", "1", "memory_errors", fail, "could not", "replaced");
  fault("mig", "1", "mig", warn, "part of the GPU", "nvidia-smi -mig 0");
  fault("virtualization", "2", "virtualization", warn, "vGPU", "passthrough");
  fault("confidential_computing", "1", "confidential_computing", warn, "counters are closed",
        "Switch it off");
  fault("compute_mode", "2", "compute_mode", fail, "prohibited", "-c DEFAULT");
  fault("application_clock", "1200", "clocks", warn, "set to 1200 MHz", "-rac");
  fault("power_limit", "500000", "power_limit", warn, "500 W", "-pl 700");
  fault("reasons", "0x48", "throttling", warn, "hw_thermal_slowdown", "cooling");
  fault("temperature", "85", "temperature", warn, "85", "cool");
  fault("processes", "2", "processes", warn, "4000001, 3072 MiB", "End them");
  fault("memory_used", "2147483648", "memory", warn, "use 2048 MiB", "End");
  fault("pcie_width", "4", "pcie_link", warn, "x4 of x16", "seating");
}

TEST_CASE("What cannot be read is skipped with the reason", "[harness][doctor]") {
  const FakeNvml fake(Answers{{"ALL", "error:4"}});
  int skipped = 0;
  for (const Check& check : gpu_checks()) {
    CAPTURE(check.id);
    if (check.id == "confidential_computing") continue;  // asked of the system, not of a GPU
    CHECK(check.status == CheckStatus::skip);
    CHECK_THAT(check.detail, contains("not permitted"));
    ++skipped;
  }
  CHECK(skipped == 13);
}

}  // namespace
