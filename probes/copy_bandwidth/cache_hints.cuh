#pragma once

#include <cstdint>

#include "probes/copy_bandwidth/kernels.h"

namespace fathom::copy_bandwidth {

// 16-byte accesses with a hint to the caches. Where an architecture lacks a hint the plain access
// stands in for it, so that everything compiles; the sweep leaves such cases out.

template <bool first>
__device__ std::uint64_t eviction_policy() {
  std::uint64_t policy = 0;
#if __CUDA_ARCH__ >= 800
  if constexpr (first)
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

__device__ inline uint4 load_with_policy(const uint4* p, [[maybe_unused]] std::uint64_t policy) {
#if __CUDA_ARCH__ >= 800
  uint4 v;
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p), "l"(policy) : "memory");
  return v;
#else
  return *p;
#endif
}

__device__ inline void store_with_policy(uint4* p, uint4 v, [[maybe_unused]] std::uint64_t policy) {
#if __CUDA_ARCH__ >= 800
  asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;"
               :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy) : "memory");
#else
  *p = v;
#endif
}

template <LoadHint hint>
__device__ uint4 hinted_load(const uint4* p) {
  uint4 v;
  if constexpr (hint == LoadHint::non_coherent) {
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  } else if constexpr (hint == LoadHint::no_allocate) {
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  } else if constexpr (hint == LoadHint::streaming) {
    v = __ldcs(p);
  } else if constexpr (hint == LoadHint::not_cached) {
    v = __ldcv(p);
  } else {
    static_assert(hint == LoadHint::evict_first || hint == LoadHint::evict_last);
    v = load_with_policy(p, eviction_policy<hint == LoadHint::evict_first>());
  }
  return v;
}

template <StoreHint hint>
__device__ void hinted_store(uint4* p, uint4 v) {
  if constexpr (hint == StoreHint::streaming) {
    __stcs(p, v);
  } else if constexpr (hint == StoreHint::write_through) {
    __stwt(p, v);
  } else if constexpr (hint == StoreHint::no_allocate) {
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1,%2,%3,%4};"
                 :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
  } else {
    static_assert(hint == StoreHint::evict_first);
    store_with_policy(p, v, eviction_policy<true>());
  }
}

}  // namespace fathom::copy_bandwidth
