#include <fmt/format.h>

#include <algorithm>

#include "harness/cuda_check.h"
#include "probes/links/cases.h"
#include "probes/links/collectives.h"

// Collectives of NCCL over all GPUs that this process may use, one rank on each, out of place.

namespace fathom::links {
namespace {

/// Connected by the first case that needs it.
using LazyRanks = std::shared_ptr<std::shared_ptr<Communicators>>;

/// Operations in one launch, one behind the other: enough to hide what the host takes to start the
/// first, as nccl-tests has its iterations.
int operations_per_launch(std::size_t bytes) {
  constexpr std::size_t enough_bytes = std::size_t{1} << 30;
  return static_cast<int>(std::clamp<std::size_t>(enough_bytes / bytes, 4, 32));
}

int rank_before(int rank, int ranks) { return (rank + ranks - 1) % ranks; }

/// One rank's part of a collective; all counts in words. `whole`: nccl-tests' size S.
void call(Collective collective, const Communicators& ranks, int rank, const Node& node,
          std::size_t whole) {
  const std::size_t share = whole / ranks.ranks();
  cudaStream_t stream = node.stream();
  switch (collective) {
    case Collective::all_reduce:
      return ranks.all_reduce(rank, node.sent(), node.received(), whole, stream);
    case Collective::all_gather:
      return ranks.all_gather(rank, node.sent(), node.received(), share, stream);
    case Collective::reduce_scatter:
      return ranks.reduce_scatter(rank, node.sent(), node.received(), share, stream);
    case Collective::broadcast:
      return ranks.broadcast(rank, node.sent(), node.received(), whole, stream);
    case Collective::send_receive:
      ranks.send(rank, node.sent(), whole, (rank + 1) % ranks.ranks(), stream);
      return ranks.receive(rank, node.received(), whole, rank_before(rank, ranks.ranks()), stream);
    case Collective::all_to_all:
      for (int peer = 0; peer < ranks.ranks(); ++peer) {
        ranks.send(rank, node.sent() + peer * share, share, peer, stream);
        ranks.receive(rank, node.received() + peer * share, share, peer, stream);
      }
  }
}

/// Words of a rank's result that are not what they must be.
std::uint64_t wrong_words(Collective collective, int ranks, int rank, const Node& node,
                          std::size_t whole) {
  const std::size_t share = whole / ranks;
  const auto all = static_cast<std::uint32_t>(ranks);
  switch (collective) {
    case Collective::all_reduce:
      return node.wrong_words(node.received(), whole, {0, all, 0});
    case Collective::reduce_scatter:
      return node.wrong_words(node.received(), share, {0, all, rank * share});
    case Collective::broadcast:
      return node.wrong_words(node.received(), whole, {0, 1, 0});
    case Collective::send_receive:
      return node.wrong_words(node.received(), whole,
                              {static_cast<std::uint32_t>(rank_before(rank, ranks)), 1, 0});
    default:
      break;
  }
  std::uint64_t wrong = 0;
  for (std::uint32_t from = 0; from < all; ++from) {
    const std::size_t first = collective == Collective::all_to_all ? rank * share : 0;
    wrong += node.wrong_words(node.received() + from * share, share, {from, 1, first});
  }
  return wrong;
}

Workload nccl_workload(Context& context, const SharedMachine& machine, const LazyRanks& lazy,
                       Collective collective, std::size_t whole) {
  const std::vector<int>& gpus = machine->gpus.usable();
  std::vector<const Node*> nodes;
  for (const int gpu : gpus) nodes.push_back(&machine->gpus.node(gpu));
  if (*lazy == nullptr) *lazy = machine->nccl->connect(gpus);
  const std::shared_ptr<Communicators> ranks = *lazy;
  cudaStream_t stream = context.stream();
  const auto fork = std::make_shared<Event>(make_order_event());
  const int operations = operations_per_launch(whole * 4);

  Workload workload;
  // NCCL may set connections up, and wait for it, whenever it is called.
  workload.host_paced = true;
  workload.launch = [=] {
    FATHOM_CUDA(cudaEventRecord(fork->get(), stream));
    for (const Node* node : nodes) node->wait_for(fork->get());
    for (int i = 0; i < operations; ++i) {
      ranks->group([&] {
        for (int rank = 0; rank < ranks->ranks(); ++rank) {
          call(collective, *ranks, rank, *nodes[rank], whole);
        }
      });
    }
    for (const Node* node : nodes) node->make_wait(stream);
  };
  workload.poison = [=] {
    FATHOM_CUDA(cudaStreamSynchronize(stream));
    for (const Node* node : nodes) node->poison(whole * 4);
  };
  workload.verify = [=]() -> std::optional<std::string> {
    for (int rank = 0; rank < ranks->ranks(); ++rank) {
      const std::uint64_t wrong =
          wrong_words(collective, ranks->ranks(), rank, *nodes[rank], whole);
      if (wrong > 0) return fmt::format("{} words of rank {} are wrong", wrong, rank);
    }
    return std::nullopt;
  };
  return workload;
}

/// The least of all GPUs' NVLinks; nothing where one has none, or the switches may do a part of the work.
std::optional<Bound> ranks_bound(const Machine& machine) {
  if (machine.nccl->may_reduce_in_switches()) return std::nullopt;
  std::optional<Bound> least;
  for (const int gpu : machine.gpus.usable()) {
    const std::optional<Bound> bound = machine.gpus.nvlink_bound(gpu);
    if (!bound) return std::nullopt;
    if (!least || bound->value < least->value) least = bound;
  }
  return least;
}

Case nccl_case(const SharedMachine& machine, const LazyRanks& lazy, Collective collective,
               std::size_t bytes) {
  const int ranks = static_cast<int>(machine->gpus.usable().size());
  const std::size_t whole = bytes / 4 / ranks * ranks;
  const CollectiveNames names = names_of(collective);
  Case c = transfer_case(
      fmt::format("nccl/{}/{}", names.name, bytes),
      {{"link", "NCCL"},
       {"collective", names.name},
       {"GPUs", std::int64_t{ranks}},
       {"size", static_cast<std::int64_t>(whole * 4)}},
      bus_factor(collective, ranks) * static_cast<double>(whole) * 4 * operations_per_launch(whole * 4),
      *machine);
  c.metric.name = "bus_bandwidth";
  c.bound = ranks_bound(*machine);
  c.precision = bytes == largest_bytes ? headline_precision : curve_precision;
  c.suite = bytes == largest_bytes && collective == Collective::all_reduce ? Suite::quick
                                                                           : Suite::standard;
  c.prepare = [=](Context& context) {
    return nccl_workload(context, machine, lazy, collective, whole);
  };
  return c;
}

}  // namespace

std::vector<Case> nccl_cases(const SharedMachine& machine) {
  std::vector<Case> cases;
  if (!machine->nccl || !machine->nccl->available()) return cases;
  const auto lazy = std::make_shared<std::shared_ptr<Communicators>>();
  for (const Collective collective : collectives) {
    for (const std::size_t bytes : sizes()) {
      cases.push_back(nccl_case(machine, lazy, collective, bytes));
    }
  }
  return cases;
}

}  // namespace fathom::links
