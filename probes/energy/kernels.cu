#include "probes/energy/kernels.h"

namespace fathom::energy {

__global__ void __launch_bounds__(rest_threads) rest(int turns, std::uint32_t* out) {
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) __nanosleep(sleep_ns);
  out[blockIdx.x * rest_threads + threadIdx.x] = static_cast<std::uint32_t>(turns);
}

}  // namespace fathom::energy
