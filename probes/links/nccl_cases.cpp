#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

#include "harness/host_timer.h"
#include "probes/links/cases.h"
#include "results/error.h"

namespace fathom::links {
namespace {

constexpr int uint32_type = 3, sum = 0, first_rank = 0;
constexpr const char* nvls_variable = "NCCL_NVLS_ENABLE";
using Result = int;  // ncclResult_t; 0 is success

/// NCCL, loaded at run time. Values and signatures are those of NCCL's API reference (nccl.h,
/// unchanged since 2.7), reduced to what is called.
struct Nccl {
  using Words = const void*;
  Result (*init_all)(void** communicators, int count, const int* devices);
  Result (*destroy)(void*);
  const char* (*error_text)(Result);
  Result (*group_start)();
  Result (*group_end)();
  using Rooted = Result (*)(Words, void*, std::size_t, int type, int op_or_root, void*,
                            cudaStream_t);
  Rooted all_reduce, reduce_scatter, broadcast;
  using Plain = Result (*)(Words, void*, std::size_t, int type, void*, cudaStream_t);
  Plain all_gather, all_to_all;
  Result (*send)(Words, std::size_t, int type, int peer, void*, cudaStream_t);
  Result (*receive)(void*, std::size_t, int type, int peer, void*, cudaStream_t);
  int version = 0;

  Nccl() {
    setenv(nvls_variable, "0", /*overwrite=*/0);
    const char* override_path = std::getenv("FATHOM_NCCL_LIBRARY");
    // Threads of NCCL's own may outlive its last communicator: it stays loaded.
    void* library = dlopen(override_path ? override_path : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    find(all_to_all, "ncclAlltoAll");
    Result (*get_version)(int*);
    const bool all = find(get_version, "ncclGetVersion") && find(init_all, "ncclCommInitAll") &&
                     find(destroy, "ncclCommDestroy") && find(error_text, "ncclGetErrorString") &&
                     find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") &&
                     find(all_reduce, "ncclAllReduce") && find(all_gather, "ncclAllGather") &&
                     find(reduce_scatter, "ncclReduceScatter") &&
                     find(broadcast, "ncclBroadcast") && find(send, "ncclSend") &&
                     find(receive, "ncclRecv");
    if (all && get_version(&version) != 0) version = 0;
  }
};

const Nccl& nccl() {
  static const Nccl library;
  return library;
}

void check_nccl(Result result, const char* what) {
  if (result == 0) return;
  throw Error(ExitCode::setup_incomplete,
              fmt::format("NCCL's {} failed ({}): NCCL_DEBUG=WARN makes NCCL say why.", what,
                          nccl().error_text(result)));
}

/// The ranks of one communicator, one for each node, in that order.
using Ranks = std::vector<void*>;
/// None before the first case runs.
using SharedRanks = std::shared_ptr<Ranks>;

Result call(const Ranks& ranks, Collective collective, int rank, const Node& own, std::size_t first,
            std::size_t whole) {
  const Nccl& library = nccl();
  const std::uint32_t* in = own.sent() + first;
  std::uint32_t* out = own.received() + first;
  cudaStream_t stream = own.stream();
  const int all = static_cast<int>(ranks.size());
  const std::size_t share = whole / all;
  void* to = ranks[rank];
  const auto exchange = [&](std::size_t sent, int receiver, std::size_t received, int sender,
                            std::size_t words) {
    const Result result = library.send(in + sent, words, uint32_type, receiver, to, stream);
    if (result != 0) return result;
    return library.receive(out + received, words, uint32_type, sender, to, stream);
  };
  switch (collective) {
    case Collective::all_reduce:
      return library.all_reduce(in, out, whole, uint32_type, sum, to, stream);
    case Collective::all_gather:
      return library.all_gather(in, out, share, uint32_type, to, stream);
    case Collective::reduce_scatter:
      return library.reduce_scatter(in, out, share, uint32_type, sum, to, stream);
    case Collective::broadcast:
      return library.broadcast(in, out, whole, uint32_type, first_rank, to, stream);
    case Collective::send_receive:
      return exchange(0, (rank + 1) % all, 0, rank_before(rank, all), whole);
    case Collective::all_to_all:
      break;
  }
  // One call where NCCL has it (from 2.28 on), else a send and a receive for each rank.
  if (library.all_to_all) return library.all_to_all(in, out, share, uint32_type, to, stream);
  Result result = 0;
  for (int peer = 0; peer < all && result == 0; ++peer)
    result = exchange(peer * share, peer, peer * share, peer, share);
  return result;
}

/// Queues the parts of all ranks, which start as one, on 32-bit unsigned integers from word `first`
/// on, whose sums are modulo 2^32. `whole`: nccl-tests' size S, in words.
void queue(const Ranks& ranks, Collective collective, const Nodes& nodes, std::size_t first,
           std::size_t whole) {
  check_nccl(nccl().group_start(), "ncclGroupStart");
  Result result = 0;
  for (std::size_t rank = 0; rank < ranks.size() && result == 0; ++rank)
    result = call(ranks, collective, static_cast<int>(rank), *nodes[rank], first, whole);
  const Result ended = nccl().group_end();
  check_nccl(result != 0 ? result : ended, collectives[static_cast<int>(collective)].name);
}

// Two ways to time operations that follow each other: as nccl-tests does, by the host's clock from
// the first call until it sees all streams at rest, so that calls are what small ones take; and,
// `queued`, by events on the GPU, all of them queued before the first begins.

/// In one sample. By the host's clock nccl-tests' default of 20, since the beginning of the first
/// and the end of the last count; of the largest sizes fewer, which take milliseconds each.
int operations_of(bool queued, std::size_t bytes) {
  if (queued) return 32;
  constexpr std::size_t enough_bytes = std::size_t{2} << 30;
  return static_cast<int>(std::clamp<std::size_t>(enough_bytes / bytes, 8, 20));
}

/// From here on both ways give the same.
constexpr std::size_t largest_queued_bytes = std::size_t{4} << 20;

/// For which an operation may keep the host waiting.
constexpr double patience_s = 60;

std::uint64_t wrong_words(Collective collective, int ranks, int rank, const Node& node,
                          std::size_t whole) {
  using enum Collective;
  const auto is_any_of = [=](auto... of) { return ((collective == of) || ...); };
  const std::size_t share = whole / ranks;
  const auto all = static_cast<std::uint32_t>(ranks);
  const bool sums = is_any_of(all_reduce, reduce_scatter);
  const bool in_pieces = is_any_of(all_gather, all_to_all);  // one of each rank
  const std::size_t words = in_pieces || collective == reduce_scatter ? share : whole;
  const std::size_t first = is_any_of(reduce_scatter, all_to_all) ? rank * share : 0;
  const std::uint32_t source = collective == send_receive ? rank_before(rank, ranks) : 0;
  std::uint64_t wrong = 0;
  for (std::uint32_t piece = 0; piece < (in_pieces ? all : 1); ++piece)
    wrong += node.wrong_words(words, {source + piece, sums ? all : 1, first}, piece * words);
  return wrong;
}

/// Again and again, each time on the next part of the buffers: what the L2 still has of the last
/// one would make up to some 16 MiB faster (nccl-tests walks, too). `counted`: bytes of one
/// operation.
Workload nccl_workload(Context& context, const SharedMachine& machine, const SharedRanks& ranks,
                       Collective collective, std::size_t whole, bool queued, double counted) {
  Nodes nodes;
  for (const int gpu : machine->usable) nodes.push_back(&machine->node(gpu));
  if (ranks->empty()) {
    Ranks made(nodes.size());
    check_nccl(nccl().init_all(made.data(), static_cast<int>(made.size()), machine->usable.data()),
               "ncclCommInitAll");
    *ranks = std::move(made);
  }
  const auto next = std::make_shared<std::size_t>(0);  // in words
  const auto queue_all = [=](int operations) {
    const std::size_t stride = std::bit_ceil(whole);  // keeps NCCL's 16 bytes aligned
    for (int i = 0; i < operations; ++i) {
      queue(*ranks, collective, nodes, *next, whole);
      *next = *next + 2 * stride > largest_bytes / 4 ? 0 : *next + stride;
    }
  };
  cudaStream_t stream = context.stream();
  const int count = operations_of(queued, whole * 4);

  Workload workload;
  workload.capturable = false;
  // Timed by the host: one before each sample, in which NCCL sets up what it does at a first call.
  workload.launch = tied(nodes, stream, [=] { queue_all(queued ? count : 1); });
  if (!queued) {
    workload.host_paced = true;
    workload.read_sample = [=] {
      const auto done = [&] {
        return std::ranges::all_of(nodes, [](const Node* node) { return node->at_rest(); });
      };
      const double seconds = host_seconds([&] {
        queue_all(count);
        spin_until(done, patience_s);
      });
      return counted * count / seconds;
    };
    workload.sample_timer = host_timer_name;
  }
  workload.poison = [=, poison = poisoning(nodes, stream, whole * 4)] {
    poison();
    *next = 0;  // the next goes to the buffers' beginning, where `verify` looks
  };
  workload.verify = [=]() -> std::optional<std::string> {
    const int all = static_cast<int>(nodes.size());
    for (int rank = 0; rank < all; ++rank) {
      const std::uint64_t wrong = wrong_words(collective, all, rank, *nodes[rank], whole);
      if (wrong > 0) return fmt::format("{} words of rank {} are wrong", wrong, rank);
    }
    return std::nullopt;
  };
  return workload;
}

Case nccl_case(const SharedMachine& machine, const SharedRanks& ranks, Collective collective,
               const char* name, std::size_t bytes, bool queued) {
  const int gpus = static_cast<int>(machine->usable.size());
  const std::size_t whole = bytes / 4 / gpus * gpus;
  const double counted = bus_factor(collective, gpus) * static_cast<double>(whole) * 4;
  Case c = transfer_case(fmt::format("nccl/{}{}/{}", queued ? "queued/" : "", name, bytes),
                         {{"link", queued ? "NCCL, queued" : "NCCL"},
                          {"collective", name},
                          {"GPUs", gpus},
                          {"size", static_cast<std::int64_t>(whole * 4)}},
                         counted * operations_of(queued, whole * 4), *machine);
  c.metric.name = "bus_bandwidth";
  // Unless switches may reduce: then the links bound no bus bandwidth.
  if (const char* nvls = std::getenv(nvls_variable); nvls && nvls == std::string_view("0"))
    c.bound = bus_bound(machine->topology, machine->usable);
  c.precision = bytes == largest_bytes ? headline_precision
                : queued               ? short_precision
                                       : curve_precision;
  c.suite = quick_if(bytes == largest_bytes && collective == Collective::all_reduce);
  c.prepare = [=](Context& context) {
    return nccl_workload(context, machine, ranks, collective, whole, queued, counted);
  };
  return c;
}

}  // namespace

int nccl_version() { return nccl().version; }

std::vector<Case> nccl_cases(const SharedMachine& machine) {
  // The machine goes after the ranks: its streams and buffers are theirs.
  const SharedRanks ranks(new Ranks, [machine](Ranks* all) {
    for (void* rank : *all) nccl().destroy(rank);
    delete all;
  });
  std::vector<Case> cases;
  if (machine->nccl_version == 0) return cases;
  for (const auto& [collective, name, id] : collectives) {
    for (const std::size_t bytes : sizes()) {
      cases.push_back(nccl_case(machine, ranks, collective, name, bytes, false));
      if (bytes <= largest_queued_bytes)
        cases.push_back(nccl_case(machine, ranks, collective, name, bytes, true));
    }
  }
  return cases;
}

}  // namespace fathom::links
