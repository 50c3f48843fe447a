// The whole metric catalogue against CUPTI's host API, which needs no GPU; finding CUPTI, and what
// its errors mean to a user.

#include <cupti_result.h>

#include "harness/counters/catalogue.h"
#include "harness/counters/cupti_library.h"
#include "harness/counters/range_profiler.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"

using namespace fathom;

namespace {

/// Those that CUPTI knows, but for Volta: CUDA 13 has no compiler for it.
std::vector<std::string> chips() {
  CUpti_Profiler_Host_GetSupportedChips_Params params{};
  params.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
  FATHOM_CUPTI(cuptiProfilerHostGetSupportedChips, params);
  std::vector<std::string> all(params.ppChipNames, params.ppChipNames + params.numChips);
  std::erase_if(all, [](const std::string& chip) { return chip.starts_with("GV"); });
  REQUIRE(all.size() > 15);
  return all;
}

}  // namespace

TEST_CASE("CUPTI knows the roles of each chip but for a few, and rejects those", "[counters]") {
  const std::string gone = "l1tex__t_sectors_pipe_lsu_mem_global_op_teleport.sum";
  for (const std::string& chip : chips()) {
    CAPTURE(chip);
    std::vector<std::string> metrics{gone};
    for (const Role& role : roles()) metrics.push_back(find_metric(role.name, chip));
    MetricHost host(chip);
    std::vector<std::string> rejected = host.schedule(metrics);
    // No asynchronous copies, no wgmma, no misses of constants apart, no memory of its own.
    for (const auto& [role, beginnings] :
         {std::pair{"global_async_copy_sectors", std::vector{"TU"}},
          {"stall_gmma", {"TU", "GA", "AD", "GB"}},
          {"stall_imc_miss", {"GB"}},
          {"dram_read_bytes", {"GA10B", "GB10B", "GB20B"}},
          {"dram_write_bytes", {"GA10B", "GB10B", "GB20B"}}})
      for (const char* beginning : beginnings)
        if (chip.starts_with(beginning)) CHECK(std::erase(rejected, find_metric(role, chip)) == 1);
    CHECK(rejected == std::vector{gone});
    std::erase_if(metrics, [&](const std::string& metric) {
      return std::ranges::count(host.metrics(), metric) == 0;
    });
    CHECK(host.metrics() == metrics);
    const std::size_t passes = MetricHost::passes(host.config_image());
    CHECK(passes >= 2);
    CHECK(passes < metrics.size() / 2);
  }
}

TEST_CASE("roles have one name and a unit", "[counters]") {
  std::set<std::string> names;
  for (const Role& role : roles()) {
    CAPTURE(role.name);
    CHECK(names.insert(role.name).second);
    CHECK_FALSE(role.unit.empty());
  }
  CHECK_THROWS_AS(role("global_teleport_sectors"), Error);
  CHECK_THROWS_AS(find_metric("global_teleport_sectors", "GH100"), Error);
}

TEST_CASE("one memory instruction is counted in two passes at most", "[counters]") {
  for (const std::string& chip : chips()) {
    CAPTURE(chip);
    for (const std::string op : {"load", "store"}) {
      for (const auto& [space, figures, most] :
           {std::tuple{"shared_", std::vector{"_wavefronts", "_conflicts", "_instructions"}, 1u},
            {"global_", std::vector{"_sectors", "_requests", "_instructions"}, 2u}}) {
        std::vector<std::string> metrics;
        for (const char* figure : figures) {
          metrics.push_back(find_metric(space + op + figure, chip));
        }
        MetricHost host(chip);
        CHECK(host.schedule(metrics).empty());
        CHECK(MetricHost::passes(host.config_image()) <= most);
      }
    }
  }
}

TEST_CASE("the toolkit's CUPTI is found", "[counters]") {
  // Not skipped without it: the build found its headers, so its library must be there too.
  const CuptiLibrary& library = cupti_library();
  CHECK(library.version / 10000 == CUPTI_API_VERSION / 10000);
  CHECK(library.cuptiProfilerHostInitialize != nullptr);
}

TEST_CASE("without a CUPTI the error says what to do and what was tried", "[counters]") {
  const auto refused = [](const char* library) {
    const Refusal refused = refusal_of([&] { load_cupti({library}); });
    CHECK(refused.code == ExitCode::counters_unavailable);
    return refused.text;
  };
  CHECK_THAT(refused("/nonexistent/libcupti.so.99"),
             contains("FATHOM_CUPTI_DIR") && contains("/nonexistent/libcupti.so.99"));
  // Another library is refused: the message names the CUPTI function that it lacks.
  CHECK_THAT(refused("libm.so.6"), contains("libm.so.6 (has no cupti"));
}

TEST_CASE("FATHOM_CUPTI_DIR is the only place searched when it is set", "[counters]") {
  const auto usual = cupti_search_path();
  Environment environment;
  environment.set("FATHOM_CUPTI_DIR", "/somewhere");
  const auto named = cupti_search_path();
  REQUIRE(named.size() == 1);
  CHECK(named.front().parent_path() == "/somewhere");
  CHECK(usual.size() > 3);
  // The loader's own search, before the usual places: what the user's environment says comes first.
  const auto loader =
      std::ranges::find_if(usual, [](const auto& file) { return !file.has_parent_path(); });
  REQUIRE(loader != usual.end());
  CHECK((loader + 1)->string().starts_with("/usr/local/cuda/"));
}

TEST_CASE("CUPTI's codes become problems, each with its sentence and exit code", "[counters]") {
  std::string all;
  for (const CUptiResult result :
       {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
        CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
        CUPTI_ERROR_INVALID_CHIP_NAME, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
        CUPTI_ERROR_NOT_COMPATIBLE, CUPTI_ERROR_UNKNOWN}) {
    const Refusal refused = refusal_of([&] { check_cupti(result, "cuptiSomething"); });
    all += fmt::format("{}: {}\n", to_int(refused.code), refused.text);
  }
  CHECK_NOTHROW(check_cupti(CUPTI_SUCCESS, "cuptiSomething"));
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/counter_problems.txt", all);
}

TEST_CASE("counters are active exactly while a session lives", "[counters]") {
  CHECK_FALSE(counters_active());
  {
    const CountersActive outer;
    CHECK(counters_active());
    { const CountersActive inner; }
    CHECK(counters_active());
  }
  CHECK_FALSE(counters_active());
}
