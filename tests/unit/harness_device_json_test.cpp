#include "harness/device_json.h"

#include "tests/testing.h"
#include "tests/unit/fake_nvml.h"

using namespace fathom;

TEST_CASE("A UUID is written as CUDA_VISIBLE_DEVICES takes it", "[harness][fleet]") {
  std::array<unsigned char, 16> uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<unsigned char>(17 * i);
  CHECK(uuid_text(uuid) == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("A GPU's health is what NVML tells of it", "[harness][fleet]") {
  const FakeNvml fake(FakeNvml::Answers{{"processes", "2"}});
  CHECK(health_json(NvmlLibrary().device_by_index(0)).dump() ==
        R"({"pcie_generation":5,"pcie_width":16,"uncorrected_ecc_errors":0,"remapped_rows":0,)"
        R"("remapping_failed":false,"remapping_pending":false,"processes":2})");
}

TEST_CASE("What NVML refuses is unknown, and not zero", "[harness][fleet]") {
  const std::string unknown =
      R"({"pcie_generation":null,"pcie_width":null,"uncorrected_ecc_errors":null,)"
      R"("remapped_rows":null,"remapping_failed":false,"remapping_pending":false,)"
      R"("processes":null})";
  for (const char* refused : {"ALL", "handle"}) {
    const FakeNvml fake(FakeNvml::Answers{{refused, "error:4"}});
    CHECK(health_json(NvmlLibrary().device_by_index(0)).dump() == unknown);
  }
}
