#include "tests/testing.h"
#include "tools/held_probes.h"

using fathom::Fingerprint;
using fathom::most_held_together;

TEST_CASE("Idle contexts take little of a GPU's memory, and none where one is all it allows",
          "[tools]") {
  Fingerprint gpu;
  CHECK(most_held_together(gpu) == 1);  // of unknown memory
  gpu.memory_bytes = 140ll << 30;
  CHECK(most_held_together(gpu) == 17);
  gpu.compute_mode = "default";
  CHECK(most_held_together(gpu) == 17);
  gpu.compute_mode = "exclusive process";
  CHECK(most_held_together(gpu) == 1);
  gpu.compute_mode = "default";
  gpu.memory_bytes = 24ll << 30;
  CHECK(most_held_together(gpu) == 3);
  gpu.memory_bytes = 4ll << 30;
  CHECK(most_held_together(gpu) == 1);
}
