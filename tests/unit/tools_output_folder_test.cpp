#include "tests/testing.h"
#include "tools/output_folder.h"

namespace fathom {
namespace {

TEST_CASE("A GPU's name becomes part of a folder's name", "[tools]") {
  CHECK(gpu_slug("NVIDIA H200") == "h200");
  CHECK(gpu_slug("NVIDIA GeForce RTX 4090") == "geforce-rtx-4090");
  CHECK(gpu_slug("NVIDIA A100-SXM4-80GB (MIG 1g.10gb)") == "a100-sxm4-80gb-mig-1g-10gb");
  CHECK(gpu_slug("") == "gpu");
}

TEST_CASE("A default folder says GPU and UTC time, and REPLAY where it is one", "[tools]") {
  const std::chrono::system_clock::time_point second{std::chrono::seconds(86399)};
  CHECK(default_folder_name("NVIDIA H200", false, second) == "fathom-h200-19700101T235959Z");
  CHECK(default_folder_name("NVIDIA H200", true, second) == "fathom-replay-h200-19700101T235959Z");
}

}  // namespace
}  // namespace fathom
