// What is measured of a ladder, and how well.

#include "gemm/bench/cases.h"
#include "gemm/bench/request.h"
#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
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

TEST_CASE("a case says what it is measured for, and what is known of it", "[gemm]") {
  const auto cases = cases_of(hopper());
  const auto named = [&](const std::string& name) -> const Case& {
    CAPTURE(name);
    const auto found = std::ranges::find(cases, name, &Case::name);
    REQUIRE(found != cases.end());
    return *found;
  };
  // The claim on wmma has a case of its own.
  const Case& wmma = named("fp16/02_wmma_shared/NN/8192x8192x8192");
  CHECK(axis(wmma, "part") == "claim");
  const auto alpha = std::ranges::find(wmma.axes, "alpha", &Axes::value_type::first);
  CHECK(std::get<double>(alpha->second) == 0.5);
  CHECK(wmma.extras.at("published_peak_FLOP_per_s") == 989.5e12);
  // A lesson goes on from another.
  const auto parent = [&](const std::string& rung) {
    return named("fp32/" + rung + "/NN/4096x4096x4096").notes.at("parent");
  };
  CHECK(parent("row_major/07_padded") == "row_major/05_tile_2d");
  CHECK(parent("column_major/01_naive") == "none");
  CHECK_FALSE(named("fp32/26_sliced_depth/NN/4096x4096x4096").notes.contains("parent"));
  // A tile's sectors are told but where nobody knows yet which tile it will be.
  const auto extras = [&](const std::string& rung) {
    return named("fp32/row_major/" + rung + "/NN/4096x4096x4096").extras;
  };
  CHECK(extras("09_vectorised").at("tile_read_sectors") == 4096.0 * 4096 * 4096 / 64 / 8);
  CHECK_FALSE(extras("10_autotuned").contains("tile_read_sectors"));
  // The last contenders are timed in the layouts that the ladder is not in.
  std::map<std::string, std::set<std::string>> layouts;  // of each rung
  for (const Case& c : cases) {
    if (axis(c, "part") != "layouts") continue;
    CHECK(c.name.ends_with("/4096x4096x4096/layouts"));
    layouts[axis(c, "type") + "/" + axis(c, "rung")].insert(axis(c, "layout"));
    CHECK((c.precision->time_limit_s <= 0.3 && c.precision->rest == 2));
    CHECK(c.counters.empty());
  }
  CHECK(layouts.size() == 9);
  CHECK(layouts.at("fp32/26_sliced_depth") == std::set<std::string>{"NT", "TN", "TT"});
  CHECK(layouts.at("int8/01_wgmma") == std::set<std::string>{"NN", "NT", "TT"});
  CHECK(layouts.contains("fp8/01_promoted"));
}

TEST_CASE("a GPU is not given what it is too small or too slow for", "[gemm]") {
  DeviceFacts gpu = hopper();
  gpu.sm_clock_max_hz = 1980e6;
  gpu.memory_bytes = 141ull << 30;
  const auto of_h200 = names_of(cases_of(gpu));
  for (const char* largest : {"fp64/08_late_reads/NN/16384x16384x16384/sizes",
                              "fp32/26_sliced_depth/NN/16384x16384x16384/sizes"})
    CHECK(of_h200.contains(largest));
  gpu.memory_bytes = 24ull << 30;
  const auto of_small = names_of(cases_of(gpu));
  CHECK_FALSE(of_small.contains("fp64/08_late_reads/NN/12288x12288x12288/sizes"));
  CHECK(of_small.contains("fp64/08_late_reads/NN/8192x8192x8192/sizes"));
  // A hundredth of the units: fp32 at 4096³ takes 0.2 s at the peak.
  gpu.sms = 1;
  const auto of_slow = names_of(cases_of(gpu));
  CHECK(of_slow.contains("fp32/row_major/01_naive/NN/1024x1024x1024"));
  CHECK_FALSE(of_slow.contains("fp32/row_major/01_naive/NN/4096x4096x4096"));
  CHECK(of_slow.contains("tf32/03_large_clusters/NN/4096x4096x4096"));
  CHECK_FALSE(of_slow.contains("tf32/03_large_clusters/NN/4096x4096x4096/tiles"));
  // Whoever asks for a product gets it.
  const Request asked =
      read_request({{"m", std::int64_t{16384}}, {"rung", std::string("fp32/row_major/01_naive")}});
  CHECK(cases_of(gpu, asked).size() == 1);
}

TEST_CASE("the sweep has every rung that the GPU runs, and contenders where they must win",
          "[gemm]") {
  DeviceFacts device = hopper();
  const auto cases = cases_of(device);
  const auto names = names_of(cases);
  for (const Case& c : cases) CHECK(c.prepare);
  CHECK(std::ranges::any_of(names, [](const std::string& name) {
    return name.find("4095x4095x4095") != std::string::npos;
  }));
  // Eight seconds each: of rungs that are held against the same library the last.
  CHECK(std::ranges::count_if(names, [](const std::string& name) {
          return name.starts_with("fp32/") && name.ends_with("/sustained");
        }) == 1);
  // In the layout in which the rung's own kernel and the library's are timed, and a lesson in one
  // that its own kernel takes.
  for (const char* name :
       {"fp32/26_sliced_depth/NN/4096x4096x4096/sustained",
        "fp16/15_deferred_stores/NN/8192x8192x8192/sustained",
        "fp8/01_promoted/TN/4096x4096x4096/sustained",
        "fp8/02_fast_accumulation/TN/4096x4096x4096/sustained",
        "int8/01_wgmma/TN/4096x4096x4096/sustained", "int8/01_wgmma/TN/128x8192x8192",
        "fp32/row_major/01_naive/NN/4096x4096x4096", "tf32/along_k/01_wgmma/TN/4096x4096x4096",
        "tf32/03_large_clusters/NN/4096x4096x4096", "fp8/along_k/02_promoted/TN/4096x4096x4096",
        "fp32/26_sliced_depth/NN/16x8192x8192"}) {
    CAPTURE(name);
    CHECK(names.contains(name));
  }
  CHECK_FALSE(names.contains("fp32/row_major/16_wide_thread_tile/NN/128x8192x8192"));
  for (const char* of_the_top :
       {"256x256x256/sizes", "16384x16384x16384/sizes", "4112x4096x4096/tiles"}) {
    CAPTURE(of_the_top);
    CHECK(std::ranges::count_if(names, [&](const std::string& name) {
            return name.starts_with("fp32/") && name.ends_with(of_the_top);
          }) == 1);
  }
  for (const Case& c : cases) {
    if (c.name.ends_with("/sizes") || c.name.ends_with("/tiles")) CHECK(c.opponents.size() <= 1);
    CHECK(c.notes.contains("idea") == (axis(c, "part") == "ladder"));
  }
  device.major = 7;
  device.minor = 5;
  for (const Case& c : cases_of(device)) CHECK_THAT(c.name, !contains("async"));
}

TEST_CASE("every class that a GPU runs has a contender there, with sizes, tiles and lasting load",
          "[gemm]") {
  // The rungs of each class that contend, and under lasting load.
  using Found = std::map<std::string, std::set<std::string>>;
  const auto found_on = [](int major, int minor, const char* part) {
    DeviceFacts device;
    device.major = major;
    device.minor = minor;
    Found found;
    for (const Case& c : cases_of(device))
      if (axis(c, "part") == part) found[axis(c, "type")].insert(axis(c, "rung"));
    return found;
  };
  const Found of_ampere{{"fp32", {"row_major/16_wide_thread_tile"}},
                        {"fp64", {"03_tensor_cores"}},
                        {"fp16", {"04_multistage"}},
                        {"bf16", {"04_multistage"}}};
  Found of_blackwell = of_ampere;
  of_blackwell["fp64"] = {"04_wide_products"};
  for (const char* part : {"contest", "sizes", "tiles", "sustained"}) {
    CAPTURE(part);
    CHECK(found_on(8, 0, part) == of_ampere);
    CHECK(found_on(12, 0, part) == of_blackwell);
  }
  const Found turing = found_on(7, 5, "contest");
  CHECK(turing.at("fp32") == std::set<std::string>{"row_major/14_registers_buffered"});
  CHECK_FALSE(turing.contains("tf32"));
  // Where a class has contenders of its own, no other stands in.
  const Found hopper = found_on(9, 0, "contest");
  CHECK(hopper.at("fp32") == std::set<std::string>{"26_sliced_depth"});
  CHECK(hopper.at("fp64") == std::set<std::string>{"08_late_reads"});
  CHECK(hopper.at("bf16") == std::set<std::string>{"15_deferred_stores"});
  // What a rung is does not depend on what else was asked for.
  DeviceFacts ampere;
  ampere.major = 8;
  const Request asked = read_request({{"rung", std::string("fp16/03_mma_sync")}});
  for (const Case& c : cases_of(ampere, asked)) CHECK(axis(c, "part") == "ladder");
}

TEST_CASE("every rung of a ladder rests as long before a sample, and points of a curve do not",
          "[gemm]") {
  DeviceFacts device = hopper();
  device.sm_clock_max_hz = 1980e6;
  for (const Case& c : cases_of(device)) {
    CAPTURE(c.name);
    if (std::holds_alternative<SustainedLoad>(c.mode) || axis(c, "rung") == "cuBLAS") continue;
    const bool of_curve = c.name.ends_with("/sizes") || c.name.ends_with("/tiles");
    CHECK(c.precision->rest == (of_curve ? 0 : 2));
    const Rung* rung = find_rung(axis(c, "type") + "/" + axis(c, "rung"));
    const bool contender = !c.opponents.empty() || (rung != nullptr && rung->contender);
    CHECK(c.precision->time_limit_s <= (contender && !of_curve ? 1 : 0.1));
  }
  // What takes long even at the peak is not asked for two dozen samples of each side.
  device.sms = 20;
  for (const Case& c : cases_of(device)) {
    if (c.name == "fp64/08_late_reads/NN/8192x8192x8192") CHECK(c.precision->min_samples == 6);
    if (c.name == "fp64/08_late_reads/NN/4096x4096x4096") CHECK(c.precision->min_samples == 24);
  }
}
