// The whole metric catalogue against CUPTI's host API, which needs no GPU.

#include "harness/counters/catalogue.h"
#include "harness/counters/cupti_library.h"
#include "harness/counters/metric_host.h"
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

TEST_CASE("a role that is unavailable on a chip is really rejected there", "[counters]") {
  int unavailable = 0;
  for (const std::string& chip : chips()) {
    for (const Role& role : roles()) {
      const CatalogueEntry entry = find_metric(role.name, chip);
      if (entry.available()) continue;
      ++unavailable;
      CAPTURE(chip, role.name, entry.reason);
      CHECK(entry.metric.empty());
      CHECK(entry.reason.find("unavailable on " + chip + ": ") == 0);
      MetricHost host(chip);
      CHECK(host.schedule({find_metric(role.name, "GH100").metric}).size() == 1);
    }
  }
  CHECK(unavailable > 0);
}

TEST_CASE("all roles that a chip has are accepted there, together, and no name that it lacks",
          "[counters]") {
  const std::string unknown = "l1tex__t_sectors_pipe_lsu_mem_global_op_teleport.sum";
  for (const std::string& chip : chips()) {
    CAPTURE(chip);
    MetricHost host(chip);
    std::vector<std::string> metrics;
    for (const Role& role : roles()) {
      const CatalogueEntry entry = find_metric(role.name, chip);
      if (entry.available()) metrics.push_back(entry.metric);
    }
    metrics.insert(metrics.begin() + 1, unknown);
    CHECK(host.schedule(metrics) == std::vector{unknown});
    std::erase(metrics, unknown);
    CHECK(host.metrics() == metrics);
    const auto image = host.config_image();
    const std::size_t passes = MetricHost::passes(image);
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
  for (const std::string& name : stall_roles()) CHECK(names.contains(name));
  CHECK_THROWS_AS(role("global_teleport_sectors"), Error);
  CHECK_THROWS_AS(find_metric("global_teleport_sectors", "GH100"), Error);
}

TEST_CASE("names that the claims quote", "[counters]") {
  CHECK(find_metric("global_load_sectors", "GH100").metric ==
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  CHECK(find_metric("dram_read_bytes", "GH100").metric == "dram__bytes_read.sum");
  CHECK(find_metric("dram_read_bytes", "GB202").metric == "dram__bytes_op_read.sum");
  CHECK_FALSE(find_metric("dram_read_bytes", "GA10B").available());
  CHECK_FALSE(find_metric("stall_gmma", "AD102").available());
  // A chip that came after the catalogue gets the usual name.
  CHECK(find_metric("dram_read_bytes", "ZZ999").metric == "dram__bytes_read.sum");
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
          metrics.push_back(find_metric(space + op + figure, chip).metric);
        }
        MetricHost host(chip);
        CHECK(host.schedule(metrics).empty());
        CHECK(MetricHost::passes(host.config_image()) <= most);
      }
    }
  }
}
