#pragma once

// Where a tile's lines lie in shared memory, in chunks of 16 bytes: what a lane copies at once, and a row
// of the 8 x 8 matrices of 16-bit elements that ldmatrix reads.

namespace fathom::gemm {

inline constexpr int chunk_bytes = 16;

/// A chunk between the lines, "padded by 8" elements of 16 bits: chunks below each other lie in
/// different banks as soon as a line's chunks are an even number.
template <int Chunks>
struct PaddedChunks {
  static constexpr int pitch = (Chunks + 1) * chunk_bytes;
  static __host__ __device__ constexpr int bytes(int lines) { return lines * pitch; }
  static __device__ constexpr int offset(int line, int chunk) {
    return line * pitch + chunk * chunk_bytes;
  }
};

/// No chunk more: within 128 bytes, all banks, chunks are exchanged by an XOR with the number of those
/// 128 bytes, so that eight lines below each other have one chunk in each group of four banks.
template <int Chunks>
struct SwizzledChunks {
  static_assert(Chunks == 4 || Chunks % 8 == 0);
  static constexpr int lines_a_row = Chunks < 8 ? 8 / Chunks : 1;  ///< in 128 bytes
  static __host__ __device__ constexpr int bytes(int lines) { return lines * Chunks * chunk_bytes; }
  static __device__ constexpr int offset(int line, int chunk) {
    const int row = static_cast<int>(static_cast<unsigned>(line) / lines_a_row);
    const int exchanged = chunk ^ (row & (Chunks < 8 ? Chunks - 1 : 7));
    return (line * Chunks + exchanged) * chunk_bytes;
  }
};

}  // namespace fathom::gemm
