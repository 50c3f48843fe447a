#pragma once

namespace fathom::links {

/// What both the cases and the conclusions know of the collectives.
enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive  ///< each rank sends to the next one and receives from the one before it
};
inline constexpr Collective collectives[] = {Collective::all_reduce,     Collective::all_gather,
                                             Collective::reduce_scatter, Collective::broadcast,
                                             Collective::all_to_all,     Collective::send_receive};

struct CollectiveNames {
  const char* name;  ///< "all-reduce"
  const char* id;    ///< in a fact's id: "all_reduce"
};
constexpr CollectiveNames names_of(Collective collective) {
  constexpr CollectiveNames names[] = {
      {"all-reduce", "all_reduce"},         {"all-gather", "all_gather"},
      {"reduce-scatter", "reduce_scatter"}, {"broadcast", "broadcast"},
      {"all-to-all", "all_to_all"},         {"send and receive", "send_receive"}};
  return names[static_cast<int>(collective)];
}

constexpr int rank_before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }

/// Bus bandwidth over algorithm bandwidth (size over time), which makes it comparable with a
/// link's: nccl-tests, doc/PERFORMANCE.md. The size is that of the whole: of all ranks' shares
/// together where each sends or receives one of `ranks`.
constexpr double bus_factor(Collective collective, int ranks) {
  const double others = ranks - 1.0;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * others / ranks;
    case Collective::broadcast:
    case Collective::send_receive:
      return 1;
    default:
      return others / ranks;
  }
}

}  // namespace fathom::links
