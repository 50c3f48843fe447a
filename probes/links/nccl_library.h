#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "probes/links/collectives.h"

namespace fathom::links {

/// NCCL, and one communicator of this process's ranks. It is loaded at run time, so that Fathom
/// builds and runs where it is not installed. The values and signatures are those of NCCL's API
/// reference (nccl.h, unchanged since 2.7), reduced to what is called.
class Nccl {
 public:
  /// Opens libnccl.so.2, or the file that environment variable FATHOM_NCCL_LIBRARY names. Never
  /// throws: without NCCL the version is 0. Switches reduction in the NVLink switches (NVLS) off
  /// unless NCCL_NVLS_ENABLE says otherwise: it counts fewer bytes on the links than bus bandwidth
  /// does.
  Nccl();
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  int version() const { return version_; }  ///< 22809 is 2.28.9; 0 where it is not available
  /// Whether switches may reduce: then the links bound no bus bandwidth.
  static bool may_reduce_in_switches();

  /// One rank on each of `devices`, in that order, unless they are connected. The calls below need
  /// it. All throw Error.
  void connect(const std::vector<int>& devices);
  int ranks() const { return static_cast<int>(ranks_.size()); }

  /// All that `calls` asks for starts as one. It must make the calls of every rank.
  void group(const std::function<void()>& calls) const;

  using Words = std::uint32_t;
  /// One rank's part, of 32-bit unsigned integers whose sums are modulo 2^32. `whole`: nccl-tests'
  /// size S, in words. All-to-all is one call where NCCL has it (from 2.28 on), else a send and a
  /// receive for each rank.
  void call(Collective collective, int rank, const Words* in, Words* out, std::size_t whole,
            cudaStream_t stream) const;

 private:
  using Result = int;  // ncclResult_t; 0 is success
  void check(Result result, const char* call) const;

  Result (*init_all_)(void** communicators, int count, const int* devices);
  Result (*destroy_)(void*);
  const char* (*error_text_)(Result);
  Result (*group_start_)();
  Result (*group_end_)();
  Result (*all_reduce_)(const void*, void*, std::size_t, int type, int op, void*, cudaStream_t);
  Result (*all_gather_)(const void*, void*, std::size_t, int type, void*, cudaStream_t);
  Result (*reduce_scatter_)(const void*, void*, std::size_t, int type, int op, void*, cudaStream_t);
  Result (*broadcast_)(const void*, void*, std::size_t, int type, int root, void*, cudaStream_t);
  Result (*send_)(const void*, std::size_t, int type, int peer, void*, cudaStream_t);
  Result (*receive_)(void*, std::size_t, int type, int peer, void*, cudaStream_t);
  /// Null where NCCL is older than it.
  Result (*all_to_all_)(const void*, void*, std::size_t, int type, void*, cudaStream_t);
  int version_ = 0;
  std::vector<void*> ranks_;
};

}  // namespace fathom::links
