#include "probes/claims.h"
#include "probes/links/collectives.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::check_facts;
using planted::fact;
using namespace fathom::links;

namespace {

void add_surroundings(Entry& e, double gpus, double busy, double pairs, double nccl) {
  e.extras = {{"visible_gpus", gpus},
              {"busy_gpus", busy},
              {"pairs_with_access", pairs},
              {"nccl_version", nccl}};
}

Entry host(const char* memory, const char* engine, const char* direction, std::int64_t size,
           double value) {
  Entry e =
      planted::entry(std::string("host/") + memory + engine + direction + std::to_string(size),
                     {{"link", "host"},
                      {"memory", memory},
                      {"engine", engine},
                      {"direction", direction},
                      {"size", size}},
                     value);
  e.bound = Bound{63e9, "planted"};
  add_surroundings(e, 1, 0, 0, 0);
  return e;
}

Entry peer(std::int64_t from, std::int64_t to, double value, const char* engine = "copy engine",
           const char* path = "peer access") {
  Entry e = planted::entry(
      std::string("peer/") + engine + std::to_string(from) + "to" + std::to_string(to),
      {{"link", "peer"},
       {"engine", engine},
       {"direction", "one way"},
       {"from GPU", from},
       {"to GPU", to},
       {"path", path}},
      value);
  add_surroundings(e, 3, 0, 6, 22809);
  return e;
}

}  // namespace

TEST_CASE("a machine of one GPU says that it is one", "[probes]") {
  const std::vector<Entry> entries{host("pinned", "copy engine", "to GPU", 256 << 20, 55e9)};
  const Findings findings = links::conclude(entries);
  for (const char* id : {"peer.bandwidth", "peer.bidirectional_bandwidth", "peer.sm_load_bandwidth",
                         "nccl.all_reduce_bus_bandwidth", "nccl.all_to_all_bus_bandwidth"}) {
    CAPTURE(id);
    CHECK(fact(findings.facts, id).reason.starts_with("one GPU"));
  }
  for (const View& view : findings.views) CHECK(view.kind != View::Kind::heat_map);
}

TEST_CASE("pairs are summed up by their median, and why some lack is said", "[probes]") {
  const std::vector<Entry> entries{peer(0, 1, 300e9), peer(1, 0, 400e9), peer(0, 2, 410e9),
                                   peer(2, 0, 420e9), peer(1, 2, 430e9), peer(2, 1, 440e9)};
  const Findings findings = links::conclude(entries);
  check_facts(findings.facts);
  const Fact& pairs = fact(findings.facts, "peer.bandwidth");
  CHECK(*pairs.value == Approx(415e9));
  CHECK(pairs.evidence.size() == 6);
  CHECK_THAT(pairs.method, contains("300 GB/s to 440 GB/s") && !contains("through the host"));
  CHECK(std::ranges::count(findings.views, View::Kind::heat_map, &View::kind) == 1);
}

TEST_CASE("no peer access, no NCCL and GPUs in use are reasons of their own", "[probes]") {
  std::vector<Entry> entries{peer(0, 1, 20e9, "copy engine", "through the host")};
  add_surroundings(entries[0], 2, 0, 0, 0);
  const auto facts = links::conclude(entries).facts;
  CHECK_THAT(fact(facts, "peer.bandwidth").method, contains("through the host"));
  CHECK_THAT(fact(facts, "peer.sm_load_bandwidth").reason, contains("cudaDeviceCanAccessPeer"));
  for (const char* hint : {"libnccl.so.2", "install libnccl2", "FATHOM_NCCL_LIBRARY"})
    CHECK_THAT(fact(facts, "nccl.all_reduce_bus_bandwidth").reason, contains(hint));
  std::vector<Entry> busy{host("pinned", "copy engine", "to GPU", 256 << 20, 55e9)};
  add_surroundings(busy[0], 4, 3, 0, 0);
  CHECK_THAT(fact(links::conclude(busy).facts, "peer.bandwidth").reason,
             contains("another Fathom"));
}

TEST_CASE("collectives name NCCL's version and the best size", "[probes]") {
  std::vector<Entry> entries;
  for (const auto& [size, value] : {std::pair{1 << 20, 50e9}, {256 << 20, 350e9}}) {
    Entry e = planted::entry("nccl/" + std::to_string(size),
                             {{"link", "NCCL"},
                              {"collective", "all-reduce"},
                              {"GPUs", std::int64_t{4}},
                              {"size", std::int64_t{size}}},
                             value);
    add_surroundings(e, 4, 0, 12, 22809);
    entries.push_back(e);
  }
  // When they were queued, the rate of a size is another's.
  entries.push_back(entries.back());
  entries.back().name = "nccl/queued";
  entries.back().axes[0] = {"link", "NCCL, queued"};
  entries.back().metric.value = 400e9;
  const Findings findings = links::conclude(entries);
  CHECK(std::ranges::count_if(
            findings.views, [](const View& view) { return view.y_label == "Bus bandwidth"; }) == 2);
  const Fact& best = fact(findings.facts, "nccl.all_reduce_bus_bandwidth");
  CHECK(*best.value == 350e9);
  CHECK_THAT(best.method, contains("2.28.9") && contains("256 MiB"));
}

// nccl-tests, doc/PERFORMANCE.md, for 4 ranks.
TEST_CASE("bus bandwidth follows nccl-tests", "[probes]") {
  CHECK(bus_factor(Collective::all_reduce, 4) == Approx(1.5));
  CHECK(bus_factor(Collective::all_gather, 4) == Approx(0.75));
  CHECK(bus_factor(Collective::reduce_scatter, 4) == Approx(0.75));
  CHECK(bus_factor(Collective::all_to_all, 4) == Approx(0.75));
  CHECK(bus_factor(Collective::broadcast, 4) == Approx(1));
  CHECK(bus_factor(Collective::send_receive, 4) == Approx(1));  // src/sendrecv.cu
  CHECK(bus_factor(Collective::all_reduce, 2) == Approx(1));
}
