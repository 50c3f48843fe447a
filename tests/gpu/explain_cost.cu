#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>

// What `fathom explain` costs (docs/explain.md): seven kernels of 4 million threads, three rounds.

namespace {

__device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void copy(float* out, const float* in, int n) {
  if (me() < n) out[me()] = in[me()];
}
__global__ void strided(float* out, const float* in) { out[me()] = in[4 * size_t(me())]; }
__global__ void misaligned(float* out, const float* in) { out[me()] = in[me() + 1]; }
__global__ void wide(float4* out, const float4* in) { out[me()] = in[me()]; }
__global__ void transpose_conflicts(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[size_t(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[size_t(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void few_lanes(float* out, const float* in) {
  out[me()] = threadIdx.x % 4 == 0 ? in[me()] : 0;
}
__global__ void atomics(unsigned* out) { atomicAdd(out + threadIdx.x % 8, 1u); }

template <class F>
void timed(const char* name, F&& launch) {
  cudaDeviceSynchronize();
  const auto start = std::chrono::steady_clock::now();
  launch();
  const cudaError_t status = cudaDeviceSynchronize();
  const auto took = std::chrono::steady_clock::now() - start;
  std::printf("%-20s %10.1f us  %s\n", name,
              std::chrono::duration<double, std::micro>(took).count(), cudaGetErrorString(status));
}

}  // namespace

int main() {
  constexpr int n = 1 << 22, side = 2048, blocks = n / 256;
  float *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, 16ull * n + 256) != cudaSuccess || cudaMalloc(&out, 16ull * n) != cudaSuccess)
    return 1;
  cudaMemset(in, 0, 16ull * n + 256);
  for (int round = 0; round < 3; ++round) {
    timed("copy", [&] { copy<<<blocks, 256>>>(out, in, n - 5); });
    timed("strided", [&] { strided<<<blocks, 256>>>(out, in); });
    timed("misaligned", [&] { misaligned<<<blocks, 256>>>(out, in); });
    timed("wide", [&] {
      wide<<<blocks, 256>>>(reinterpret_cast<float4*>(out), reinterpret_cast<float4*>(in));
    });
    timed("transpose_conflicts",
          [&] { transpose_conflicts<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(out, in, side); });
    timed("few_lanes", [&] { few_lanes<<<blocks, 256>>>(out, in); });
    timed("atomics", [&] { atomics<<<blocks, 256>>>(reinterpret_cast<unsigned*>(out)); });
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
