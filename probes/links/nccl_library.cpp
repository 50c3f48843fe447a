#include "probes/links/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

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

}  // namespace fathom::links
