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
struct NamedCollective {
  Collective collective;
  const char* name;  ///< "all-reduce"
  const char* id;    ///< in a fact's id: "all_reduce"
};
inline constexpr NamedCollective collectives[] = {
    {Collective::all_reduce, "all-reduce", "all_reduce"},
    {Collective::all_gather, "all-gather", "all_gather"},
    {Collective::reduce_scatter, "reduce-scatter", "reduce_scatter"},
    {Collective::broadcast, "broadcast", "broadcast"},
    {Collective::all_to_all, "all-to-all", "all_to_all"},
    {Collective::send_receive, "send and receive", "send_receive"}};

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
