#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "harness/visible_devices.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

/// A variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("A UUID is written as CUDA_VISIBLE_DEVICES takes it", "[harness][fleet]") {
  std::array<unsigned char, 16> uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<unsigned char>(17 * i);
  CHECK(uuid_text(uuid) == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("A GPU's health is what NVML tells of it", "[harness][fleet]") {
  const Variable library("FATHOM_NVML_LIBRARY", FATHOM_FAKE_NVML);
  const Variable processes("FAKE_NVML_processes", "2");
  const NvmlLibrary nvml;
  const GpuHealth health = read_gpu_health(nvml.device_by_index(0));
  REQUIRE(health.processes);
  CHECK(*health.processes == 2);
  REQUIRE(health.pcie_width);
  CHECK(*health.pcie_width > 0);
  CHECK(health.uncorrected_ecc_errors);
  CHECK_FALSE(health.remapping_failed);
  const auto json = to_json(std::vector<VisibleDevice>{{CudaDevice{}, health}});
  CHECK(json.at(0).at("health").at("processes") == 2);
  CHECK(json.at(0).at("uuid").get<std::string>().starts_with("GPU-"));
}

TEST_CASE("What NVML refuses is unknown, and not zero", "[harness][fleet]") {
  const Variable library("FATHOM_NVML_LIBRARY", FATHOM_FAKE_NVML);
  const Variable refused("FAKE_NVML_ALL", "error:4");
  const NvmlLibrary nvml;
  const GpuHealth health = read_gpu_health(nvml.device_by_index(0));
  CHECK_FALSE(health.uncorrected_ecc_errors);
  CHECK_FALSE(health.pcie_width);
  const auto json = to_json(std::vector<VisibleDevice>{{CudaDevice{}, health}});
  CHECK(json.at(0).at("health").at("uncorrected_ecc_errors").is_null());
}
