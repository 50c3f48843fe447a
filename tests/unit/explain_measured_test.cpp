// What CUPTI measured beside a recording of `fathom explain`.

#include <nlohmann/json.hpp>

#include "explain/analysis.h"
#include "tests/testing.h"
#include "tests/unit/explain_trace.h"

using namespace fathom;
using namespace fathom::explain;
using Catch::Matchers::Equals;
using test::pattern;
using test::strided;
using test::TraceBytes;

namespace {

/// A kernel that loads 80 sectors by 20 accesses to global memory, and 640 wavefronts by 20 to
/// shared memory; one block in `every` is recorded.
TraceBytes recording(std::uint32_t every = 1) {
  TraceBytes trace;
  trace.launch("f",
               {pattern(Space::global, Op::load, 4, strided(4), 16, 20),
                pattern(Space::shared, Op::load, 4, strided(128), 32, 20)},
               64, every);
  return trace;
}

KernelCost kernel_of(const TraceBytes& recorded, const TraceBytes& measured) {
  const Explanation all =
      explain::explain(test::read({recorded.bytes, measured.bytes}), test::no_line);
  REQUIRE(all.kernels.size() == 1);
  return all.kernels.front();
}

const std::string as_recorded =
    "f\nglobal_load_sectors 80\nglobal_store_sectors 0\nshared_load_wavefronts 640\n"
    "shared_load_conflicts 620\ndram_read_bytes 1000000\ndram_write_bytes 1000000\n"
    "l2_read_sectors 80\ngpu_time 2000\n";

Bounds bounds() { return {{{"DRAM", 4e12}}, "atlas.json"}; }

}  // namespace

TEST_CASE("Counters stand beside the recording, bandwidths beside their bounds", "[explain]") {
  TraceBytes measured;
  measured.gpu("NVIDIA H100 80GB HBM3");
  measured.counted(as_recorded);
  const KernelCost kernel = kernel_of(recording(), measured);
  const auto lines = measured_lines(kernel, bounds());
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Equals("2 us a launch while counted: DRAM 1 TB/s of 4 TB/s (25 %), L2 1.28 "
                              "GB/s, shared memory 40.96 GB/s"));
  CHECK_THAT(lines[1],
             Equals("counters: 80 sectors of global loads, 640 wavefronts of shared loads "
                    "(620 conflicts); the recording says the same"));
  const auto json = measured_json(kernel, bounds());
  CHECK(json.at("counters").at("global_load_sectors") == 80);
  CHECK(json.at("recorded").at("shared_load_conflicts") == 620);
  CHECK(json.at("bandwidths").at(0).at("bound") == 4e12);
  CHECK(json.at("bandwidths").at(1).at("bound").is_null());
}

TEST_CASE("A counter that disagrees with the recording is named", "[explain]") {
  std::string other = as_recorded;
  other.replace(other.find("wavefronts 640"), 14, "wavefronts 650");
  // Half the blocks say nothing about the whole, nor where other launches were counted.
  for (const auto& [every, launches, said] :
       {std::tuple(1, 1, "; recorded: 640 shared_load_wavefronts"),
        {2, 1, "; the recording is of a part"},
        {1, 2, "; the recording is of a part"}}) {
    TraceBytes measured;
    for (int launch = 0; launch < launches; ++launch) measured.counted(other);
    CHECK_THAT(measured_lines(kernel_of(recording(every), measured), {})[1], contains(said));
  }
}

TEST_CASE("Where warps wait is said by line, issues left out", "[explain]") {
  TraceBytes measured;
  measured.sampled("f\n16 7 app.cu\nlong_scoreboard 50\nselected 900\n");
  measured.sampled("f\n48 7 app.cu\nbarrier 10\n");
  measured.sampled("f\n80 0 \nwait 40\n");
  measured.sampled("f\n96 9 app.cu\nselected 5\n");
  const KernelCost kernel = kernel_of(recording(), measured);
  CHECK(kernel.measured.samples == 100);
  const auto lines = measured_lines(kernel, {});
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0],
             Equals("warps wait: 60 % at app.cu:7 (long_scoreboard), 40 % at +0x0050 (wait)"));
  const auto waits = measured_json(kernel, {}).at("waits");
  CHECK(waits.at(0).at("share") == 0.6);
  CHECK(waits.at(0).at("reasons").at("barrier") == 10);
  CHECK(waits.at(1).at("line").is_null());
}

TEST_CASE("Without a measurement nothing is said, a damaged one is refused", "[explain]") {
  const KernelCost kernel = kernel_of(recording(), TraceBytes());
  CHECK(measured_lines(kernel, bounds()).empty());
  CHECK(measured_json(kernel, bounds()).is_null());
  TraceBytes many, negative, placeless;
  many.counted("f\nglobal_load_sectors many\n");
  negative.counted("f\ngpu_time -1\n");
  placeless.sampled("f\nnowhere\n");
  for (const TraceBytes& measured : {many, negative, placeless})
    CHECK_THROWS_AS(test::read({measured.bytes}), Error);
}

TEST_CASE("What the GPU can move is taken from a result's facts", "[explain]") {
  Document atlas;
  atlas.facts.resize(2);
  atlas.facts[0].id = "dram.bandwidth";
  atlas.facts[0].value = 3e12;
  atlas.facts[1].id = "l2.bandwidth";
  const Bounds found = bounds_of(atlas, "atlas.json");
  CHECK(found.by_level == std::map<std::string, double>{{"DRAM", 3e12}});
}
