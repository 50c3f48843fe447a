#include "gemm/blocks/tensor_map.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "harness/cuda_check.h"
#include "results/error.h"

namespace fathom::gemm {
namespace {

CUtensorMapDataType type_of(Element element) {
  switch (element) {
    case Element::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case Element::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Element::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Element::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Element::s32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case Element::e4m3:
    case Element::s8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMap encode(const void* data, Element element, std::int64_t inner, std::int64_t outer,
                   std::int64_t stride, int box_inner, int box_columns,
                   CUtensorMapSwizzle swizzle) {
  const int bytes = element_bytes(element);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(outer)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride) * bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_inner),
                            static_cast<cuuint32_t>(box_columns)};
  const cuuint32_t steps[] = {1, 1};
  static const auto encode_tiled =
      driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  CUtensorMap map;
  const CUresult result =
      encode_tiled(&map, type_of(element), 2, const_cast<void*>(data), sizes, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(
        ExitCode::check_failed,
        fmt::format("cuTensorMapEncodeTiled refused a matrix of {} x {} elements of {} bytes with "
                    "a column every {} (CUresult {}).",
                    inner, outer, bytes, stride, static_cast<int>(result)));
  }
  return map;
}

}  // namespace

CUtensorMap tensor_map(const void* data, Element element, std::int64_t inner, std::int64_t outer,
                       std::int64_t stride, int box_columns) {
  return encode(data, element, inner, outer, stride, box_row_bytes / element_bytes(element),
                box_columns, CU_TENSOR_MAP_SWIZZLE_128B);
}

CUtensorMap plain_tensor_map(const void* data, Element element, std::int64_t inner,
                             std::int64_t outer, std::int64_t stride, int box_inner,
                             int box_columns) {
  return encode(data, element, inner, outer, stride, box_inner, box_columns,
                CU_TENSOR_MAP_SWIZZLE_NONE);
}

}  // namespace fathom::gemm
