#include "harness/buffers.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "results/text.h"

namespace fathom {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr int guard_byte = 0xA5;
constexpr int poison_byte = 0xFF;

std::uint64_t hash(const std::string& text, std::uint64_t seed) {
  std::uint64_t h = 0xCBF29CE484222325ull ^ seed;  // FNV-1a, 64 bit
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001B3ull;
  return h;
}

}  // namespace

struct BufferPool::Block {
  std::string role;
  DeviceMemory<std::byte> base;
  std::size_t capacity = 0;       // bytes between the guard bands at the largest request
  std::size_t bytes = 0;          // of the newest request: the upper guard stands right behind it
  std::optional<Fill> filled_as;  // empty: an output

  std::byte* data() const { return base.get() + guard_bytes; }
  /// Puts the upper guard there.
  void end_at(std::size_t end, cudaStream_t stream) {
    bytes = end;
    FATHOM_CUDA(cudaMemsetAsync(data() + end, guard_byte, guard_bytes, stream));
  }
};

BufferPool::BufferPool(int device_ordinal, cudaStream_t stream, std::uint64_t seed)
    : device_(device_ordinal), stream_(stream), seed_(seed) {}

BufferPool::~BufferPool() = default;

void BufferPool::set_placement(int placement) {
  placement_ = placement;
  asked_for_.clear();
}

std::size_t BufferPool::bytes_that_move() const {
  std::size_t sum = 0;
  for (const auto& [key, bytes] : asked_for_) sum += bytes <= small_bytes ? bytes : 0;
  return sum;
}

BufferPool::Block& BufferPool::allocate(const std::string& role, std::size_t bytes) {
  FATHOM_CUDA(cudaSetDevice(device_));
  const std::string key =
      bytes <= small_bytes ? fmt::format("{} (small, placement {})", role, placement_) : role;
  asked_for_[key] = bytes;
  Block& block = blocks_[key];
  if (block.base != nullptr && block.capacity < bytes) retired_.push_back(std::move(block.base));
  if (block.base == nullptr) {
    // Rounded up so that a ragged fill may write whole elements.
    const std::size_t capacity = (bytes + 255) / 256 * 256;
    void* base = nullptr;
    cudaError_t status = cudaMalloc(&base, capacity + 2 * guard_bytes);
    if (status == cudaErrorMemoryAllocation && !retired_.empty()) {
      cudaGetLastError();  // clears it
      retired_.clear();
      status = cudaMalloc(&base, capacity + 2 * guard_bytes);
    }
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // clears it: the next case may need less
      blocks_.erase(key);
      std::size_t free_bytes = 0, total_bytes = 0;
      FATHOM_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
      fail(ExitCode::gpu_out_of_memory,
           "The GPU has {:.2f} GiB free of {:.2f} GiB, and buffer '{}' needs "
           "{:.2f} GiB: end other processes on this GPU or use --suite quick.",
           free_bytes / 0x1p30, total_bytes / 0x1p30, role, bytes / 0x1p30);
    }
    FATHOM_CUDA(status);
    block = Block{role, DeviceMemory<std::byte>(static_cast<std::byte*>(base)), capacity, 0, {}};
    FATHOM_CUDA(cudaMemsetAsync(base, guard_byte, guard_bytes, stream_));
  }
  return block;
}

Buffer BufferPool::input(const std::string& role, std::size_t bytes, Fill fill) {
  Block& block = allocate(role, bytes);
  if (block.filled_as != fill) {
    fill_random_data(block.data(), block.capacity, fill, hash(role, seed_), stream_);
    block.filled_as = fill;
    block.end_at(block.capacity, stream_);
  }
  return {block.data(), bytes};
}

Buffer BufferPool::output(const std::string& role, std::size_t bytes) {
  Block& block = allocate(role, bytes);
  block.filled_as.reset();
  block.end_at(bytes, stream_);
  return {block.data(), bytes};
}

void BufferPool::poison(const Buffer& buffer) {
  FATHOM_CUDA(cudaMemsetAsync(buffer.data, poison_byte, buffer.bytes, stream_));
}

std::optional<std::string> BufferPool::guards_intact() {
  std::array<unsigned char, guard_bytes> band;
  for (const auto& [key, bytes] : asked_for_) {
    const Block& block = blocks_.at(key);
    for (const bool upper : {false, true}) {
      const std::byte* start = upper ? block.data() + block.bytes : block.base.get();
      FATHOM_CUDA(
          cudaMemcpyAsync(band.data(), start, guard_bytes, cudaMemcpyDeviceToHost, stream_));
      FATHOM_CUDA(cudaStreamSynchronize(stream_));
      for (std::size_t i = 0; i < guard_bytes; ++i) {
        if (band[i] == guard_byte) continue;
        return upper
                   ? fmt::format("buffer '{}' was written {} bytes past its end", block.role, i + 1)
                   : fmt::format("buffer '{}' was written {} bytes before its start", block.role,
                                 guard_bytes - i);
      }
    }
  }
  return std::nullopt;
}

}  // namespace fathom
