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
  // Threads of NCCL's own may outlive its last communicator: it stays loaded, as the linker would
  // have it.
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

void Nccl::check(Result result, const char* call) const {
  if (result == 0) return;
  throw Error(ExitCode::setup_incomplete,
              fmt::format("NCCL's {} failed ({}): NCCL_DEBUG=WARN makes NCCL say why.", call,
                          error_text_(result)));
}

void Nccl::connect(const std::vector<int>& devices) {
  if (!ranks_.empty()) return;
  std::vector<void*> ranks(devices.size());
  check(init_all_(ranks.data(), static_cast<int>(ranks.size()), devices.data()), "ncclCommInitAll");
  ranks_ = std::move(ranks);
}

void Nccl::group(const std::function<void()>& calls) const {
  check(group_start_(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    group_end_();
    throw;
  }
  check(group_end_(), "ncclGroupEnd");
}

void Nccl::call(Collective collective, int rank, const Words* in, Words* out, std::size_t whole,
                cudaStream_t stream) const {
  const std::size_t share = whole / ranks_.size();
  void* own = ranks_[rank];
  const auto exchange = [&](const Words* sent, int to, Words* received, int from,
                            std::size_t count) {
    check(send_(sent, count, uint32_type, to, own, stream), "ncclSend");
    check(receive_(received, count, uint32_type, from, own, stream), "ncclRecv");
  };
  switch (collective) {
    case Collective::all_reduce:
      return check(all_reduce_(in, out, whole, uint32_type, sum, own, stream), "ncclAllReduce");
    case Collective::all_gather:
      return check(all_gather_(in, out, share, uint32_type, own, stream), "ncclAllGather");
    case Collective::reduce_scatter:
      return check(reduce_scatter_(in, out, share, uint32_type, sum, own, stream),
                   "ncclReduceScatter");
    case Collective::broadcast:
      return check(broadcast_(in, out, whole, uint32_type, first_rank, own, stream),
                   "ncclBroadcast");
    case Collective::send_receive:
      return exchange(in, (rank + 1) % ranks(), out, rank_before(rank, ranks()), whole);
    case Collective::all_to_all:
      if (all_to_all_ != nullptr)
        return check(all_to_all_(in, out, share, uint32_type, own, stream), "ncclAlltoAll");
      for (int peer = 0; peer < ranks(); ++peer)
        exchange(in + peer * share, peer, out + peer * share, peer, share);
  }
}

}  // namespace fathom::links
