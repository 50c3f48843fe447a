#pragma once

#include "harness/cases.h"
#include "models/global_memory.h"
#include "probes/copy_bandwidth/kernels.h"

namespace fathom::copy_bandwidth {

inline constexpr std::size_t gib = std::size_t{1} << 30;
/// What most copies move: 1 GiB, where source, destination and a second source fit.
std::size_t base_bytes(const DeviceFacts& device);

/// The parts of the sweep; axis "sweep" names them.
std::vector<Case> best_cases(const DeviceFacts& device);   ///< head to head with the libraries
std::vector<Case> width_cases(const DeviceFacts& device);  ///< V1 to V8: width, type, block, unroll
std::vector<Case> offset_cases(const DeviceFacts& device);  ///< V9: base offset
/// V9: an access off its alignment, by another process.
std::vector<Case> misaligned_cases(const DeviceFacts& device);
/// That process' work; check_failed where the access is refused.
ExitCode make_misaligned_access(int device);
/// Why no second process may make the access here, by the GPU's compute mode and the variable
/// CUDA_MPS_PIPE_DIRECTORY, which may be null; empty where one may.
std::string why_no_access(const std::string& compute_mode, const char* mps_pipe);
/// Puts into the entry whether the access was refused (1 or 0), by how the process ended, as
/// waitpid says it. Where `why_not` is not empty, no process was started, and it says why.
void report_access(int wait_status, std::string why_not, Entry& entry);
std::vector<Case> tail_cases(const DeviceFacts& device);  ///< V10
std::vector<Case> size_cases(const DeviceFacts& device);  ///< cache-resident to 4 GiB
std::vector<Case> hint_cases(const DeviceFacts& device);  ///< cache hints

bool has_room_for_4_gib(const DeviceFacts& device);

/// What a case moves, for its bound, its expectation and its counters.
struct Work {
  /// All but its occupancy and its traffic, which bandwidth_case reckons.
  models::StreamKernel stream{.bytes_per_access = 16, .threads_per_block = 256, .hot = true};
  models::StreamCost loads{}, stores{};  ///< by the counters
  std::size_t dram_bytes = 0;  ///< least that both directions move in whole sectors; 0: the useful
  /// What the DRAM is expected to move; 0: dram_bytes. An H200 reads 64 bytes at a time, and reads
  /// a sector before it writes a part of it (counters of the strided copies in recordings/h200).
  std::size_t expected_dram_bytes = 0;
  std::size_t footprint = 0;      ///< bytes of memory touched; 0: dram_bytes
  int most_blocks_per_sm = 1024;  ///< fewer than the GPU allows where shared memory does
  /// Whether every byte must come from and go to DRAM once, so that its counters have an
  /// expectation.
  bool streams_through_dram = false;
  bool loads_counted = true, stores_counted = true;  ///< false: not by the load/store units

  /// A thread makes so many accesses, all loads in flight before the first store.
  void unroll(int accesses) { stream.independent_loads = stream.accesses_per_thread = accesses; }
};

/// A case with metric, bound, expectation and counters by `work`, still without axes and workload.
Case bandwidth_case(const DeviceFacts& device, std::string name, const Work& work, bool quick);

Work copy_work(const CopyShape& shape, std::size_t bytes, int threads, std::size_t offset = 0);

/// Runs a copy of `bytes` bytes that lie `offset` bytes behind a 4096-byte aligned address.
using CopyLauncher = std::function<void(const CopyRun& run, cudaStream_t stream)>;
Workload copy_workload(Context& context, std::size_t bytes, int threads, const CopyLauncher& launch,
                       std::size_t offset = 0);

/// The buffers "src" and "dst", at once as large as any case needs them: buffers that grow would be
/// freed, and freeing gigabytes slows down what is timed next.
Buffer source_buffer(Context& context, std::size_t bytes, Fill fill = Fill::random_bits);
Buffer destination_buffer(Context& context, std::size_t bytes);

}  // namespace fathom::copy_bandwidth
