#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fathom::gemm {

/// The type of a matrix element or of a scalar.
enum class Element { f32, f64, f16, bf16, e4m3, s8, s32 };

/// What an element of a type holds, and how it is filled.
struct ElementTraits {
  int bytes;
  double largest;            ///< finite value
  double lost_below_normal;  ///< half of the smallest subnormal number: what a conversion to it may
                             ///< lose beside its relative roundoff; 0: nothing is converted to it
  double deviation;          ///< standard, of random data of the type (harness/buffers.h)
};
const ElementTraits& traits(Element element);
inline int element_bytes(Element element) { return traits(element).bytes; }

/// How a product's numbers are held and computed: each has a ladder of rungs of its own.
/// `fp32_3xtf32` has fp32 operands and fp32 accuracy, by three products on the tensor cores.
enum class Class { fp32, fp32_3xtf32, fp64, fp16, bf16, tf32, fp8, int8 };

/// What a class means. Unit roundoffs are half the distance from 1 to the next number where the
/// hardware rounds to nearest, and the whole distance where it may cut off.
struct ClassTraits {
  Class of;
  const char* name;        ///< as on the command line: "fp32", "fp32-3xtf32", ...
  Element input;           ///< of A and B in memory
  Element accumulator;     ///< of the sums
  Element scalar;          ///< of alpha and beta
  Element output;          ///< of C
  double input_roundoff;   ///< of what the arithmetic does to an element of A or B before it
                           ///< multiplies; 0: nothing
  double sum_roundoff;     ///< of one multiplication and addition in the accumulator; 0: exact
  double output_roundoff;  ///< of the conversion from accumulator to C; 0: none
};

const ClassTraits& traits(Class of);
std::span<const ClassTraits> all_classes();
/// The class of this name, or nothing.
std::optional<Class> find_class(const std::string& name);

enum class Transpose { no, yes };

/// C = alpha op(A) op(B) + beta C, as BLAS states it: every matrix column-major, op(X) = X or its
/// transpose, op(A) m x k, op(B) k x n, C m x n. Where k or alpha is 0, A and B are not read; where
/// beta is 0, C is not read, so that it may hold NaN.
///
/// A row-major product needs no case of its own. Column-major C is row-major C^T, and
/// C^T = op(B)^T op(A)^T: a kernel that thinks in rows takes B as its first operand, A as its
/// second, and m and n exchanged, and reads the very same memory (gemm/blocks/operands.cuh). BLAS's
/// NN is then the row-major NN: the first operand contiguous along k, the second and C along a row.
struct Problem {
  Class of = Class::fp32;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 1, ldb = 1, ldc = 1;  ///< in elements, from one column to the next
  Transpose transa = Transpose::no, transb = Transpose::no;
  double alpha = 1, beta = 0;  ///< rounded to the class's scalar type by whoever computes

  /// 2 m n k: what TFLOP/s are counted from, whatever alpha and beta are.
  double flops() const;
  /// Least that must cross the memory bus: A and B read, C written, and with beta read, once each.
  double minimum_bytes() const;

  // Shapes in memory: rows are contiguous.
  std::int64_t a_rows() const { return transa == Transpose::no ? m : k; }
  std::int64_t a_columns() const { return transa == Transpose::no ? k : m; }
  std::int64_t b_rows() const { return transb == Transpose::no ? k : n; }
  std::int64_t b_columns() const { return transb == Transpose::no ? n : k; }
  /// Elements from a matrix's first to its last, gaps between columns included; C's last gap too.
  std::int64_t a_elements() const;
  std::int64_t b_elements() const;
  std::int64_t c_elements() const { return ldc * n; }

  std::string layout() const;  ///< "NN": op(A), op(B)
  /// "fp32 NN 4096x4096x4096", with unusual leading dimensions and scalars.
  std::string describe() const;
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Largest m, n or k, so that sizes fit an int and rounding them up to a tile does too.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 30;

/// How many of `b`, tiles, stages or waves, hold `a`.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A product with the smallest leading dimensions that hold it.
Problem make_problem(Class of, std::int64_t m, std::int64_t n, std::int64_t k,
                     Transpose transa = Transpose::no, Transpose transb = Transpose::no,
                     double alpha = 1, double beta = 0);

/// What is wrong with the problem in one sentence (a leading dimension below the rows, a scalar too
/// large for its type or, for integers, not whole), or nothing. The command line checks the rest.
std::optional<std::string> invalid(const Problem& problem);

/// Whether every column of a matrix that starts on so many bytes starts on a multiple of them.
inline bool columns_aligned(std::int64_t leading_dimension, Element element, int bytes) {
  return leading_dimension * element_bytes(element) % bytes == 0;
}

}  // namespace fathom::gemm
