#include "tests/testing.h"
#include "tools/probe_runner.h"

using fathom::Fingerprint;
using fathom::most_held_together;

TEST_CASE("Idle contexts take little of a GPU's memory, and none where one is all it allows",
          "[tools]") {
  const auto held = [](std::optional<std::int64_t> gib, const char* mode) {
    Fingerprint gpu;
    if (gib) gpu.memory_bytes = *gib << 30;
    gpu.compute_mode = mode;
    return most_held_together(gpu);
  };
  CHECK(held({}, "") == 1);  // of unknown memory
  CHECK(held(140, "") == 17);
  CHECK(held(140, "default") == 17);
  CHECK(held(140, "exclusive process") == 1);
  CHECK(held(24, "default") == 3);
  CHECK(held(4, "default") == 1);
}
