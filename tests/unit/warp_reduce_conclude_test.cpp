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

TEST_CASE("R3 shows the published block stage with ones and with random data",
          "[probes][warp_reduce]") {
  const auto stage = [](const char* data, double wrong) {
    Entry e = planted::entry(data, {{"part", "block stage"}, {"data", data}}, wrong, Better::lower);
    e.extras["blocks"] = 64;
    return e;
  };
  planted::check_verdicts(conclude, "R3",
                          {{conditional, {stage("ones", 0), stage("random", 64)}},
                           {confirmed, {stage("ones", 0), stage("random", 0)}},
                           {refuted, {stage("ones", 1), stage("random", 64)}},
                           {not_measured, {stage("ones", 0)}}});
  CHECK_THAT(
      planted::claim(conclude(std::vector{stage("ones", 0), stage("random", 64)}).claims, "R3")
          .figure,
      contains("of 64 blocks it adds up 0 wrong with ones, and 64 with random data"));
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
