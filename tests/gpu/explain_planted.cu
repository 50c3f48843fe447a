// What `fathom explain` is tested on: kernels whose fault is known. explain_app.cpp runs them.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "harness/cuda_handles.h"
#include "tests/gpu/explain_kernels.h"

namespace fathom::test {
namespace {

__device__ int me() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// --- global memory ---

__global__ void plain_copy(float* out, const float* in) { out[me()] = in[me()]; }
__global__ void wide_copy(float4* out, const float4* in) { out[me()] = in[me()]; }
__global__ void stride_2_load(float* out, const float* in) {
  const float x = in[2 * me()];  // fault: stride
  out[me()] = x;
}
__global__ void stride_4_load(float* out, const float* in) {
  const float x = in[4 * me()];  // fault: stride
  out[me()] = x;
}
__global__ void stride_8_store(float* out, const float* in) {
  const float x = in[me()];
  out[8 * me()] = x;  // fault: stride
}
__global__ void stride_3_double(double* out, const double* in) {
  const double x = in[3 * me()];  // fault: stride
  out[me()] = x;
}
__global__ void stride_2_float4(float4* out, const float4* in) {
  // In one statement: a copy of a struct takes the line of its use.
  out[me()] = in[2 * me()];  // fault: stride
}
struct Particle {
  float x, y, z, vx, vy, vz, mass;
};
__global__ void member_of_struct(float* out, const Particle* in) {
  const float x = in[me()].mass;  // fault: stride
  out[me()] = x;
}
__global__ void down_a_column(float* out, const float* in) {
  const float x = in[threadIdx.x * 1024 + blockIdx.x];  // fault: stride
  out[me()] = x;
}
__global__ void misaligned_load(float* out, const float* in) {
  const float x = in[me() + 1];  // fault: misalignment
  out[me()] = x;
}
__global__ void misaligned_store(float* out, const float* in) {
  const float x = in[me()];
  out[me() + 3] = x;  // fault: misalignment
}
__global__ void rows_of_1001(float* out, const float* in) {
  const float x = in[blockIdx.x * 1001 + threadIdx.x + 1];  // fault: misalignment
  out[me()] = x;
}
__global__ void gather(float* out, const float* in, const int* order) {
  const int from = order[me()];
  const float x = in[from];  // fault: scatter
  out[me()] = x;
}
__global__ void every_fourth_lane(float* out, const float* in) {
  if (threadIdx.x % 4 == 0) out[me() / 4] = in[me() / 4];  // fault: partial warp
}
__global__ void lower_half(float* out, const float* in) {
  if (threadIdx.x % 32 < 16) out[me()] = in[me()];  // fault: partial warp
}
__global__ void blocks_of_40(float* out, const float* in) {
  out[me()] = in[me()];  // fault: partial warp
}

// --- shared memory ---

template <int Pitch>
__device__ void fill(float (&tile)[32][Pitch], const float* in) {
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
  __syncthreads();
}

__global__ void column_of_32(float* out, const float* in) {
  __shared__ float tile[32][32];
  fill(tile, in);
  for (int row = threadIdx.y; row < 32; row += 8) {
    const float x = tile[threadIdx.x][row];  // fault: bank conflict
    out[row * 32 + threadIdx.x] = x;
  }
}
__global__ void column_padded(float* out, const float* in) {
  __shared__ float tile[32][33];
  fill(tile, in);
  for (int row = threadIdx.y; row < 32; row += 8)
    out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}
__global__ void column_swizzled(float* out, const float* in) {
  __shared__ float tile[32][32];
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x ^ row] = in[row * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[row * 32 + threadIdx.x] = tile[threadIdx.x][row ^ threadIdx.x];
}
__global__ void column_store(float* out, const float* in) {
  __shared__ float tile[32][32];
  for (int row = threadIdx.y; row < 32; row += 8) {
    const float x = in[row * 32 + threadIdx.x];
    tile[threadIdx.x][row] = x;  // fault: bank conflict
  }
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[row * 32 + threadIdx.x] = tile[row][threadIdx.x];
}
__global__ void shared_stride_2(float* out, const float* in) {
  __shared__ float line[512];
  line[threadIdx.x] = in[threadIdx.x];
  line[threadIdx.x + 256] = in[threadIdx.x + 256];
  __syncthreads();
  const float x = line[2 * threadIdx.x];  // fault: bank conflict
  out[me()] = x;
}
__global__ void double_column(double* out, const double* in) {
  __shared__ double tile[32][16];
  for (int row = threadIdx.x / 16; row < 32; row += 2)
    tile[row][threadIdx.x % 16] = in[row * 16 + threadIdx.x % 16];
  __syncthreads();
  for (int column = 0; column < 16; ++column) {
    const double x = tile[threadIdx.x][column];  // fault: bank conflict
    out[column * 32 + threadIdx.x] = x;
  }
}
__global__ void float4_rows(float4* out, const float4* in) {
  __shared__ float4 tile[32][8];
  for (int k = 0; k < 8; ++k)
    tile[k * 4 + threadIdx.x / 8][threadIdx.x % 8] = in[k * 32 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    // As above, in one statement.
    out[k * 32 + threadIdx.x] = tile[threadIdx.x][k];  // fault: bank conflict
  }
}
__global__ void fragment_of_8_by_4(std::uint32_t* out, const std::uint32_t* in) {
  __shared__ std::uint32_t tile[32][32];  // 64 halves a row
  for (int row = 0; row < 32; ++row) tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    const std::uint32_t x = tile[threadIdx.x / 4][4 * k + threadIdx.x % 4];  // fault: bank conflict
    out[k * 32 + threadIdx.x] = x;
  }
}
__global__ void block_of_16_by_16(float* out, const float* in) {
  __shared__ float tile[16][16];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  const float x = tile[threadIdx.x][threadIdx.y];  // fault: bank conflict
  out[threadIdx.y * 16 + threadIdx.x] = x;
}
__global__ void interleaved_sum(float* out, const float* in) {
  __shared__ volatile float line[1024];
  for (int i = threadIdx.x; i < 1024; i += 128) line[i] = in[i];
  __syncthreads();
  if (const unsigned i = 16 * threadIdx.x; i < 512)
    line[i] = line[i] + line[i + 8];  // fault: bank conflict
  __syncthreads();
  out[me()] = line[threadIdx.x];
}
__global__ void async_copy(float4* out, const float4* in) {
  __shared__ float4 tile[256];
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + me()) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[me()] = tile[255 - threadIdx.x];
}
__global__ void matrix_rows(uint4* out, const uint4* in) {
  __shared__ uint4 tile[32][8];
  for (int k = 0; k < 8; ++k)
    tile[k * 4 + threadIdx.x / 8][threadIdx.x % 8] = in[k * 32 + threadIdx.x];
  __syncthreads();
  uint4 x;
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(&tile[threadIdx.x][2]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(from));  // fault: bank conflict
  out[me()] = x;
}

constexpr int threads = 8192, blocks = threads / 256;

struct Planted {
  const char* name;
  const void* kernel;  ///< takes `out`, `in` and, if it has a third parameter, `order`
  dim3 grid = blocks, block = 256;
};

constexpr auto pointer_to = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
#define PLANTED(kernel) #kernel, pointer_to(kernel)
const Planted planted[] = {{PLANTED(plain_copy)},
                           {PLANTED(wide_copy)},
                           {PLANTED(stride_2_load)},
                           {PLANTED(stride_4_load)},
                           {PLANTED(stride_8_store)},
                           {PLANTED(stride_3_double)},
                           {PLANTED(stride_2_float4)},
                           {PLANTED(member_of_struct)},
                           {PLANTED(down_a_column)},
                           {PLANTED(misaligned_load)},
                           {PLANTED(misaligned_store)},
                           {PLANTED(rows_of_1001)},
                           {PLANTED(gather)},
                           {PLANTED(every_fourth_lane)},
                           {PLANTED(lower_half)},
                           {PLANTED(blocks_of_40), 100, 40},
                           {PLANTED(column_of_32), blocks, dim3(32, 8)},
                           {PLANTED(column_padded), blocks, dim3(32, 8)},
                           {PLANTED(column_swizzled), blocks, dim3(32, 8)},
                           {PLANTED(column_store), blocks, dim3(32, 8)},
                           {PLANTED(shared_stride_2)},
                           {PLANTED(double_column), blocks, 32},
                           {PLANTED(float4_rows), blocks, 32},
                           {PLANTED(fragment_of_8_by_4), blocks, 32},
                           {PLANTED(block_of_16_by_16), blocks, dim3(16, 16)},
                           {PLANTED(interleaved_sum), blocks, 128},
                           {PLANTED(async_copy)},
                           {PLANTED(matrix_rows), blocks, 32}};

}  // namespace

void for_each_planted(const Entry& entry) {
  constexpr std::size_t bytes = 16u << 20;
  const auto in = make_device_memory<std::byte>(bytes), out = make_device_memory<std::byte>(bytes);
  const auto order = make_device_memory<int>(threads);
  std::vector<int> shuffled(threads);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  FATHOM_CUDA(cudaMemset(in.get(), 0, bytes));
  FATHOM_CUDA(
      cudaMemcpy(order.get(), shuffled.data(), threads * sizeof(int), cudaMemcpyHostToDevice));
  const void* pointers[] = {out.get(), in.get(), order.get()};
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2]};
  for (const Planted& one : planted)
    entry(one.name, [&] {
      FATHOM_CUDA(cudaLaunchKernel(one.kernel, one.grid, one.block, arguments, 0, nullptr));
    });
}

}  // namespace fathom::test
