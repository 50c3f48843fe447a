#include "gemm/bench/reference_kernels.h"

#include <algorithm>
#include <type_traits>

#include "gemm/blocks/element_types.cuh"
#include "gemm/blocks/operands.cuh"
#include "harness/cuda_check.h"

namespace fathom::gemm {
namespace {

constexpr int side = 32;
constexpr int threads = 256;
constexpr int per_thread = side * side / threads;

template <class T>
__device__ double as_double(T x) {
  if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                std::is_same_v<T, __nv_fp8_e4m3>) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<double>(x);
  }
}

/// A sum in one double.
struct Sum {
  double high = 0;
  __device__ void add_product(double a, double b) { high = fma(a, b, high); }
  __device__ double scaled(double alpha) const { return alpha * high; }
};

/// A sum in two doubles: Dot2.
struct ExactSum {
  double high = 0, low = 0;
  __device__ void add_product(double a, double b) {
    const double product = __dmul_rn(a, b);
    const double product_error = __fma_rn(a, b, -product);
    const double sum = __dadd_rn(high, product);
    const double of_product = __dsub_rn(sum, high);
    const double error =
        __dadd_rn(__dsub_rn(high, __dsub_rn(sum, of_product)), __dsub_rn(product, of_product));
    high = sum;
    low = __dadd_rn(low, __dadd_rn(error, product_error));
  }
  __device__ double scaled(double alpha) const {
    const double head = __dmul_rn(alpha, high);
    return head + (__fma_rn(alpha, high, -head) + alpha * low);
  }
};

template <class In, class Out, class Accumulator>
__global__ void __launch_bounds__(threads)
    reference_product(Product<In, Out, double> p, Reference reference, int columns, int tiles_m) {
  __shared__ double a[side][side + 1];
  __shared__ double b[side][side + 1];
  const int first_row = static_cast<int>(blockIdx.x % tiles_m) * side;
  const int first_column = static_cast<int>(blockIdx.x / tiles_m) * side;  // of the reference
  const int lane = threadIdx.x % side;
  const int group = threadIdx.x / side;
  const int row = first_row + lane;
  Accumulator sums[per_thread];
  double magnitudes[per_thread] = {};
  for (int step = 0; step < p.k; step += side) {
    for (int i = 0; i < per_thread; ++i) {
      const int other = group + i * (threads / side);
      const bool in_a = row < p.m && step + other < p.k;
      a[other][lane] = in_a ? as_double(p.a(row, step + other)) : 0.0;
      const int column = first_column + other;
      const bool in_b = column < columns && step + lane < p.k;
      b[lane][other] = in_b ? as_double(p.b(step + lane, column * reference.column_step)) : 0.0;
    }
    __syncthreads();
    for (int k = 0; k < side; ++k) {
      for (int i = 0; i < per_thread; ++i) {
        const double x = a[k][lane], y = b[k][group + i * (threads / side)];
        sums[i].add_product(x, y);
        magnitudes[i] = fma(fabs(x), fabs(y), magnitudes[i]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < per_thread; ++i) {
    const int column = first_column + group + i * (threads / side);
    if (row >= p.m || column >= columns) continue;
    double value = p.k == 0 ? 0.0 : sums[i].scaled(p.alpha);
    double magnitude = fabs(p.alpha) * magnitudes[i];
    if (p.beta != 0) {
      const double old = as_double(p.c(row, column * reference.column_step));
      value = fma(p.beta, old, value);
      magnitude = fma(fabs(p.beta), fabs(old), magnitude);
    }
    const std::int64_t index = static_cast<std::int64_t>(column) * p.m + row;
    reference.values[index] = value;
    reference.magnitudes[index] = magnitude;
  }
}

__device__ void atomic_add(double& sum, double x) {
  if (x != 0) atomicAdd(&sum, x);
}

__device__ double warp_sum(double x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  return x;
}

/// Whether all bytes of an element are 0xFF. Read as a whole number: a NaN has many patterns.
template <class T>
__device__ bool is_poison(const T* element) {
  if constexpr (sizeof(T) == 8) {
    return *reinterpret_cast<const unsigned long long*>(element) == ~0ull;
  } else if constexpr (sizeof(T) == 4) {
    return *reinterpret_cast<const unsigned*>(element) == ~0u;
  } else {
    return *reinterpret_cast<const unsigned short*>(element) == 0xFFFFu;
  }
}

template <class Out>
__global__ void __launch_bounds__(threads)
    compare(const Out* c, int m, int n, std::int64_t ldc, Reference reference, Tolerance tolerance,
            Deviation* deviation) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t elements = ldc * n;
  double errors = 0, values = 0, magnitudes = 0, worst = 0;
  unsigned outside = 0, not_finite = 0, gap_written = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < elements; i += stride) {
    const std::int64_t column = i / ldc, row = i % ldc;
    if (row >= m) {
      gap_written += !is_poison(c + i);
      continue;
    }
    const double got = as_double(c[i]);
    const bool finite = isfinite(got);
    not_finite += !finite;
    if (column % reference.column_step != 0) continue;
    const std::int64_t at = column / reference.column_step * m + row;
    const double value = reference.values[at], magnitude = reference.magnitudes[at];
    const double error = fabs(got - value);
    const double allowed = tolerance.per_magnitude * magnitude + tolerance.per_value * fabs(value) +
                           tolerance.absolute;
    outside += !(error <= allowed);
    if (!finite) continue;
    if (allowed > 0) worst = fmax(worst, error / allowed);
    errors += error * error;
    values += value * value;
    magnitudes += magnitude * magnitude;
  }
  errors = warp_sum(errors);
  values = warp_sum(values);
  magnitudes = warp_sum(magnitudes);
  for (int offset = 16; offset > 0; offset /= 2)
    worst = fmax(worst, __shfl_xor_sync(0xFFFFFFFFu, worst, offset));
  if (threadIdx.x % 32 == 0) {
    atomic_add(deviation->error_squares, errors);
    atomic_add(deviation->value_squares, values);
    atomic_add(deviation->magnitude_squares, magnitudes);
    // Doubles that are not negative are ordered as their bits are.
    atomicMax(reinterpret_cast<long long*>(&deviation->worst), __double_as_longlong(worst));
  }
  if (outside != 0) atomicAdd(&deviation->outside, outside);
  if (not_finite != 0) atomicAdd(&deviation->not_finite, not_finite);
  if (gap_written != 0) atomicAdd(&deviation->gap_written, gap_written);
}

}  // namespace

void launch_reference_product(const Arguments& arguments, const Reference& reference,
                              cudaStream_t stream) {
  if (is_empty(arguments.problem)) return;
  with_types(arguments.problem.of, [&]<class T>(T) {
    using In = typename T::In;
    using Out = typename T::Out;
    using Accumulator = std::conditional_t<std::is_same_v<In, double>, ExactSum, Sum>;
    auto p = column_major<In, Out, double>(arguments);
    if (traits(arguments.problem.of).scalar == Element::f32) {
      p.alpha = static_cast<float>(p.alpha);
      p.beta = static_cast<float>(p.beta);
    }
    const int columns = static_cast<int>(ceil_div(p.n, reference.column_step));
    const TileGrid tiles(p.m, columns, side, side);
    reference_product<In, Out, Accumulator>
        <<<tiles.blocks(), threads, 0, stream>>>(p, reference, columns, tiles.tiles_m);
    FATHOM_CUDA(cudaGetLastError());
  });
}

void launch_compare(const Arguments& arguments, const Reference& reference,
                    const Tolerance& tolerance, Deviation* deviation, cudaStream_t stream) {
  const Problem& p = arguments.problem;
  // In an empty product all memory is a gap, the element that stands for none too (cases.h).
  const bool empty = is_empty(p);
  const std::int64_t elements = std::max<std::int64_t>(p.c_elements(), 1);
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(ceil_div(elements, threads), 8192));
  with_types(p.of, [&]<class T>(T) {
    compare<<<blocks, threads, 0, stream>>>(
        static_cast<const typename T::Out*>(arguments.c), empty ? 0 : static_cast<int>(p.m),
        empty ? 1 : static_cast<int>(p.n), empty ? elements : p.ldc, reference, tolerance,
        deviation);
  });
  FATHOM_CUDA(cudaGetLastError());
}

}  // namespace fathom::gemm
