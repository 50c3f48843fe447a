#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "probes/links/collectives.h"

namespace fathom::links {

// NCCL is loaded at run time, so that Fathom builds and runs where it is not installed. The values
// and signatures are those of NCCL's API reference (nccl.h, unchanged since 2.7), reduced to what
// is called.

/// The ranks of one communicator, all of this process.
class Communicators;

/// NCCL, open as long as this or a communicator of it lives. Copies share one library.
class NcclLibrary {
 public:
  /// Opens libnccl.so.2, or the file that environment variable FATHOM_NCCL_LIBRARY names. Never
  /// throws: without NCCL `available` is false. Switches reduction in the NVLink switches (NVLS)
  /// off unless NCCL_NVLS_ENABLE says otherwise: it counts fewer bytes on the links than bus
  /// bandwidth does.
  NcclLibrary();

  bool available() const { return functions_ != nullptr; }
  int version() const { return version_; }  ///< 22809 is 2.28.9; 0 where it is not available
  /// Whether switches may reduce: then the links bound no bus bandwidth.
  bool may_reduce_in_switches() const;

  /// One rank on each of `devices`, in that order. Throws Error.
  std::shared_ptr<Communicators> connect(const std::vector<int>& devices) const;

 private:
  friend class Communicators;
  struct Functions;
  std::shared_ptr<const Functions> functions_;
  int version_ = 0;
};

class Communicators {
 public:
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
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
  friend class NcclLibrary;
  explicit Communicators(std::shared_ptr<const NcclLibrary::Functions> functions)
      : functions_(std::move(functions)) {}
  std::shared_ptr<const NcclLibrary::Functions> functions_;
  std::vector<void*> ranks_;
};

}  // namespace fathom::links
