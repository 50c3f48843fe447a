#pragma once

#include <cstdint>

// What the patch on the GPU writes and the library in the program reads.

namespace fathom::addresses {

/// One warp instruction on memory: as many as fit are kept, all are counted.
struct Access {
  std::uint64_t pc;  ///< absolute; less the function's start it is an offset in the machine code
  std::uint32_t mask;  ///< lanes that were active and not predicated off
  std::uint32_t bytes;  ///< of a lane
  std::uint32_t flags;  ///< Sanitizer_DeviceMemoryFlags: 1 read, 2 write, both: an atomic
  bool shared;
  std::uint64_t address[32];  ///< of the mask's lanes; in shared memory from the block's first byte
};

struct Log {
  std::uint32_t count, capacity;
  std::uint32_t every;  ///< one block in so many is recorded
  Access* accesses;
};

}  // namespace fathom::addresses
