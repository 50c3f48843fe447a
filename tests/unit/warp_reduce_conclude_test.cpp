#include "probes/claims.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using enum ClaimVerdict;
using warp_reduce::conclude;

namespace {

constexpr std::int64_t GiB = std::int64_t{1} << 30;

Entry sum(const char* recipe, std::int64_t block, double bandwidth) {
  return planted::entry(std::string("sum/") + recipe + std::to_string(block),
                        {{"part", "sum"},
                         {"recipe", recipe},
                         {"type", "float"},
                         {"block", block},
                         {"size (B)", GiB},
                         {"further elements", std::int64_t{0}},
                         {"offset (elements)", std::int64_t{0}}},
                        bandwidth);
}

Entry copy(double bandwidth) {
  return planted::entry("copy", {{"part", "copy"}, {"size (B)", GiB}}, bandwidth);
}

Entry stage(const char* method, const char* type, const char* mode, double cycles) {
  return planted::entry(
      std::string(method) + type + mode,
      {{"part", "warp stage"}, {"method", method}, {"type", type}, {"mode", mode}}, cycles,
      Better::lower);
}

}  // namespace

TEST_CASE("R1 compares the best block size with the copy of the same run",
          "[probes][warp_reduce]") {
  planted::check_verdicts(
      conclude, "R1",
      {{confirmed, {sum("tile", 512, 4.5e12), copy(4.2e12)}},
       {confirmed, {sum("tile", 256, 3.0e12), sum("tile", 512, 4.2e12), copy(4.2e12)}},
       {refuted, {sum("tile", 512, 3.9e12), copy(4.2e12)}},
       {not_measured, {sum("tile", 512, 4.5e12)}},
       // Its recipe has an atomic addition a block, which the dynamic one has not.
       {not_measured, {sum("dynamic", 512, 4.5e12), copy(4.2e12)}}});
}

TEST_CASE("R2 needs the shuffle ahead in every type and mode measured", "[probes][warp_reduce]") {
  const Entry shuffle = stage("shuffle-xor", "float", "latency", 140),
              tree = stage("shared-tree", "float", "latency", 300);
  planted::check_verdicts(
      conclude, "R2",
      {{confirmed, {shuffle, tree}},
       // The better of the shared-memory ways is what has to be beaten.
       {refuted, {shuffle, tree, stage("shared-butterfly", "float", "latency", 130)}},
       {refuted,
        {shuffle, tree, stage("shuffle-xor", "double", "throughput", 12),
         stage("shared-tree", "double", "throughput", 11)}},
       {not_measured, {shuffle}}});
}
