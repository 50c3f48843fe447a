#include "harness/doctor.h"

#include <nlohmann/json.hpp>

#include "harness/cuda_check.h"
#include "harness/cuda_device.h"
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

TEST_CASE("Why there is no GPU", "[harness][cuda_device]") {
  const auto check = [](const FakeNvml&, const Surroundings& around, cudaError_t status,
                        ExitCode code, const char* cause, const char* remedy = "") {
    const auto why = explain_no_gpu(status, around, NvmlLibrary());
    CHECK(why.code == code);
    CHECK_THAT(why.error().what(), contains(cause) && contains(remedy));
  };
  using enum ExitCode;
  const Answers none, old{{"driver", "550.54.15"}};
  Surroundings container = around(0), hidden = around(13000);
  container.kernel_driver_loaded = true;  // and its libraries are not there
  hidden.visible_devices = "";
  const cudaError_t insufficient = cudaErrorInsufficientDriver;
  check(FakeNvml(none, absent_nvml), around(0), insufficient, no_driver, "no NVIDIA driver");
  check(FakeNvml(none, absent_nvml), container, insufficient, no_driver, "libcuda.so.1",
        "--gpus all");
  check(FakeNvml(old), around(12040), insufficient, driver_too_old, "550.54.15 supports CUDA 12.4",
        "driver 580 or newer");
  check(FakeNvml(old), around(12040), insufficient, driver_too_old, "needs CUDA 13.0");
  check(FakeNvml(Answers{{"handle", "error:15"}}), around(13000), cudaErrorNoDevice, gpu_lost, "");
  check(FakeNvml(), hidden, cudaErrorNoDevice, no_driver, "CUDA_VISIBLE_DEVICES");
  check(FakeNvml(Answers{{"mig", "1"}}), around(13000), cudaErrorNoDevice, partitioned_gpu, "");
  check(FakeNvml(Answers{{"count", "0"}}), around(13000), cudaErrorNoDevice, no_driver,
        "finds no GPU");
  // Any other failure keeps its own code.
  check(FakeNvml(), around(13000), cudaErrorSystemNotReady, no_driver, "fabric manager");
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

TEST_CASE("The software's checks", "[harness][doctor]") {
  using Statuses = std::map<std::string, CheckStatus>;
  const auto not_ok = [](const FakeNvml&, const CudaDeviceCount& devices,
                         const Surroundings& around) {
    Statuses found;
    for (const Check& check : check_software(devices, around, NvmlLibrary())) {
      if (check.status != CheckStatus::ok) found[check.id] = check.status;
      if (check.id == "cuda" && around.versions.driver == 12040)
        CHECK_THAT(check.what_to_do, contains("Install driver 580"));
    }
    return found;
  };
  using enum CheckStatus;
  CHECK(not_ok(FakeNvml(), {1, cudaSuccess}, around(13000)).empty());
  // An older driver of the same major version works, with a warning.
  CHECK(not_ok(FakeNvml(), {1, cudaSuccess}, around(13000, 13010)) == Statuses{{"cuda", warn}});
  CHECK(not_ok(FakeNvml(), {0, cudaErrorInsufficientDriver}, around(12040)) ==
        Statuses{{"cuda", fail}});
  const auto no_driver =
      not_ok(FakeNvml({}, absent_nvml), {0, cudaErrorInsufficientDriver}, around(0));
  CHECK(no_driver.at("driver") == fail);
  CHECK(no_driver.at("nvml") == skip);
  CHECK(not_ok(FakeNvml({}, absent_nvml), {1, cudaSuccess}, around(13000)).at("nvml") == warn);
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
