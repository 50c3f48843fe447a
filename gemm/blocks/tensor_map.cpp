#include "gemm/blocks/tensor_map.h"

#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "results/error.h"

namespace fathom::gemm {

CUtensorMap tensor_map(const void* data, Element element, std::int64_t inner, std::int64_t outer,
                       std::int64_t stride, int box_columns, int plain_box_inner) {
  const int bytes = element_bytes(element);
  // TMA only moves elements: their size is all that it needs to know.
  const CUtensorMapDataType type = bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const bool swizzled = plain_box_inner == 0;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride) * bytes};
  const cuuint32_t box[] = {
      static_cast<cuuint32_t>(swizzled ? box_row_bytes / bytes : plain_box_inner),
      static_cast<cuuint32_t>(box_columns)};
  const cuuint32_t steps[] = {1, 1};
  static const auto encode_tiled =
      driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  CUtensorMap map;
  const CUresult result =
      encode_tiled(&map, type, 2, const_cast<void*>(data), sizes, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE,
                   swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(
        ExitCode::check_failed,
        fmt::format("cuTensorMapEncodeTiled refused a matrix of {} x {} elements of {} bytes with "
                    "a column every {} (CUresult {}).",
                    inner, outer, bytes, stride, static_cast<int>(result)));
  }
  return map;
}

}  // namespace fathom::gemm
