#include "gemm/best/tma_operands.h"

#include "gemm/blocks/tensor_map.h"

namespace fathom::gemm {
namespace {

bool fits(const TmaOperand& x, const std::optional<Major>& taken) {
  return (!taken || *taken == x.major) && columns_aligned(x.stride, x.element, map_alignment);
}

/// The operand as its copy lies, but for its address.
TmaOperand copy_of(TmaOperand x, const std::optional<Major>& taken) {
  x.major = taken.value_or(x.major);
  const std::int64_t unit = map_alignment / element_bytes(x.element);
  const std::int64_t inner = x.major == Major::k ? x.k : x.outer;
  x.stride = (inner + unit - 1) / unit * unit;
  return x;
}

std::size_t bytes_of(const TmaOperand& copy) {
  const std::int64_t columns = copy.major == Major::k ? copy.outer : copy.k;
  return workspace_part(
      static_cast<std::size_t>(copy.stride * columns * element_bytes(copy.element)));
}

}  // namespace

std::size_t copy_bytes(const TmaOperand& x, const std::optional<Major>& taken) {
  return fits(x, taken) ? 0 : bytes_of(copy_of(x, taken));
}

TmaOperand prepare(const TmaOperand& x, const std::optional<Major>& taken, std::byte*& workspace,
                   cudaStream_t stream) {
  if (fits(x, taken)) return x;
  TmaOperand copy = copy_of(x, taken);
  copy.data = workspace;
  const bool along_k = x.major == Major::k;
  const Lines source{x.data, along_k ? x.outer : x.k, along_k ? x.k : x.outer, x.stride,
                     element_bytes(x.element)};
  if (copy.major == x.major) {
    launch_realign(source, workspace, copy.stride, stream);
  } else {
    launch_transpose(source, workspace, copy.stride, stream);
  }
  workspace += bytes_of(copy);
  return copy;
}

TmaOperands TmaOperands::of(const Arguments& arguments) {
  const Problem& p = arguments.problem;
  const Element element = traits(p.of).input;
  // BLAS's B is k x n: its columns are rows of op(B)^T, contiguous along k unless it is transposed.
  return {
      {arguments.b, p.n, p.k, p.ldb, p.transb == Transpose::no ? Major::k : Major::outer, element},
      {arguments.a, p.m, p.k, p.lda, p.transa == Transpose::no ? Major::outer : Major::k, element}};
}

std::size_t TmaOperands::copy_bytes(const Problem& problem, const MajorsTaken& taken) {
  const TmaOperands plain = of({problem});
  return gemm::copy_bytes(plain.a, taken.a) + gemm::copy_bytes(plain.b, taken.b);
}

TmaOperands TmaOperands::prepared(const Arguments& arguments, const MajorsTaken& taken,
                                  std::byte* workspace, cudaStream_t stream) {
  const TmaOperands plain = of(arguments);
  TmaOperands ready;
  ready.a = prepare(plain.a, taken.a, workspace, stream);
  ready.b = prepare(plain.b, taken.b, workspace, stream);
  return ready;
}

}  // namespace fathom::gemm
