#include <cub/device/device_reduce.cuh>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/warp_reduce/kernels.h"

namespace fathom::warp_reduce {
namespace {

template <class T>
void sum_of(int count_bits, const std::byte* source, std::size_t elements, std::byte* result,
            std::byte* temporary, std::size_t& temporary_bytes, cudaStream_t stream) {
  const auto sum = [&](auto count) {
    FATHOM_CUDA(cub::DeviceReduce::Sum(temporary, temporary_bytes,
                                       reinterpret_cast<const T*>(source),
                                       reinterpret_cast<T*>(result), count, stream));
  };
  if (count_bits == 32)
    sum(static_cast<std::int32_t>(elements));
  else
    sum(static_cast<std::int64_t>(elements));
}

}  // namespace

void cub_sum(Element element, const std::byte* source, std::size_t elements, int count_bits,
             std::byte* result, std::byte* temporary, std::size_t& temporary_bytes,
             cudaStream_t stream) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  if (!cub_can_sum(element) || (count_bits == 32 && elements > most))
    throw std::invalid_argument("no such sum by CUB");
  const auto sum = element == Element::f64   ? sum_of<double>
                   : element == Element::i32 ? sum_of<unsigned>
                                             : sum_of<float>;
  sum(count_bits, source, elements, result, temporary, temporary_bytes, stream);
}

}  // namespace fathom::warp_reduce
