#include "gemm/bench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "harness/cuda_check.h"

namespace fathom::gemm {
namespace {

Fill fill_of(Element element) {
  constexpr Fill fills[] = {Fill::normal_float,    Fill::normal_double, Fill::normal_half,
                            Fill::normal_bfloat16, Fill::normal_e4m3,   Fill::normal_int8,
                            Fill::normal_int32};
  static_assert(std::size(fills) == static_cast<std::size_t>(Element::s32) + 1);
  return fills[static_cast<std::size_t>(element)];
}

/// Multiplications and additions that a reference may take.
constexpr double most_reference_work = 0x1p40;

/// Copies `columns` of so many bytes that start every `pitch` bytes, and nothing between them. One
/// by one where there are gaps: cudaMemcpy2D takes none that begin 2 GiB after the last.
void copy_columns(void* to, const void* from, std::size_t bytes, std::size_t columns,
                  std::size_t pitch, cudaStream_t stream) {
  if (pitch == bytes) bytes *= std::exchange(columns, 1);
  for (std::size_t i = 0; i < columns; ++i) {
    FATHOM_CUDA(cudaMemcpyAsync(static_cast<std::byte*>(to) + i * pitch,
                                static_cast<const std::byte*>(from) + i * pitch, bytes,
                                cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace

Reference RunMemory::reference_of(const Arguments& arguments, cudaStream_t stream) {
  const Problem& p = arguments.problem;
  const int step = reference_column_step(p);
  if (problem != p) {
    problem.reset();
    values.reset();
    magnitudes.reset();
    const auto elements =
        static_cast<std::size_t>(std::max<std::int64_t>(p.m * ceil_div(p.n, step), 1));
    values = make_device_memory<double>(elements);
    magnitudes = make_device_memory<double>(elements);
    launch_reference_product(arguments, {values.get(), magnitudes.get(), step}, stream);
    problem = p;
  }
  return {values.get(), magnitudes.get(), step};
}

int reference_column_step(const Problem& p) {
  const double work = p.flops() / 2;
  for (const int step : {1, 3, 7, 17, 37, 67, 131, 257}) {
    if (work / step <= most_reference_work) return step;
  }
  return 521;
}

std::optional<std::string> judge(const Problem& problem, const Tolerance& tolerance,
                                 const Deviation& d, Accuracy& accuracy) {
  if (d.gap_written != 0) {
    return fmt::format("{}: {} elements of C's memory that are none of C were written",
                       problem.describe(), d.gap_written);
  }
  // The magnitude's norm over sqrt(k + 1) is the reference's if signs were random: what happens to
  // cancel is not held against the kernel. A norm that is no number must not become one.
  const double norm =
      std::max(std::sqrt(d.value_squares),
               std::sqrt(d.magnitude_squares / (static_cast<double>(problem.k) + 1)));
  const double error = std::sqrt(d.error_squares);
  accuracy.relative_frobenius = norm == 0 ? error : error / norm;
  accuracy.worst = d.worst;
  if (d.not_finite != 0 || d.outside != 0) {
    return fmt::format(
        "{}: {} elements of C are not finite and {} are off by more than rounding "
        "explains, one by {:.3g} times that",
        problem.describe(), d.not_finite, d.outside, d.worst);
  }
  if (!(accuracy.relative_frobenius <= tolerance.relative_frobenius)) {
    return fmt::format("{}: C is off by {:.3g} of its Frobenius norm, and rounding explains {:.3g}",
                       problem.describe(), accuracy.relative_frobenius,
                       tolerance.relative_frobenius);
  }
  return std::nullopt;
}

Operands::Operands(Context& context, std::shared_ptr<RunMemory> memory, const Problem& problem,
                   const std::string& owner, bool promoted)
    : context_(&context), memory_(std::move(memory)), promoted_(promoted) {
  const ClassTraits& t = traits(problem.of);
  const auto bytes = [](std::int64_t elements, Element element) {
    // A matrix without elements has an address all the same, and nobody may write there.
    return static_cast<std::size_t>(std::max<std::int64_t>(elements, 1)) * element_bytes(element);
  };
  const auto name = [&](const char* matrix) { return fmt::format("{} of {}", matrix, t.name); };
  BufferPool& buffers = context.buffers();
  const Buffer a = buffers.input(name("A"), bytes(problem.a_elements(), t.input), fill_of(t.input));
  const Buffer b = buffers.input(name("B"), bytes(problem.b_elements(), t.input), fill_of(t.input));
  c_ = buffers.output(fmt::format("{} by {}", name("C"), owner),
                      bytes(problem.c_elements(), t.output));
  if (problem.beta != 0) {
    old_c_ =
        buffers.input(name("old C"), bytes(problem.c_elements(), t.output), fill_of(t.output)).data;
  }
  arguments_ = {problem, a.data, b.data, c_.data};
}

void Operands::reset_c() const {
  context_->buffers().poison(c_);
  if (old_c_ == nullptr) return;
  const Problem& p = arguments_.problem;
  if (p.m == 0 || p.n == 0) return;
  const auto size = static_cast<std::size_t>(element_bytes(traits(p.of).output));
  copy_columns(c_.data, old_c_, static_cast<std::size_t>(p.m) * size, static_cast<std::size_t>(p.n),
               static_cast<std::size_t>(p.ldc) * size, context_->stream());
}

std::optional<std::string> Operands::verify() {
  const Problem& problem = arguments_.problem;
  Arguments with_old_c = arguments_;
  with_old_c.c = const_cast<void*>(old_c_);  // the reference reads it only
  cudaStream_t stream = context_->stream();
  const Reference reference = memory_->reference_of(with_old_c, stream);
  const DeviceMemory<Deviation> deviation = make_device_memory<Deviation>(1);
  FATHOM_CUDA(cudaMemsetAsync(deviation.get(), 0, sizeof(Deviation), stream));
  const Tolerance allowed = tolerance(problem, promoted_);
  launch_compare(arguments_, reference, allowed, deviation.get(), stream);
  const auto found =
      copy_to_host<Deviation>(reinterpret_cast<const std::byte*>(deviation.get()), 1, stream)[0];
  return judge(problem, allowed, found, accuracy_);
}

Workload verified_workload(std::function<void()> launch, std::shared_ptr<Operands> operands) {
  Workload workload;
  workload.launch = std::move(launch);
  workload.poison = [operands] { operands->reset_c(); };
  workload.verify = [operands] { return operands->verify(); };
  return workload;
}

}  // namespace fathom::gemm
