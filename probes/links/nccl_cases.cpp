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

}  // namespace

Nccl::Nccl() {
  setenv(nvls_variable, "0", /*overwrite=*/0);
  const char* override_path = std::getenv("FATHOM_NCCL_LIBRARY");
  // Threads of NCCL's own may outlive its last communicator: it stays loaded.
  void* library = dlopen(override_path ? override_path : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  find(all_to_all_, "ncclAlltoAll");
  Result (*version)(int*);
  const bool all = find(version, "ncclGetVersion") && find(init_all_, "ncclCommInitAll") &&
                   find(destroy_, "ncclCommDestroy") && find(error_text_, "ncclGetErrorString") &&
                   find(group_start_, "ncclGroupStart") && find(group_end_, "ncclGroupEnd") &&
                   find(all_reduce_, "ncclAllReduce") && find(all_gather_, "ncclAllGather") &&
                   find(reduce_scatter_, "ncclReduceScatter") &&
                   find(broadcast_, "ncclBroadcast") && find(send_, "ncclSend") &&
                   find(receive_, "ncclRecv");
  if (all && version(&version_) != 0) version_ = 0;
}

Nccl::~Nccl() {
  for (void* rank : ranks_) destroy_(rank);
}

bool Nccl::may_reduce_in_switches() {
  const char* value = std::getenv(nvls_variable);
  return value == nullptr || std::string_view(value) != "0";
}

void Nccl::check(Result result, const char* what) const {
  if (result == 0) return;
  throw Error(ExitCode::setup_incomplete,
              fmt::format("NCCL's {} failed ({}): NCCL_DEBUG=WARN makes NCCL say why.", what,
                          error_text_(result)));
}

void Nccl::connect(const std::vector<int>& devices) {
  if (!ranks_.empty()) return;
  std::vector<void*> ranks(devices.size());
  check(init_all_(ranks.data(), static_cast<int>(ranks.size()), devices.data()), "ncclCommInitAll");
  ranks_ = std::move(ranks);
}

void Nccl::queue(Collective collective, std::span<const RankBuffers> ranks,
                 std::size_t whole) const {
  check(group_start_(), "ncclGroupStart");
  Result result = 0;
  for (std::size_t rank = 0; rank < ranks.size() && result == 0; ++rank)
    result = call(collective, static_cast<int>(rank), ranks[rank], whole);
  const Result ended = group_end_();
  check(result != 0 ? result : ended, collectives[static_cast<int>(collective)].name);
}

Nccl::Result Nccl::call(Collective collective, int rank, const RankBuffers& own,
                        std::size_t whole) const {
  const std::uint32_t* in = own.in;
  std::uint32_t* out = own.out;
  cudaStream_t stream = own.stream;
  const int ranks = static_cast<int>(ranks_.size());
  const std::size_t share = whole / ranks;
  void* to = ranks_[rank];
  const auto exchange = [&](std::size_t sent, int receiver, std::size_t received, int sender,
                            std::size_t words) {
    const Result result = send_(in + sent, words, uint32_type, receiver, to, stream);
    return result != 0 ? result : receive_(out + received, words, uint32_type, sender, to, stream);
  };
  switch (collective) {
    case Collective::all_reduce:
      return all_reduce_(in, out, whole, uint32_type, sum, to, stream);
    case Collective::all_gather:
      return all_gather_(in, out, share, uint32_type, to, stream);
    case Collective::reduce_scatter:
      return reduce_scatter_(in, out, share, uint32_type, sum, to, stream);
    case Collective::broadcast:
      return broadcast_(in, out, whole, uint32_type, first_rank, to, stream);
    case Collective::send_receive:
      return exchange(0, (rank + 1) % ranks, 0, rank_before(rank, ranks), whole);
    case Collective::all_to_all:
      break;
  }
  if (all_to_all_ != nullptr) return all_to_all_(in, out, share, uint32_type, to, stream);
  Result result = 0;
  for (int peer = 0; peer < ranks && result == 0; ++peer)
    result = exchange(peer * share, peer, peer * share, peer, share);
  return result;
}

namespace {

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
Workload nccl_workload(Context& context, const SharedMachine& machine, Collective collective,
                       std::size_t whole, bool queued, double counted) {
  Nodes nodes;
  for (const int gpu : machine->usable) nodes.push_back(&machine->node(gpu));
  machine->nccl->connect(machine->usable);
  const auto next = std::make_shared<std::size_t>(0);  // in words
  const auto queue = [=](int operations) {
    const std::size_t stride = std::bit_ceil(whole);  // keeps NCCL's 16 bytes aligned
    std::vector<RankBuffers> ranks;
    for (int i = 0; i < operations; ++i) {
      ranks.clear();
      for (const Node* node : nodes)
        ranks.push_back({node->sent() + *next, node->received() + *next, node->stream()});
      machine->nccl->queue(collective, ranks, whole);
      *next = *next + 2 * stride > largest_bytes / 4 ? 0 : *next + stride;
    }
  };
  cudaStream_t stream = context.stream();
  const int count = operations_of(queued, whole * 4);

  Workload workload;
  workload.capturable = false;
  // Timed by the host: one before each sample, in which NCCL sets up what it does at a first call.
  workload.launch = tied(nodes, stream, [=] { queue(queued ? count : 1); });
  if (!queued) {
    workload.host_paced = true;
    workload.read_sample = [=] {
      const auto done = [&] {
        return std::ranges::all_of(nodes, [](const Node* node) { return node->at_rest(); });
      };
      const double seconds = host_seconds([&] {
        queue(count);
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
    const int ranks = static_cast<int>(nodes.size());
    for (int rank = 0; rank < ranks; ++rank) {
      const std::uint64_t wrong = wrong_words(collective, ranks, rank, *nodes[rank], whole);
      if (wrong > 0) return fmt::format("{} words of rank {} are wrong", wrong, rank);
    }
    return std::nullopt;
  };
  return workload;
}

Case nccl_case(const SharedMachine& machine, Collective collective, const char* name,
               std::size_t bytes, bool queued) {
  const int ranks = static_cast<int>(machine->usable.size());
  const std::size_t whole = bytes / 4 / ranks * ranks;
  const double counted = bus_factor(collective, ranks) * static_cast<double>(whole) * 4;
  Case c = transfer_case(fmt::format("nccl/{}{}/{}", queued ? "queued/" : "", name, bytes),
                         {{"link", queued ? "NCCL, queued" : "NCCL"},
                          {"collective", name},
                          {"GPUs", ranks},
                          {"size", static_cast<std::int64_t>(whole * 4)}},
                         counted * operations_of(queued, whole * 4), *machine);
  c.metric.name = "bus_bandwidth";
  if (!Nccl::may_reduce_in_switches()) c.bound = bus_bound(machine->topology, machine->usable);
  c.precision = bytes == largest_bytes ? headline_precision
                : queued               ? short_precision
                                       : curve_precision;
  c.suite = quick_if(bytes == largest_bytes && collective == Collective::all_reduce);
  c.prepare = [=](Context& context) {
    return nccl_workload(context, machine, collective, whole, queued, counted);
  };
  return c;
}

}  // namespace

std::vector<Case> nccl_cases(const SharedMachine& machine) {
  std::vector<Case> cases;
  if (!machine->nccl || machine->nccl->version() == 0) return cases;
  for (const auto& [collective, name, id] : collectives) {
    for (const std::size_t bytes : sizes()) {
      cases.push_back(nccl_case(machine, collective, name, bytes, false));
      if (bytes <= largest_queued_bytes)
        cases.push_back(nccl_case(machine, collective, name, bytes, true));
    }
  }
  return cases;
}

}  // namespace fathom::links
