#pragma once

// Products of a warp in fp64 on the tensor cores, mma.sync (PTX ISA, "Matrix fragments for mma with
// .f64 floating point type"). A lane has a row `lane / 4` and a place `lane % 4` along k:
//   A, 16 rows: element i is of row lane / 4 + 8 (i % 2), k 4 (i / 2) + lane % 4;
//   B, 8 columns: element i is of column lane / 4, k 4 i + lane % 4;
//   D: element i is of row lane / 4 + 8 (i / 2), column 2 (lane % 4) + i % 2.
// For 8 rows, A has element 0 alone and D the first two.

namespace fathom::gemm {

/// d (8 x 8) += A (8 x 4) B (4 x 8). sm_80 and later.
__device__ inline void multiply_8x8x4(double (&d)[2], double a, double b) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
#else
  (void)d, (void)a, (void)b;
#endif
}

/// d (16 x 8) += A (16 x 16) B (16 x 8). sm_90 and later.
__device__ inline void multiply_16x8x16(double (&d)[4], const double (&a)[8],
                                        const double (&b)[4]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  (void)d, (void)a, (void)b;
#endif
}

}  // namespace fathom::gemm
