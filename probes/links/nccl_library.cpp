#include "probes/links/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "results/error.h"

namespace fathom::links {
namespace {

using Result = int;  // ncclResult_t; 0 is success
constexpr int uint32_type = 3, sum = 0, first_rank = 0;
constexpr const char* nvls_variable = "NCCL_NVLS_ENABLE";

}  // namespace

struct NcclLibrary::Functions {
  void* handle = nullptr;
  Result (*version)(int*);
  Result (*init_all)(void** communicators, int count, const int* devices);
  Result (*destroy)(void*);
  const char* (*error_text)(Result);
  Result (*group_start)();
  Result (*group_end)();
  Result (*all_reduce)(const void*, void*, std::size_t, int type, int op, void*, cudaStream_t);
  Result (*all_gather)(const void*, void*, std::size_t, int type, void*, cudaStream_t);
  Result (*reduce_scatter)(const void*, void*, std::size_t, int type, int op, void*, cudaStream_t);
  Result (*broadcast)(const void*, void*, std::size_t, int type, int root, void*, cudaStream_t);
  Result (*send)(const void*, std::size_t, int type, int peer, void*, cudaStream_t);
  Result (*receive)(void*, std::size_t, int type, int peer, void*, cudaStream_t);
  /// Null where NCCL is older than it.
  Result (*all_to_all)(const void*, void*, std::size_t, int type, void*, cudaStream_t);

  Functions() = default;
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;
  // Threads of NCCL's own may outlive its last communicator: it stays loaded, as the linker would
  // have it.

  /// False if any is missing.
  bool find_all() {
    const auto find = [this](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    find(all_to_all, "ncclAlltoAll");
    return find(version, "ncclGetVersion") && find(init_all, "ncclCommInitAll") &&
           find(destroy, "ncclCommDestroy") && find(error_text, "ncclGetErrorString") &&
           find(group_start, "ncclGroupStart") && find(group_end, "ncclGroupEnd") &&
           find(all_reduce, "ncclAllReduce") && find(all_gather, "ncclAllGather") &&
           find(reduce_scatter, "ncclReduceScatter") && find(broadcast, "ncclBroadcast") &&
           find(send, "ncclSend") && find(receive, "ncclRecv");
  }

  void check(Result result, const char* call) const {
    if (result == 0) return;
    throw Error(ExitCode::setup_incomplete,
                fmt::format("NCCL's {} failed ({}): NCCL_DEBUG=WARN makes NCCL say why.", call,
                            error_text(result)));
  }
};

NcclLibrary::NcclLibrary() {
  setenv(nvls_variable, "0", /*overwrite=*/0);
  const char* override_path = std::getenv("FATHOM_NCCL_LIBRARY");
  auto functions = std::make_shared<Functions>();
  functions->handle = dlopen(override_path ? override_path : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (functions->handle == nullptr || !functions->find_all()) return;
  if (functions->version(&version_) != 0) {
    version_ = 0;
    return;
  }
  functions_ = std::move(functions);
}

bool NcclLibrary::may_reduce_in_switches() const {
  const char* value = std::getenv(nvls_variable);
  return value == nullptr || std::string_view(value) != "0";
}

std::shared_ptr<Communicators> NcclLibrary::connect(const std::vector<int>& devices) const {
  const std::shared_ptr<Communicators> all(new Communicators(functions_));
  std::vector<void*> ranks(devices.size());
  functions_->check(
      functions_->init_all(ranks.data(), static_cast<int>(ranks.size()), devices.data()),
      "ncclCommInitAll");
  all->ranks_ = std::move(ranks);
  return all;
}

Communicators::~Communicators() {
  for (void* rank : ranks_) functions_->destroy(rank);
}

void Communicators::group(const std::function<void()>& calls) const {
  functions_->check(functions_->group_start(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    functions_->group_end();
    throw;
  }
  functions_->check(functions_->group_end(), "ncclGroupEnd");
}

void Communicators::call(Collective collective, int rank, const Words* in, Words* out,
                         std::size_t whole, cudaStream_t stream) const {
  const NcclLibrary::Functions& nccl = *functions_;
  const std::size_t share = whole / ranks_.size();
  void* own = ranks_[rank];
  const auto exchange = [&](const Words* sent, int to, Words* received, int from,
                            std::size_t count) {
    nccl.check(nccl.send(sent, count, uint32_type, to, own, stream), "ncclSend");
    nccl.check(nccl.receive(received, count, uint32_type, from, own, stream), "ncclRecv");
  };
  switch (collective) {
    case Collective::all_reduce:
      return nccl.check(nccl.all_reduce(in, out, whole, uint32_type, sum, own, stream),
                        "ncclAllReduce");
    case Collective::all_gather:
      return nccl.check(nccl.all_gather(in, out, share, uint32_type, own, stream), "ncclAllGather");
    case Collective::reduce_scatter:
      return nccl.check(nccl.reduce_scatter(in, out, share, uint32_type, sum, own, stream),
                        "ncclReduceScatter");
    case Collective::broadcast:
      return nccl.check(nccl.broadcast(in, out, whole, uint32_type, first_rank, own, stream),
                        "ncclBroadcast");
    case Collective::send_receive:
      return exchange(in, (rank + 1) % ranks(), out, rank_before(rank, ranks()), whole);
    case Collective::all_to_all:
      if (nccl.all_to_all != nullptr) {
        return nccl.check(nccl.all_to_all(in, out, share, uint32_type, own, stream),
                          "ncclAlltoAll");
      }
      for (int peer = 0; peer < ranks(); ++peer)
        exchange(in + peer * share, peer, out + peer * share, peer, share);
  }
}

}  // namespace fathom::links
