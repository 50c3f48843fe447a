#include "fleet/fleet.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::fleet;

namespace {

struct Job {
  const char *host, *machine, *uuid_hash;
  int gpu;
  const char* date = "2026-01-01T00:00:00Z";
};

Fleet fleet_of(const std::vector<Job>& jobs) {
  FleetBuilder builder;
  for (const Job& job : jobs) {
    GpuSummary summary;
    summary.host = job.host;
    summary.machine = job.machine;
    summary.uuid_hash = job.uuid_hash;
    summary.gpu = job.gpu;
    summary.date = job.date;
    builder.add(std::move(summary), "");
  }
  return builder.finish({});
}

std::map<std::string, std::string> hosts_by_gpu(const Fleet& fleet) {
  std::map<std::string, std::string> hosts;
  for (const FleetGpu& gpu : fleet.gpus) hosts[gpu.summary.uuid_hash] += gpu.summary.host;
  return hosts;
}

using Hosts = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("Machines of one name are numbered, and it is told", "[fleet]") {
  const Fleet fleet = fleet_of({{"localhost", "x", "c", 1},
                                {"localhost", "y", "a", 0},
                                {"localhost", "y", "b", 2},
                                {"localhost-2", "z", "d", 0}});
  CHECK(hosts_by_gpu(fleet) ==
        Hosts{{"a", "localhost"}, {"b", "localhost"}, {"c", "localhost-3"}, {"d", "localhost-2"}});
  CHECK(fleet.hosts() == 3);
  REQUIRE(fleet.problems.size() == 1);
  CHECK(fleet.problems.front().what == "host localhost");
  CHECK(fleet.problems.front().exit_code == 0);
}

TEST_CASE("A machine that joins later changes no name", "[fleet]") {
  // Whatever its id and its GPUs' numbers are.
  const Fleet fleet = fleet_of({{"a", "x", "new", 0, "2026-03-01T00:00:00Z"},
                                {"a", "y", "first", 1, "2026-01-01T00:00:00Z"},
                                {"a", "y", "first's", 2, "2026-04-01T00:00:00Z"},
                                {"a", "w", "second", 3, "2026-02-01T00:00:00Z"},
                                {"a", "v", "failed", 0, ""}});
  CHECK(
      hosts_by_gpu(fleet) ==
      Hosts{
          {"first", "a"}, {"first's", "a"}, {"second", "a-2"}, {"new", "a-3"}, {"failed", "a-4"}});
}

TEST_CASE("What does not know its machine is of whoever has the name", "[fleet]") {
  const Fleet fleet = fleet_of({{"a", "", "1", 0}, {"a", "x", "2", 1}, {"a", "", "3", 2}});
  CHECK(fleet.hosts() == 1);
  CHECK(fleet.problems.empty());
}

TEST_CASE("A machine that was restarted is known by its GPUs", "[fleet]") {
  // Before the restart 1 and 2, after it 2 and 3; another one of the name has 4.
  const Fleet fleet = fleet_of({{"a", "before", "1", 0},
                                {"a", "before", "2", 1},
                                {"a", "after", "2", 1, "2026-01-02T00:00:00Z"},
                                {"a", "after", "3", 2},
                                {"a", "other", "4", 3}});
  CHECK(hosts_by_gpu(fleet) == Hosts{{"1", "a"}, {"2", "a"}, {"3", "a"}, {"4", "a-2"}});
}

TEST_CASE("GPUs of namesakes that failed before they were known stay two", "[fleet]") {
  const Fleet fleet = fleet_of({{"a", "x", "", 0}, {"a", "y", "", 0}});
  CHECK(fleet.gpus.size() == 2);
  CHECK(fleet.hosts() == 2);
}
