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

#define FATHOM_LOAD(hint)                                        \
  asm volatile("ld.global." hint ".v4.u32 {%0,%1,%2,%3}, [%4];"  \
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)      \
               : "l"(p))
template <LoadHint hint>
__device__ uint4 hinted_load(const uint4* p) {
  uint4 v;
  if constexpr (hint == LoadHint::non_coherent) {
    FATHOM_LOAD("nc");
  } else if constexpr (hint == LoadHint::no_allocate) {
    FATHOM_LOAD("nc.L1::no_allocate");
  } else if constexpr (hint == LoadHint::streaming) {
    FATHOM_LOAD("cs");
  } else if constexpr (hint == LoadHint::not_cached) {
    FATHOM_LOAD("cv");
  } else {
    static_assert(hint == LoadHint::evict_first || hint == LoadHint::evict_last);
#if __CUDA_ARCH__ >= 800
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "l"(eviction_policy<hint == LoadHint::evict_first>()) : "memory");
#else
    v = *p;
#endif
  }
  return v;
}

#define FATHOM_STORE(hint)                                                                 \
  asm volatile("st.global." hint ".v4.u32 [%0], {%1,%2,%3,%4};"                            \
               :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory")
template <StoreHint hint>
__device__ void hinted_store(uint4* p, uint4 v) {
  if constexpr (hint == StoreHint::streaming) {
    FATHOM_STORE("cs");
  } else if constexpr (hint == StoreHint::write_through) {
    FATHOM_STORE("wt");
  } else if constexpr (hint == StoreHint::no_allocate) {
    FATHOM_STORE("L1::no_allocate");
  } else {
    static_assert(hint == StoreHint::evict_first);
#if __CUDA_ARCH__ >= 800
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;"
                 :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(eviction_policy<true>())
                 : "memory");
#else
    *p = v;
#endif
  }
}

#undef FATHOM_LOAD
#undef FATHOM_STORE

}  // namespace fathom::copy_bandwidth
