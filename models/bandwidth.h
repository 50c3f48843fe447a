#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::models {

/// What the formulas for physical bounds need of a device. Clocks in hertz.
struct PhysicalDevice {
  int sms = 0;
  double sm_clock_hz = 0;
  int memory_bus_bits = 0;       ///< cudaDevAttrGlobalMemoryBusWidth, nvmlDeviceGetMemoryBusWidth
  double memory_clock_hz = 0;    ///< cudaDevAttrMemoryClockRate: data moves on both its edges
  int l1_bytes_per_clock = 128;  ///< per SM, SmLimits
  int fp32_per_clock = 128;      ///< FMA per SM, SmLimits
};

/// A value that no measurement can pass while the clocks are what they are said to be.
struct PhysicalBound {
  std::string name;  ///< as in the result document: "dram_bandwidth", ...
  std::string unit;  ///< "B/s" or "FLOP/s"
  double value = 0;
  std::string source;  ///< formula with its figures
};

// Each throws std::invalid_argument where a figure it needs is not positive.
PhysicalBound dram_bandwidth_bound(const PhysicalDevice& device);    ///< bus x clock x 2 / 8
PhysicalBound shared_bandwidth_bound(const PhysicalDevice& device);  ///< SMs x clock x 128 B (S1)
PhysicalBound l1_bandwidth_bound(const PhysicalDevice& device);      ///< the same data stage
PhysicalBound fp32_fma_bound(const PhysicalDevice& device);          ///< SMs x clock x lanes x 2

/// What one direction of a PCIe link carries before packet headers and acknowledgements: raw bit
/// rate of a lane x lanes x line code / 8. Rates and codes are the specification's: 2.5 and 5 GT/s
/// with 8b/10b, 8, 16 and 32 GT/s with 128b/130b, 64 GT/s without (1b/1b). Throws
/// std::invalid_argument for a generation other than 1 to 6, and for no lanes.
PhysicalBound pcie_bandwidth_bound(int generation, int lanes);

/// Figures that the hardware does not state. Each says where it comes from.
struct StreamParameters {
  /// Share of the DRAM bound that long streams reach, the rest being refresh, row and, where both
  /// directions mix, bus turnaround: from the slope between 1 GiB and 4 GiB of a plain copy (4.270
  /// and 4.285 TB/s) and of a sum (4.53 and 4.61 TB/s) on an H200, whose bound is 4.814 TB/s.
  static constexpr double dram_efficiency_mixed = 0.893;
  static constexpr double dram_efficiency_read = 0.955;
  /// Fill and drain of a launch, whatever the size: through DRAM and in the L2, from the same
  /// copies and from copies of 64 KiB to 16 MiB in one graph.
  static constexpr double overhead_seconds = 3e-6;
  static constexpr double l2_overhead_seconds = 0.95e-6;
  /// From issue of a load to its data while the memory is busy, by Little's law from kernels with
  /// one load in flight a thread on an H200: copies of 1 and 2 bytes a thread (0.84 and 1.59 TB/s),
  /// and, where nothing is written, a sum by 4 bytes (2.58 TB/s).
  static constexpr double loaded_latency_seconds = 650e-9;
  static constexpr double loaded_latency_read_seconds = 430e-9;
  static constexpr double loaded_l2_latency_seconds = 250e-9;  ///< for hits in the L2, assumed
  /// Warp-wide memory instructions that an SM's load/store units take per clock: 32 units on GA100
  /// (A100 white paper, figure 7) and as many on GH100; half of them on GA10x and Turing.
  static constexpr double memory_instructions_per_clock = 1;
  /// Issue slots: four schedulers, one warp instruction a clock each (Programming Guide,
  /// "Multiprocessor Level"), and what a thread takes of them: a compiled copy of one element a
  /// thread is 22 instructions on sm_90a whatever the width, of which an unrolled further element
  /// repeats about four.
  static constexpr double issue_per_clock = 4;
  static constexpr double instructions_per_thread = 18;
  static constexpr double instructions_per_access = 4;
  /// What the L2 sustains for streams of all SMs at once: a fitted 28.8 bytes a clock and SM, from
  /// copies of 4 to 16 MiB on an H200, as a share of 64. No port is this wide: one SM of an H200
  /// alone takes 115 bytes a clock from the L2 (probe memory_bandwidth, bandwidth by number of
  /// SMs).
  static constexpr double l2_bytes_per_clock = 64;
  static constexpr double l2_efficiency = 0.45;
  /// Blocks that the whole GPU starts per clock: copies of 1 GiB in blocks of 32 and of 64 threads
  /// both start 1.65e9 blocks a second on an H200 at 1980 MHz.
  static constexpr double blocks_per_clock = 0.835;
  /// Share of the L2 up to which a working set is found there again: its partitions keep copies.
  static constexpr double l2_usable_share = 0.6;
};

struct StreamDevice {
  double dram_bandwidth = 0;  ///< the bound, B/s
  int sms = 0;
  double sm_clock_hz = 0;
  std::uint64_t l2_bytes = 0;  ///< 0: no L2 ceiling
};

/// A kernel that reads and writes contiguous or strided streams once.
struct StreamKernel {
  std::uint64_t read_bytes = 0;        ///< useful, in all
  std::uint64_t write_bytes = 0;       ///< useful, in all; 0 for a reduction
  int bytes_per_access = 4;            ///< of one thread, 1 to 32; 32 are two instructions
  double independent_loads = 1;        ///< loads a thread has in flight at once (unrolling)
  double accesses_per_thread = 1;      ///< in all, in flight at once or not
  int resident_threads_per_sm = 2048;  ///< occupancy x threads
  std::uint64_t threads = 0;           ///< of the grid; 0: enough to fill the GPU
  int threads_per_block = 0;           ///< 0: no ceiling from the start of blocks
  double traffic_ratio = 1;            ///< sector bytes moved / useful bytes: 8 for 4 B every 32 B
  bool hot = false;                    ///< launched again and again with no flush between
};

struct Ceiling {
  /// "DRAM" or "L2", "latency", "load/store units", "instruction issue", "block starts"
  std::string name;
  double bytes_per_second = 0;
  std::string reason;  ///< formula with its figures
};

struct StreamExpectation {
  double bytes_per_second = 0;  ///< (read + write) / seconds
  double seconds = 0;           ///< overhead + bytes / lowest ceiling
  std::string bound_by;         ///< the lowest ceiling's name, or "launch overhead" if that is most
  std::string sentence;
  std::vector<Ceiling> ceilings;
};

/// Time and bandwidth of a streaming kernel: the overhead plus the bytes over the lowest of
///  - DRAM: bound x efficiency / traffic ratio; where a hot working set fits, the L2's
///    instead;
///  - latency (Little's law): bytes of loads in flight on all SMs / loaded latency, scaled from
///    reads to reads and writes, since stores need not be waited for;
///  - load/store units: 32 lanes x bytes per instruction x instructions per clock x SMs x clock;
///  - block starts: bytes of a block x blocks started per clock;
///  - instruction issue: bytes per access x 32 x issue slots / instructions per access, the
///    thread's own shared among its accesses.
/// Latency itself grows as the memory gets busy, so where it and the memory's own ceiling meet, the
/// knee is round: (latency^-2.5 + memory^-2.5)^(-1/2.5), which copies on an H200 at 37 to 100 %
/// occupancy and at 1 to 8 bytes a thread follow within 9 %.
/// An expectation, unlike a bound: within some 10 % at best. Throws
/// std::invalid_argument where a figure is not positive or no byte moves.
StreamExpectation expected_stream(const StreamDevice& device, const StreamKernel& kernel);

}  // namespace fathom::models
