#pragma once

#include <cstdint>

// What the patch on the GPU writes and the library in the program reads.

namespace fathom::explain {

enum class Space : std::uint32_t { global = 0, shared = 1 };

/// `async_read` and `async_write` are the two ends of one cp.async.
enum class Op : std::uint32_t {
  load = 0,
  store = 1,
  atomic = 2,
  async_read = 3,
  async_write = 4,
  matrix_load = 5,
  matrix_store = 6
};

/// One warp instruction on memory.
struct Access {
  std::uint64_t pc;     ///< absolute; less the function's start it is an offset in the machine code
  std::uint32_t mask;   ///< lanes that were active and not predicated off
  std::uint32_t bytes;  ///< of a lane
  Space space;
  Op op;
  std::uint64_t address[32];  ///< of the mask's lanes; in shared memory from the block's first byte
};

/// As many accesses as fit are kept, all are counted.
struct Log {
  std::uint32_t count, capacity;
  std::uint32_t every;  ///< one block in so many is recorded
  Access* accesses;
};

}  // namespace fathom::explain
