#include <cub/device/device_reduce.cuh>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "harness/cuda_check.h"
#include "probes/warp_reduce/sum_kernels.h"

namespace fathom::warp_reduce {
namespace {

/// One function for asking the size (temporary is null) and for summing, as CUB's own.
template <class T, class Offset>
void sum(const std::byte* source, std::size_t elements, std::byte* result, std::byte* temporary,
         std::size_t& temporary_bytes, cudaStream_t stream) {
  FATHOM_CUDA(cub::DeviceReduce::Sum(temporary, temporary_bytes, reinterpret_cast<const T*>(source),
                                     reinterpret_cast<T*>(result), static_cast<Offset>(elements),
                                     stream));
}

template <class T>
void sum_with_offset(OffsetType offset, const std::byte* source, std::size_t elements,
                     std::byte* result, std::byte* temporary, std::size_t& temporary_bytes,
                     cudaStream_t stream) {
  if (offset == OffsetType::int32)
    sum<T, std::int32_t>(source, elements, result, temporary, temporary_bytes, stream);
  else
    sum<T, std::int64_t>(source, elements, result, temporary, temporary_bytes, stream);
}

void any_sum(Element element, OffsetType offset, const std::byte* source, std::size_t elements,
             std::byte* result, std::byte* temporary, std::size_t& temporary_bytes,
             cudaStream_t stream) {
  if (!cub_can_sum(element, elements, offset)) throw std::invalid_argument("no such sum by CUB");
  switch (element) {
    case Element::f64:
      return sum_with_offset<double>(offset, source, elements, result, temporary, temporary_bytes,
                                     stream);
    case Element::i32:
      return sum_with_offset<unsigned>(offset, source, elements, result, temporary, temporary_bytes,
                                       stream);
    default:
      return sum_with_offset<float>(offset, source, elements, result, temporary, temporary_bytes,
                                    stream);
  }
}

}  // namespace

bool cub_can_sum(Element element, std::size_t elements, OffsetType offset) {
  if (element == Element::f16 || element == Element::bf16) return false;
  return offset == OffsetType::int64 ||
         elements <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
}

std::size_t cub_temporary_bytes(Element element, std::size_t elements, OffsetType offset) {
  std::size_t bytes = 0;
  any_sum(element, offset, nullptr, elements, nullptr, nullptr, bytes, nullptr);
  return bytes;
}

void cub_sum(Element element, const std::byte* source, std::size_t elements, OffsetType offset,
             std::byte* result, std::byte* temporary, std::size_t temporary_bytes,
             cudaStream_t stream) {
  any_sum(element, offset, source, elements, result, temporary, temporary_bytes, stream);
}

}  // namespace fathom::warp_reduce
