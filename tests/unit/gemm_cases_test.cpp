// What is asked of a ladder, what is measured of it, and how well. On a Hopper it is what was
// recorded there.

#include <fmt/ranges.h>

#include "gemm/bench/cases.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "results/document_io.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

DeviceFacts hopper() {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.sms = 132;
  device.bounds = {{"fp32_fma", "FLOP/s", "planted", 66.9e12}};
  return device;
}

std::vector<Case> cases_of(const DeviceFacts& device, const Request& request = {}) {
  return ladder_cases(device, request);
}

std::set<std::string> names_of(const std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const Case& c : cases) CHECK(names.insert(c.name).second);
  return names;
}

std::string axis(const Case& c, const char* name) {
  return std::get<std::string>(std::ranges::find(c.axes, name, &Axes::value_type::first)->second);
}

}  // namespace

TEST_CASE("the cases on an H200 and on an H100 are those that were recorded there", "[gemm]") {
  for (const std::string name : {"h200", "h100-80gb-hbm3"}) {
    const Document recorded = read_document(std::filesystem::path(FATHOM_SOURCE_DIR) /
                                            "recordings" / name / "gemm/result.json");
    DeviceFacts gpu = hopper();
    gpu.name = recorded.fingerprint.gpu_name;
    gpu.sms = recorded.fingerprint.sms.value();
    gpu.memory_bytes = recorded.fingerprint.memory_bytes.value();
    gpu.sm_clock_max_hz = recorded.fingerprint.sm_clock_max_hz.value();
    gpu.bounds = recorded.bounds;
    const auto cases = cases_of(gpu);
    CHECK(names_of(cases).size() == recorded.entries.size());
    for (const Case& c : cases) {
      CAPTURE(name, c.name);
      CHECK(c.prepare);
      const auto entry = std::ranges::find(recorded.entries, "gemm/" + c.name, &Entry::name);
      REQUIRE(entry != recorded.entries.end());
      CHECK(c.axes == entry->axes);
      CHECK(c.bound == entry->bound);
      // Every rung of a ladder rests as long before a sample, points of a curve do not.
      if (c.precision && !std::holds_alternative<SustainedLoad>(c.mode)) {
        CHECK(c.precision->rest == entry->timing.rest.value_or(0));
        CHECK(c.precision->time_limit_s <= (!entry->timing.rest ? 0.1 : 1));
      }
      CHECK(c.opponents.size() == entry->opponents.size());
      REQUIRE(c.counters.size() == entry->counters.size());
      for (const CounterRequest& asked : c.counters) {
        CAPTURE(asked.role);
        const auto read = std::ranges::find(entry->counters, asked.role, &Counter::role);
        REQUIRE(read != entry->counters.end());
        // A recording may be older than an expectation.
        if (read->expected) CHECK(asked.expected == read->expected);
      }
      for (const auto& [extra, value] : c.extras) CHECK(entry->extras.at(extra) == value);
      for (const char* extra : {"published_peak_FLOP_per_s", "tile_read_sectors", "own_path"})
        CHECK(c.extras.contains(extra) == entry->extras.contains(extra));
      for (const char* note : {"idea", "parent"})
        CHECK(c.notes.contains(note) == entry->notes.contains(note));
      if (c.notes.contains("parent")) CHECK(c.notes.at("parent") == entry->notes.at("parent"));
    }
  }
}

TEST_CASE("a GPU is not given what it is too small or too slow for", "[gemm]") {
  DeviceFacts gpu = hopper();
  gpu.sm_clock_max_hz = 1980e6;
  gpu.memory_bytes = 24ull << 30;
  // On a hundredth of the units fp32 at 4096³ takes 0.2 s at the peak.
  for (const auto& [sms, name, is_asked] :
       {std::tuple{132, "fp64/08_late_reads/NN/12288x12288x12288/sizes", false},
        {132, "fp64/08_late_reads/NN/8192x8192x8192/sizes", true},
        {1, "fp32/row_major/01_naive/NN/1024x1024x1024", true},
        {1, "fp32/row_major/01_naive/NN/4096x4096x4096", false},
        {1, "tf32/03_large_clusters/NN/4096x4096x4096", true},
        {1, "tf32/03_large_clusters/NN/4096x4096x4096/tiles", false}}) {
    CAPTURE(sms, name);
    gpu.sms = sms;
    CHECK(names_of(cases_of(gpu)).contains(name) == is_asked);
  }
  // What takes long even at the peak is not asked for two dozen samples of each side.
  gpu.sms = 20;
  for (const Case& c : cases_of(gpu)) {
    if (c.name == "fp64/08_late_reads/NN/8192x8192x8192") CHECK(c.precision->min_samples == 6);
    if (c.name == "fp64/08_late_reads/NN/4096x4096x4096") CHECK(c.precision->min_samples == 24);
  }
  // Whoever asks for a product gets it.
  gpu.sms = 1;
  const Request asked =
      read_request({{"m", std::int64_t{16384}}, {"rung", std::string("fp32/row_major/01_naive")}});
  CHECK(cases_of(gpu, asked).size() == 1);
}

TEST_CASE("every class that a GPU runs has a contender there, with sizes, tiles and lasting load",
          "[gemm]") {
  std::string all;
  for (const int capability : {75, 80, 120}) {
    DeviceFacts device;
    device.major = capability / 10;
    device.minor = capability % 10;
    for (const char* part : {"contest", "sizes", "tiles", "sustained"}) {
      std::set<std::string> rungs;
      for (const Case& c : cases_of(device))
        if (axis(c, "part") == part) rungs.insert(" " + axis(c, "type") + "/" + axis(c, "rung"));
      all += fmt::format("{} {}:{}\n", capability, part, fmt::join(rungs, ""));
    }
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/contenders.txt", all);
  // What a rung is does not depend on what else was asked for.
  DeviceFacts ampere;
  ampere.major = 8;
  const Request asked = read_request({{"rung", std::string("fp16/03_mma_sync")}});
  for (const Case& c : cases_of(ampere, asked)) CHECK(axis(c, "part") == "ladder");
}

TEST_CASE("the command line asks for rungs and products", "[gemm]") {
  const Request all = read_request({});
  CHECK(all.wants(*find_rung("fp32/row_major/01_naive")));
  CHECK_FALSE(all.problem.has_value());
  CHECK(all.notes.empty());
  CHECK_THAT(read_request({{"autotune", std::int64_t{1}}}).notes.at(0),
             contains("--autotune has nothing to add"));
  const Request two = read_request(
      {{"rung", std::string("fp32/row_major/01_naive,fp32/row_major/03_shared_memory")}});
  CHECK(two.wants(*find_rung("fp32/row_major/03_shared_memory")));
  CHECK_FALSE(two.wants(*find_rung("fp32/row_major/02_coalesced")));
  CHECK_FALSE(
      read_request({{"type", std::string("fp64")}}).wants(*find_rung("fp32/row_major/01_naive")));
  const Request product = read_request({{"m", std::int64_t{100}},
                                        {"k", std::int64_t{0}},
                                        {"transa", std::string("t")},
                                        {"lda", std::int64_t{7}},
                                        {"alpha", 0.5},
                                        {"type", std::string("fp32")}});
  REQUIRE(product.problem.has_value());
  CHECK((product.problem->m == 100 && product.problem->n == 4096 && product.problem->k == 0));
  CHECK((product.problem->lda == 7 && product.problem->alpha == 0.5));
  CHECK(product.problem->transa == Transpose::yes);
  // Integers take no half, whoever else is asked for does.
  CHECK(read_request({{"alpha", 0.5}, {"type", std::string("fp64")}}).problem->of == Class::fp64);
  CHECK_NOTHROW(read_request({{"beta", 2.0}, {"type", std::string("int8")}}));
}

TEST_CASE("rungs that were asked for and do not run here are named", "[gemm]") {
  DeviceFacts ampere;
  ampere.major = 8;
  ampere.minor = 6;
  const auto refusal = [&](const OptionValues& values) -> std::string {
    const Refusal refused = refusal_of([&] { ladder_cases(ampere, read_request(values)); });
    CHECK((refused.text.empty() || refused.code == ExitCode::bad_input));
    return refused.text;
  };
  CHECK(refusal({{"rung", std::string("fp32/row_major/01_naive")}}).empty());
  CHECK(refusal({{"rung", std::string("fp32/row_major/01_naive,bf16/05_wgmma")}}) ==
        "The rung bf16/05_wgmma runs on compute capability 9.0 only, and this GPU has 8.6: take "
        "others.");
  CHECK(refusal({{"type", std::string("fp8")}}) ==
        "No rung of this type runs on compute capability 8.6: take another.");
}

TEST_CASE("no peak is known without the clock, nor of a class that a GPU lacks", "[gemm]") {
  DeviceFacts gpu = hopper();
  CHECK_FALSE(arithmetic_peak(gpu, Class::bf16));
  gpu.sm_clock_max_hz = 1980e6;
  CHECK(arithmetic_peak(gpu, Class::bf16));
  gpu.major = 7, gpu.minor = 5;
  CHECK_FALSE(arithmetic_peak(gpu, Class::bf16));
}
