#include <cub/device/device_reduce.cuh>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/warp_reduce/kernels.h"

namespace fathom::warp_reduce {
namespace {

template <class T>
void sum_of(OffsetType offset, const std::byte* source, std::size_t elements, std::byte* result,
            std::byte* temporary, std::size_t& temporary_bytes, cudaStream_t stream) {
  const auto sum = [&](auto count) {
    FATHOM_CUDA(cub::DeviceReduce::Sum(temporary, temporary_bytes,
                                       reinterpret_cast<const T*>(source),
                                       reinterpret_cast<T*>(result), count, stream));
  };
  if (offset == OffsetType::int32)
    sum(static_cast<std::int32_t>(elements));
  else
    sum(static_cast<std::int64_t>(elements));
}

}  // namespace

bool cub_can_sum(Element element, std::size_t elements, OffsetType offset) {
  if (element == Element::f16 || element == Element::bf16) return false;
  return offset == OffsetType::int64 ||
         elements <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
}

void cub_sum(Element element, const std::byte* source, std::size_t elements, OffsetType offset,
             std::byte* result, std::byte* temporary, std::size_t& temporary_bytes,
             cudaStream_t stream) {
  if (!cub_can_sum(element, elements, offset)) throw std::invalid_argument("no such sum by CUB");
  const auto sum = element == Element::f64   ? sum_of<double>
                   : element == Element::i32 ? sum_of<unsigned>
                                             : sum_of<float>;
  sum(offset, source, elements, result, temporary, temporary_bytes, stream);
}

}  // namespace fathom::warp_reduce
