#include "probes/memory_bandwidth/global_stream.cuh"

namespace fathom::memory_bandwidth {
namespace {

template <Operation operation, Path path, int width, int loads>
__global__ void __launch_bounds__(max_threads) stream_global(GlobalRun run) {
  walk_global<operation, path, width, loads>(run, blockIdx.x);
}

using Kernel = void (*)(GlobalRun);

template <Operation operation, Path path>
Kernel kernel_of_width(const Access& access) {
  if (access.loads == 4) {
    return with_constant<4, 8, 16>(
        access.width,
        [](auto width) -> Kernel { return stream_global<operation, path, width, 4>; });
  }
  if constexpr (operation == Operation::load) {
    if (access.width == 16) {
      return with_constant<1, 2, 8>(
          access.loads,
          [](auto loads) -> Kernel { return stream_global<operation, path, 16, loads>; });
    }
  }
  throw std::invalid_argument("no kernel for this width and number of accesses in flight");
}

}  // namespace

Kernel global_kernel(const Access& access) {
  if (access.operation == Operation::load) {
    return with_constant<Path::cached, Path::l2_only, Path::no_allocate>(
        access.path, [&](auto path) { return kernel_of_width<Operation::load, path>(access); });
  }
  if (access.operation == Operation::store)
    return kernel_of_width<Operation::store, Path::l2_only>(access);
  if (access.path != Path::l2_only)
    throw std::invalid_argument("copies load by ld.global.cg alone");
  return kernel_of_width<Operation::copy, Path::l2_only>(access);
}

}  // namespace fathom::memory_bandwidth
