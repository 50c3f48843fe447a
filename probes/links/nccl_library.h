#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

  // Of 32-bit unsigned integers; sums are modulo 2^32. `count` as NCCL has it: of one rank's share
  // for all_gather (sent), reduce_scatter (received) and all_to_all (both), else of the whole.
  using Words = std::uint32_t;
  void all_reduce(int rank, const Words* in, Words* out, std::size_t count, cudaStream_t) const;
  void all_gather(int rank, const Words* in, Words* out, std::size_t count, cudaStream_t) const;
  void reduce_scatter(int rank, const Words* in, Words* out, std::size_t count, cudaStream_t) const;
  void broadcast(int rank, const Words* in, Words* out, std::size_t count, cudaStream_t) const;
  /// One call where NCCL has it (from 2.28 on), else a send and a receive for each rank.
  void all_to_all(int rank, const Words* in, Words* out, std::size_t count, cudaStream_t) const;
  void send(int rank, const Words* in, std::size_t count, int to, cudaStream_t) const;
  void receive(int rank, Words* out, std::size_t count, int from, cudaStream_t) const;

 private:
  friend class NcclLibrary;
  explicit Communicators(std::shared_ptr<const NcclLibrary::Functions> functions)
      : functions_(std::move(functions)) {}
  std::shared_ptr<const NcclLibrary::Functions> functions_;
  std::vector<void*> ranks_;
};

}  // namespace fathom::links
