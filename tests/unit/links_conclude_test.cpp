#include "probes/claims.h"
#include "probes/links/collectives.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using planted::fact;
using namespace fathom::links;

// One GPU, several and their collectives: the recordings (recording_conclude_test.cpp).
TEST_CASE("no peer access, no NCCL and GPUs in use are reasons of their own", "[probes]") {
  const auto facts_of = [](Axes axes, double gpus, double busy) {
    Entry e = planted::entry("entry", std::move(axes), 20e9);
    e.extras = {
        {"visible_gpus", gpus}, {"busy_gpus", busy}, {"pairs_with_access", 0}, {"nccl_version", 0}};
    return links::conclude(std::vector{e}).facts;
  };
  const auto facts = facts_of({{"link", "peer"},
                               {"engine", "copy engine"},
                               {"direction", "one way"},
                               {"from GPU", std::int64_t{0}},
                               {"to GPU", std::int64_t{1}},
                               {"path", "through the host"}},
                              2, 0);
  CHECK_THAT(fact(facts, "peer.bandwidth").method, contains("through the host"));
  CHECK_THAT(fact(facts, "peer.sm_load_bandwidth").reason, contains("cudaDeviceCanAccessPeer"));
  for (const char* hint : {"libnccl.so.2", "install libnccl2", "FATHOM_NCCL_LIBRARY"})
    CHECK_THAT(fact(facts, "nccl.all_reduce_bus_bandwidth").reason, contains(hint));
  CHECK_THAT(fact(facts_of({{"link", "host"}}, 4, 3), "peer.bandwidth").reason,
             contains("another Fathom"));
}

// nccl-tests, doc/PERFORMANCE.md, for 4 ranks.
TEST_CASE("bus bandwidth follows nccl-tests", "[probes]") {
  using enum Collective;
  for (const auto& [collective, ranks, factor] : {std::tuple{all_reduce, 4, 1.5},
                                                  {all_gather, 4, 0.75},
                                                  {reduce_scatter, 4, 0.75},
                                                  {all_to_all, 4, 0.75},
                                                  {broadcast, 4, 1.0},
                                                  {send_receive, 4, 1.0},  // src/sendrecv.cu
                                                  {all_reduce, 2, 1.0}})
    CHECK(bus_factor(collective, ranks) == Approx(factor));
}
