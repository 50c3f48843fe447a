#include "probes/warp_reduce/sum_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "harness/buffers.h"
#include "probes/warp_reduce/sum_kernels.h"

namespace fathom::warp_reduce {
namespace {

constexpr double float_unit_roundoff = 0x1p-24;
constexpr double double_unit_roundoff = 0x1p-53;
constexpr double standard_deviations = 10;
constexpr std::size_t partial_sums = std::size_t{reference_blocks} * reference_threads;

double root_of_variance(double unit_roundoff, double elements, double terms) {
  return unit_roundoff * std::sqrt(elements / 3 * terms);
}

std::optional<std::string> check_integers(const std::vector<std::uint64_t>& partial,
                                          std::uint32_t got) {
  std::uint64_t exact = 0;
  for (const std::uint64_t sum : partial) exact += sum;
  const auto expected = static_cast<std::uint32_t>(exact);
  if (got == expected) return std::nullopt;
  return fmt::format("the sum is {} instead of {} (modulo 2^32)", got, expected);
}

}  // namespace

double sum_tolerance(Element element, double elements, double threads_per_block, double blocks) {
  const double u = element == Element::f64 ? double_unit_roundoff : float_unit_roundoff;
  const double per_thread = elements / (threads_per_block * blocks);
  const double own = root_of_variance(u, elements, per_thread + threads_per_block + blocks);
  // The reference rounds too; its partial sums are added up with more than double's precision.
  const double reference =
      root_of_variance(double_unit_roundoff, elements, elements / partial_sums + 1);
  return standard_deviations * (own + reference);
}

std::function<std::optional<std::string>()> check_sum(Context& context, Element element,
                                                      const std::byte* source, std::size_t elements,
                                                      const std::byte* result, double tolerance,
                                                      std::shared_ptr<SumError> error) {
  const Buffer partial = context.buffers().output("reference", partial_sums * sizeof(double));
  cudaStream_t stream = context.stream();
  return [=]() -> std::optional<std::string> {
    launch_reference(element, source, elements, partial.data, stream);
    if (element == Element::i32)
      return check_integers(copy_to_host<std::uint64_t>(partial.data, partial_sums, stream),
                            copy_to_host<std::uint32_t>(result, 1, stream)[0]);
    long double expected = 0;
    for (const double sum : copy_to_host<double>(partial.data, partial_sums, stream))
      expected += sum;
    const double got = element == Element::f64 ? copy_to_host<double>(result, 1, stream)[0]
                                               : copy_to_host<float>(result, 1, stream)[0];
    *error = {static_cast<double>(std::abs(got - expected)), tolerance};
    if (error->absolute <= tolerance) return std::nullopt;  // false for a NaN too
    return fmt::format(
        "the sum is {} instead of {}, off by more than the {} that rounding explains", got,
        static_cast<double>(expected), tolerance);
  };
}

}  // namespace fathom::warp_reduce
