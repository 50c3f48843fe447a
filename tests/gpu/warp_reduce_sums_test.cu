// The sum kernels where they are most likely to be wrong: few elements, tails, unaligned starts.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include "probes/warp_reduce/kernels.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;
using namespace fathom::warp_reduce;

namespace {

constexpr std::size_t largest = 100'003;
constexpr int largest_offset = 9;
constexpr Element every_element[] = {Element::f32, Element::f64, Element::i32, Element::f16,
                                     Element::bf16};

/// Small enough that every sum is exact in every type, and no two neighbours alike.
int value_at(std::size_t i) {
  return static_cast<int>((static_cast<std::uint32_t>(i) * 2654435761u >> 20) % 7) - 3;
}

template <class T>
std::vector<std::byte> as_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T x = static_cast<T>(static_cast<float>(value_at(i)));
    std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
  }
  return bytes;
}

std::vector<std::byte> values(Element element) {
  constexpr decltype(as_bytes<float>)* of_type[] = {
      as_bytes<float>, as_bytes<double>, as_bytes<int>, as_bytes<__half>, as_bytes<__nv_bfloat16>};
  return of_type[static_cast<int>(element)](largest + largest_offset);
}

double result_of(Element element, const std::byte* result) {
  if (element == Element::f64) return test::to_host<double>(result, 1)[0];
  if (element == Element::i32) return test::to_host<int>(result, 1)[0];
  return test::to_host<float>(result, 1)[0];
}

}  // namespace

TEST_CASE("every sum is exact, whatever the number of elements and the start",
          "[gpu][warp_reduce][sanitized]") {
  test::Pool gpu;
  const Buffer result = gpu.buffers.output("result", sizeof(double));
  const Buffer state = gpu.buffers.output("state", sizeof(DynamicState));
  const Buffer block_sums = gpu.buffers.output("block sums", max_dynamic_blocks * sizeof(double));
  gpu.set(state, 0);
  const auto check = [&](const SumKernel& kernel) {
    const Buffer source = gpu.filled("source", values(kernel.element));  // exact size
    for (const std::size_t n :
         std::initializer_list<std::size_t>{0, 1, 3, 31, 1000, 16384, 16385, 65536, largest}) {
      for (const int offset : {0, 1, 3, largest_offset}) {
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += value_at(i + offset);
        gpu.buffers.poison(result);
        const std::byte* first = source.data + offset * element_bytes(kernel.element);
        const SumLayout layout = sum_layout(reinterpret_cast<std::uintptr_t>(first), n,
                                            element_bytes(kernel.element), kernel.threads);
        // As on one SM: a block then has more than one tile. The dynamic recipe leaves its counters
        // as it found them, or the next sum is wrong.
        launch_sum(kernel, {first, layout, result.data, state.as<DynamicState>(), block_sums.data},
                   1, gpu.stream.get());
        CAPTURE(static_cast<int>(kernel.recipe), static_cast<int>(kernel.element), kernel.threads,
                n, offset);
        CHECK(result_of(kernel.element, result.data) == expected);
      }
    }
  };
  for (const Element element : every_element) {
    check({Recipe::tile, element, 512});
    check({Recipe::dynamic, element, 512});
    check({Recipe::loop, element, loop_threads});
    check({Recipe::scalar_loop, element, loop_threads});
  }
  for (const int threads : {128, 256, 1024}) check({Recipe::tile, Element::f32, threads});
  gpu.check_guards();
}

TEST_CASE("the reference adds up every element", "[gpu][warp_reduce][sanitized]") {
  test::Pool gpu;
  constexpr std::size_t partial_sums = std::size_t{reference_blocks} * reference_threads;
  // 64-bit integers and double are as wide.
  const Buffer partial = gpu.buffers.output("partial sums", partial_sums * sizeof(double));
  for (const Element element : every_element) {
    const Buffer source = gpu.filled("source", values(element));
    gpu.buffers.poison(partial);
    launch_reference(element, source.data, largest, partial.data, gpu.stream.get());
    double sum = 0, expected = 0;
    if (element == Element::i32) {
      std::uint64_t exact = 0;
      for (const auto x : gpu.read<std::uint64_t>(partial)) exact += x;
      sum = static_cast<std::int32_t>(exact);  // modulo 2^32: the elements count as unsigned
    } else {
      for (const double x : gpu.read<double>(partial)) sum += x;
    }
    for (std::size_t i = 0; i < largest; ++i) expected += value_at(i);
    CAPTURE(static_cast<int>(element));
    CHECK(sum == expected);
  }
  gpu.check_guards();
}

TEST_CASE("the published block stage adds up ones and nothing else",
          "[gpu][warp_reduce][sanitized]") {
  test::Pool gpu;
  for (const Case& c : block_stage_cases(gpu.facts)) {
    Entry entry;
    CHECK(std::get<Campaign>(c.mode).run(gpu.context, nullptr, "", {}, entry).value_or("") == "");
    CHECK(entry.metric.value == (c.name.ends_with("ones") ? 0 : c.extras.at("blocks")));
  }
}
