#include "harness/doctor.h"

#include <nlohmann/json.hpp>
#include <regex>

#include "harness/cuda_check.h"
#include "harness/cuda_device.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/fake_nvml.h"

using namespace fathom;
using Answers = FakeNvml::Answers;

namespace {

Surroundings around(int driver, int runtime = 13000) { return {{driver, runtime}, false, {}}; }

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
  const auto add = [&](const char* what, const FakeNvml&, cudaError_t status,
                       const Surroundings& around) {
    const NvmlLibrary nvml;
    all += std::string(what) + "\n";
    if (status != cudaSuccess) {
      const NoGpu why = explain_no_gpu(status, around, nvml);
      all += fmt::format("  {}: {}\n", to_int(why.code), why.error().what());
    }
    const auto checks = to_json(check_software({status == cudaSuccess, status}, around, nvml));
    for (const auto& check : checks.at("checks"))
      if (check.at("status") != "ok") all += "  " + check.dump() + "\n";
  };
  const Answers none, old{{"driver", "550.54.15"}};
  Surroundings container = around(0), hidden = around(13000);
  container.kernel_driver_loaded = true;  // and its libraries are not there
  hidden.visible_devices = "";
  add("all is well", FakeNvml(), cudaSuccess, around(13000));
  add("an older driver of the same major version", FakeNvml(), cudaSuccess, around(13000, 13010));
  add("no NVML", FakeNvml(none, absent_nvml), cudaSuccess, around(13000));
  add("no driver", FakeNvml(none, absent_nvml), cudaErrorInsufficientDriver, around(0));
  add("a container", FakeNvml(none, absent_nvml), cudaErrorInsufficientDriver, container);
  add("an old driver", FakeNvml(old), cudaErrorInsufficientDriver, around(12040));
  add("lost", FakeNvml(Answers{{"handle", "error:15"}}), cudaErrorNoDevice, around(13000));
  add("hidden", FakeNvml(), cudaErrorNoDevice, hidden);
  add("MIG", FakeNvml(Answers{{"mig", "1"}}), cudaErrorNoDevice, around(13000));
  add("none", FakeNvml(Answers{{"count", "0"}}), cudaErrorNoDevice, around(13000));
  // Any other failure keeps its own code.
  add("no fabric manager", FakeNvml(), cudaErrorSystemNotReady, around(13000));
  all = std::regex_replace(all, std::regex("toolkit [0-9]+[.0-9]*"), "this toolkit");
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/no_gpu.txt", all);
}

TEST_CASE("Which GPUs a build's code runs on", "[harness][cuda_device]") {
  for (const auto& [code, major, minor, runs] :
       {std::tuple{"90a-real", 9, 0, true},
        {"90a-real", 10, 0, false},
        {"80-real", 8, 9, true},  // machine code serves later minors
        {"86-real", 8, 0, false},
        {"80-real", 9, 0, false},
        {"80-virtual", 12, 0, true},  // PTX serves everything later
        {"90a", 10, 0, false},        // but not PTX of one chip
        {"100f-real", 10, 3, true},
        {"100f", 12, 0, false},
        {"75-real;80-real;90a-real;120a-real", 12, 0, true},
        {"", 9, 0, false},
        {"native", 9, 0, false}}) {
    CAPTURE(code, major, minor);
    CHECK(architectures_run_on(code, major, minor) == runs);
  }
  CudaDevice device;
  device.major = 8;
  CHECK(check_architecture(device, "90a-real").status == CheckStatus::fail);
  CHECK(check_architecture(device, "80-real, 90a-real").status == CheckStatus::ok);
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
