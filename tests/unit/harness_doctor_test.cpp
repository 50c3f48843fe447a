#include <stdlib.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/cuda_check.h"
#include "harness/cuda_device.h"
#include "harness/device_json.h"
#include "harness/doctor.h"
#include "results/error.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using fathom::Check;
using fathom::CheckStatus;
using fathom::ExitCode;
using fathom::NvmlLibrary;
using fathom::Surroundings;

/// NVML as the fake answers it, or none at all.
class Nvml {
 public:
  explicit Nvml(const char* library, std::map<std::string, std::string> answers = {})
      : answers_(std::move(answers)) {
    setenv("FATHOM_NVML_LIBRARY", library, 1);
    for (const auto& [name, value] : answers_)
      setenv(("FAKE_NVML_" + name).c_str(), value.c_str(), 1);
  }
  ~Nvml() {
    unsetenv("FATHOM_NVML_LIBRARY");
    for (const auto& answer : answers_) unsetenv(("FAKE_NVML_" + answer.first).c_str());
  }

 private:
  std::map<std::string, std::string> answers_;
};
constexpr const char* absent = "/nonexistent/nvml.so";

Surroundings around(int driver, int runtime = 13000) { return {{driver, runtime}, false, {}}; }

TEST_CASE("CUDA errors have the exit code of their cause", "[harness][cuda_check]") {
  const std::vector<std::pair<cudaError_t, ExitCode>> table = {
      {cudaErrorMemoryAllocation, ExitCode::gpu_out_of_memory},
      {cudaErrorNoDevice, ExitCode::no_driver},
      {cudaErrorStubLibrary, ExitCode::no_driver},
      {cudaErrorSystemNotReady, ExitCode::no_driver},
      {cudaErrorUnsupportedPtxVersion, ExitCode::driver_too_old},
      {cudaErrorSystemDriverMismatch, ExitCode::driver_too_old},
      {cudaErrorDevicesUnavailable, ExitCode::gpu_busy},
      {cudaErrorMpsServerNotReady, ExitCode::gpu_busy},
      {cudaErrorInvalidDevice, ExitCode::bad_input},
      {cudaErrorDeviceNotLicensed, ExitCode::partitioned_gpu},
      {cudaErrorNoKernelImageForDevice, ExitCode::setup_incomplete},
      {cudaErrorECCUncorrectable, ExitCode::gpu_lost},
      {cudaErrorContained, ExitCode::gpu_lost},
      {cudaErrorLaunchTimeout, ExitCode::probe_timed_out},
      {cudaErrorIllegalAddress, ExitCode::probe_crashed},
      {cudaErrorMisalignedAddress, ExitCode::probe_crashed},
      {cudaErrorInvalidValue, ExitCode::probe_crashed}};
  for (const auto& [status, code] : table) {
    CAPTURE(cudaGetErrorName(status));
    CHECK(fathom::explain_cuda_error(status).code == code);
    try {
      fathom::check_cuda(status, "cudaSomething(x)", "file.cu", 42);
      FAIL("no error");
    } catch (const fathom::Error& error) {
      CHECK(error.code() == code);
      CHECK_THAT(error.what(), ContainsSubstring("cudaSomething(x) at file.cu:42"));
      CHECK_THAT(error.what(), ContainsSubstring(cudaGetErrorName(status)));
    }
  }
  CHECK_NOTHROW(FATHOM_CUDA(cudaSuccess));
}

TEST_CASE("Why there is no GPU", "[harness][cuda_device]") {
  SECTION("no driver") {
    const Nvml nvml(absent);
    const auto why = explain_no_gpu(cudaErrorInsufficientDriver, around(0), NvmlLibrary());
    CHECK(why.code == ExitCode::no_driver);
    CHECK_THAT(why.cause, ContainsSubstring("no NVIDIA driver"));
  }
  SECTION("a container without the driver's libraries") {
    const Nvml nvml(absent);
    Surroundings container = around(0);
    container.kernel_driver_loaded = true;
    const auto why = explain_no_gpu(cudaErrorInsufficientDriver, container, NvmlLibrary());
    CHECK(why.code == ExitCode::no_driver);
    CHECK_THAT(why.cause, ContainsSubstring("libcuda.so.1"));
    CHECK_THAT(why.remedy, ContainsSubstring("--gpus all"));
  }
  SECTION("a driver that is too old: found and needed") {
    const Nvml nvml(FATHOM_FAKE_NVML, {{"driver", "550.54.15"}});
    const auto why = explain_no_gpu(cudaErrorInsufficientDriver, around(12040), NvmlLibrary());
    CHECK(why.code == ExitCode::driver_too_old);
    CHECK_THAT(why.cause, ContainsSubstring("550.54.15 supports CUDA 12.4"));
    CHECK_THAT(why.cause, ContainsSubstring("needs CUDA 13.0"));
    CHECK_THAT(why.remedy, ContainsSubstring("driver 580 or newer"));
  }
  SECTION("a lost GPU") {
    const Nvml nvml(FATHOM_FAKE_NVML, {{"handle", "error:15"}});
    const auto why = explain_no_gpu(cudaErrorNoDevice, around(13000), NvmlLibrary());
    CHECK(why.code == ExitCode::gpu_lost);
  }
  SECTION("GPUs hidden by the environment") {
    const Nvml nvml(FATHOM_FAKE_NVML);
    Surroundings hidden = around(13000);
    hidden.visible_devices = "";
    const auto why = explain_no_gpu(cudaErrorNoDevice, hidden, NvmlLibrary());
    CHECK(why.code == ExitCode::no_driver);
    CHECK_THAT(why.cause, ContainsSubstring("CUDA_VISIBLE_DEVICES"));
  }
  SECTION("MIG without an instance") {
    const Nvml nvml(FATHOM_FAKE_NVML, {{"mig", "1"}});
    const auto why = explain_no_gpu(cudaErrorNoDevice, around(13000), NvmlLibrary());
    CHECK(why.code == ExitCode::partitioned_gpu);
  }
  SECTION("a driver without a GPU") {
    const Nvml nvml(FATHOM_FAKE_NVML, {{"count", "0"}});
    const auto why = explain_no_gpu(cudaErrorNoDevice, around(13000), NvmlLibrary());
    CHECK(why.code == ExitCode::no_driver);
    CHECK_THAT(why.cause, ContainsSubstring("finds no GPU"));
  }
  SECTION("any other failure keeps its own code") {
    const Nvml nvml(FATHOM_FAKE_NVML);
    const auto why = explain_no_gpu(cudaErrorSystemNotReady, around(13000), NvmlLibrary());
    CHECK_THAT(why.error().what(), ContainsSubstring("fabric manager"));
  }
}

TEST_CASE("Which GPUs a build's code runs on", "[harness][cuda_device]") {
  using fathom::architectures_run_on;
  CHECK(architectures_run_on("90a-real", 9, 0));
  CHECK_FALSE(architectures_run_on("90a-real", 10, 0));
  CHECK_FALSE(architectures_run_on("90a-real", 8, 0));
  CHECK(architectures_run_on("80-real", 8, 9));  // machine code serves later minors
  CHECK_FALSE(architectures_run_on("86-real", 8, 0));
  CHECK_FALSE(architectures_run_on("80-real", 9, 0));
  CHECK(architectures_run_on("80", 12, 0));  // PTX serves everything later
  CHECK(architectures_run_on("80-virtual", 9, 0));
  CHECK_FALSE(architectures_run_on("90a", 10, 0));  // but not PTX of one chip
  CHECK(architectures_run_on("100f-real", 10, 3));
  CHECK_FALSE(architectures_run_on("100f", 12, 0));
  CHECK(architectures_run_on("75-real;80-real;90a-real;120a-real", 12, 0));
  CHECK_FALSE(architectures_run_on("", 9, 0));
  CHECK_FALSE(architectures_run_on("native", 9, 0));
}

TEST_CASE("The hash of a UUID is FNV-1a of its 16 bytes", "[harness][cuda_device]") {
  // From the definition, by another implementation: zeros, and 1 to 16.
  CHECK(fathom::uuid_hash({}) == "88201fb960ff6465");
  CHECK(fathom::uuid_hash({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) ==
        "e7ecfb4f6e006495");
}

std::string file_with(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() / ("fathom-doctor-test-" + name);
  std::ofstream(path) << text;
  return path.string();
}

TEST_CASE("Permission to read counters", "[harness][doctor]") {
  const std::string user = file_with("user", "Name:\tx\nCapEff:\t0000000000000000\n");
  const std::string root = file_with("root", "CapEff:\t000001ffffffffff\n");
  const std::string contained = file_with("contained", "CapEff:\t00000000a80425fb\n");
  const std::string perfmon = file_with("perfmon", "CapEff:\t0000004000000000\n");
  const std::string closed = file_with("closed", "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: 1\n");
  const std::string open = file_with("open", "RmProfilingAdminOnly: 0\n");
  const auto status = [](const std::string& params, const std::string& process) {
    fathom::DoctorOptions options;
    options.driver_params = params;
    options.process_status = process;
    return fathom::check_counter_permission(options);
  };
  CHECK(status(open, user).status == CheckStatus::ok);
  CHECK(status(closed, root).status == CheckStatus::ok);
  CHECK(status(closed, perfmon).status == CheckStatus::ok);
  CHECK(status("/nonexistent", root).status == CheckStatus::skip);
  for (const std::string& process : {user, contained}) {
    const Check check = status(closed, process);
    CHECK(check.status == CheckStatus::warn);
    CHECK_THAT(check.what_to_do, ContainsSubstring("NVreg_RestrictProfilingToAdminUsers=0"));
  }
  for (const std::string& path : {user, root, contained, perfmon, closed, open})
    std::filesystem::remove(path);
}

TEST_CASE("The software's checks", "[harness][doctor]") {
  const auto by_id = [](const std::vector<Check>& checks, const std::string& id) {
    const auto found =
        std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.id == id; });
    REQUIRE(found != checks.end());
    return *found;
  };
  SECTION("all is well") {
    const Nvml nvml(FATHOM_FAKE_NVML);
    for (const Check& check : check_software({1, cudaSuccess}, around(13000), NvmlLibrary()))
      CHECK(check.status == CheckStatus::ok);
  }
  SECTION("an older driver of the same major version works, with a warning") {
    const Nvml nvml(FATHOM_FAKE_NVML);
    const auto checks = check_software({1, cudaSuccess}, around(13000, 13010), NvmlLibrary());
    CHECK(by_id(checks, "cuda").status == CheckStatus::warn);
  }
  SECTION("a driver that is too old") {
    const Nvml nvml(FATHOM_FAKE_NVML);
    const auto checks =
        check_software({0, cudaErrorInsufficientDriver}, around(12040), NvmlLibrary());
    CHECK(by_id(checks, "driver").status == CheckStatus::ok);
    CHECK(by_id(checks, "cuda").status == CheckStatus::fail);
    CHECK_THAT(by_id(checks, "cuda").what_to_do, ContainsSubstring("Install driver 580"));
  }
  SECTION("no driver") {
    const Nvml nvml(absent);
    const auto checks = check_software({0, cudaErrorInsufficientDriver}, around(0), NvmlLibrary());
    CHECK(by_id(checks, "driver").status == CheckStatus::fail);
    CHECK(by_id(checks, "nvml").status == CheckStatus::skip);
  }
  SECTION("no NVML beside a working driver") {
    const Nvml nvml(absent);
    const auto checks = check_software({1, cudaSuccess}, around(13000), NvmlLibrary());
    CHECK(by_id(checks, "nvml").status == CheckStatus::warn);
  }
}

TEST_CASE("A GPU that the build has no code for fails", "[harness][doctor]") {
  fathom::CudaDevice device;
  device.name = "NVIDIA A100";
  device.major = 8;
  CHECK(check_architecture(device, "90a-real").status == CheckStatus::fail);
  CHECK(check_architecture(device, "80-real, 90a-real").status == CheckStatus::ok);
}

TEST_CASE("Checks as JSON", "[harness][doctor]") {
  const std::vector<Check> checks = {{"a", CheckStatus::ok, {}, "A", "fine", ""},
                                     {"b", CheckStatus::warn, 1, "B", "odd", "Mend it."},
                                     {"c", CheckStatus::fail, 0, "C", "bad", "Mend it."}};
  const auto json = fathom::to_json(checks);
  CHECK(json["fail"] == 1);
  CHECK(json["warn"] == 1);
  CHECK(json["checks"][0]["gpu"].is_null());
  CHECK(json["checks"][1]["gpu"] == 1);
  CHECK(json["checks"][1]["status"] == "warn");
  CHECK(json["checks"][2]["what_to_do"] == "Mend it.");
}

}  // namespace
