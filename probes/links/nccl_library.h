#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "probes/links/bounds.h"

namespace fathom::links {

/// One rank's part in a collective, of 32-bit unsigned integers whose sums are modulo 2^32.
struct RankBuffers {
  const std::uint32_t* in;
  std::uint32_t* out;
  cudaStream_t stream;
};

/// NCCL, loaded at run time, and one communicator of this process's ranks. Values and signatures
/// are those of NCCL's API reference (nccl.h, unchanged since 2.7), reduced to what is called.
class Nccl {
 public:
  /// Opens libnccl.so.2, or the file that FATHOM_NCCL_LIBRARY names. Never throws: without NCCL the
  /// version is 0. Unless NCCL_NVLS_ENABLE is set, reduction in the NVLink switches (NVLS) is off:
  /// it counts fewer bytes on the links than bus bandwidth does.
  Nccl();
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  int version() const { return version_; }  ///< 22809 is 2.28.9; 0 where it is not available
  /// Whether switches may reduce: then the links bound no bus bandwidth.
  static bool may_reduce_in_switches();

  /// One rank on each of `devices`, in that order, unless they are connected. Throws Error, as does
  /// `queue`, which needs it.
  void connect(const std::vector<int>& devices);
  /// Queues the parts of all ranks, which start as one. `whole`: nccl-tests' size S, in words.
  void queue(Collective collective, std::span<const RankBuffers> ranks, std::size_t whole) const;

 private:
  using Result = int;  // ncclResult_t; 0 is success
  using Words = const void*;
  void check(Result result, const char* what) const;
  /// All-to-all is one call where NCCL has it (from 2.28 on), else a send and a receive for each
  /// rank.
  Result call(Collective collective, int rank, const RankBuffers& own, std::size_t whole) const;

  Result (*init_all_)(void** communicators, int count, const int* devices);
  Result (*destroy_)(void*);
  const char* (*error_text_)(Result);
  Result (*group_start_)();
  Result (*group_end_)();
  using Rooted = Result (*)(Words, void*, std::size_t, int type, int op_or_root, void*,
                            cudaStream_t);
  Rooted all_reduce_, reduce_scatter_, broadcast_;
  using Plain = Result (*)(Words, void*, std::size_t, int type, void*, cudaStream_t);
  Plain all_gather_, all_to_all_;
  Result (*send_)(Words, std::size_t, int type, int peer, void*, cudaStream_t);
  Result (*receive_)(void*, std::size_t, int type, int peer, void*, cudaStream_t);
  int version_ = 0;
  std::vector<void*> ranks_;
};

}  // namespace fathom::links
