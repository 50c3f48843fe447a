// The lessons of fp32 and those of fp64 without tensor cores, on the CPU: the product against a
// plain sum in higher precision, races, accesses outside of the matrices, and what models/ says
// that its memory traffic costs.

#include "gemm/bench/rung.h"
#include "gemm/bench/tolerance.h"
#include "tests/host/host_run.h"
#include "tests/testing.h"

using namespace fathom::gemm;
using fathom::host_run::Buffer;
using fathom::host_run::record;
using fathom::host_run::Report;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Every lesson that runs here.
std::vector<Rung> host_lessons() {
  std::vector<Rung> all;
  for (const Class of : {Class::fp32, Class::fp64}) {
    for (const Lesson& lesson : simt_lessons(of)) all.push_back(rung_of(of, lesson));
  }
  return all;
}

/// The one of this id, of fp32 without its type.
Rung host_lesson(const std::string& id) {
  const std::vector<Rung> all = host_lessons();
  const auto found = std::ranges::find(all, id.starts_with("fp64/") ? id : "fp32/" + id, &Rung::id);
  REQUIRE(found != all.end());
  return *found;
}

/// A matrix as cudaMalloc would place it, with NaN between its columns.
template <class T>
class HostMatrix {
 public:
  HostMatrix(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::mt19937& random)
      : ld_(ld), size_(static_cast<std::size_t>(std::max<std::int64_t>(ld * columns, 1))) {
    const std::size_t bytes = (size_ * sizeof(T) + 255) / 256 * 256;
    data_.reset(static_cast<T*>(std::aligned_alloc(256, bytes)));
    std::fill_n(data_.get(), size_, static_cast<T>(nan));
    std::normal_distribution<T> normal;
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) at(i, j) = normal(random);
    }
  }
  T& at(std::int64_t row, std::int64_t column) { return data_.get()[row + column * ld_]; }
  Buffer buffer() const { return {data_.get(), size_ * sizeof(T)}; }
  T* data() { return data_.get(); }
  std::vector<T> copy() const { return {data_.get(), data_.get() + size_}; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::int64_t ld_;
  std::size_t size_;
  std::unique_ptr<T, Free> data_;
};

struct Outcome {
  Report report;
  int wrong = 0;  ///< elements of C beyond the tolerance, and of the gaps that changed
};

/// Computes the product by the lesson and compares it.
template <class T>
Outcome run_as(const Rung& rung, const Problem& p, int left_out) {
  std::mt19937 random(7);
  HostMatrix<T> a(p.a_rows(), p.a_columns(), p.lda, random);
  HostMatrix<T> b(p.b_rows(), p.b_columns(), p.ldb, random);
  HostMatrix<T> c(p.m, p.n, p.ldc, random);
  // What BLAS does not read may be anything.
  if (p.alpha == 0 && p.m > 0 && p.k > 0) a.at(0, 0) = static_cast<T>(nan);
  if (p.beta == 0) {
    for (std::int64_t j = 0; j < p.n; ++j) std::fill_n(&c.at(0, j), p.m, static_cast<T>(nan));
  }
  const std::vector<T> old = c.copy();
  const Buffer buffers[] = {a.buffer(), b.buffer(), c.buffer()};
  const auto launch = [&] {
    rung.plan(p, 1).launch({p, a.data(), b.data(), c.data()}, {}, nullptr);
  };
  Outcome outcome{record(buffers, launch, left_out)};
  const Tolerance allowed = tolerance(p);
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = 0; i < p.ldc; ++i) {
      const T before = old[static_cast<std::size_t>(i + j * p.ldc)], now = c.at(i, j);
      if (i >= p.m) {
        outcome.wrong += !std::isnan(now);
        continue;
      }
      long double sum = 0, magnitude = 0;
      for (std::int64_t k = 0; k < (p.alpha == 0 ? 0 : p.k); ++k) {
        const long double x =
            static_cast<long double>(p.transa == Transpose::no ? a.at(i, k) : a.at(k, i)) *
            (p.transb == Transpose::no ? b.at(k, j) : b.at(j, k));
        sum += p.alpha * x;
        magnitude += std::abs(p.alpha * x);
      }
      if (p.beta != 0) {
        sum += p.beta * before;
        magnitude += std::abs(p.beta * before);
      }
      const long double off = std::abs(now - sum);
      outcome.wrong += !(off <= allowed.per_magnitude * magnitude +
                                    allowed.per_value * std::abs(sum) + allowed.absolute);
    }
  }
  return outcome;
}

Outcome run(const Rung& rung, const Problem& p, int left_out = -1) {
  return rung.of == Class::fp64 ? run_as<double>(rung, p, left_out)
                                : run_as<float>(rung, p, left_out);
}

/// Two tiles by three, several steps of k, and columns further apart than they need be.
Problem plain_problem(const Rung& rung, std::int64_t gap) {
  const bool by_column = rung.id().find("/column_major/") != std::string::npos;
  const RungKernel kernel = rung.plan(make_problem(rung.of, 4096, 4096, 4096), 1).kernel;
  const int steps = rung.capability >= 80 ? 7 : 3;  // more than a ring of stages has
  Problem p = make_problem(rung.of, 2 * (by_column ? kernel.tile_m : kernel.tile_n),
                           3 * (by_column ? kernel.tile_n : kernel.tile_m),
                           steps * std::max(kernel.tile_k, 5));
  p.lda += gap, p.ldb += gap, p.ldc += gap;
  return p;
}

/// Exactly one tile, and 64 deep, with columns that start on lines.
Problem one_tile(const Rung& rung) {
  Problem p = plain_problem(rung, 0);
  return make_problem(rung.of, p.m / 2, p.n / 3, 64);
}

void check(const Rung& rung, const Problem& p) {
  INFO(rung.id() << ", " << p.describe());
  const Outcome outcome = run(rung, p);
  CHECK(outcome.wrong == 0);
  for (const std::string& fault : outcome.report.faults) FAIL_CHECK(fault);
}

/// What a lesson's kernel costs on one tile, 64 deep, as its source is written: sectors of global
/// loads and of stores, then of shared loads wavefronts and conflicts, and of shared stores.
struct ExpectedTraffic {
  const char* lesson;  ///< of fp32: below "fp32/"
  std::array<std::uint64_t, 6> costs;
};

constexpr ExpectedTraffic expected_traffic[] = {
    // 32 warps, 64 steps, 32 sectors of A and 1 of B; a warp stores a column.
    {"row_major/01_naive", {67584, 1024, 0, 0, 0, 0}},
    // 1 sector of A and 4 of B.
    {"row_major/02_coalesced", {10240, 128, 0, 0, 0, 0}},
    // 32 warps: two loads a step of k, and two stores for each of two tiles.
    {"row_major/03_shared_memory", {512, 128, 4096, 0, 128, 0}},
    // 16 warps: nine loads a step of k.
    {"row_major/04_tile_1d", {1024, 512, 9216, 0, 256, 0}},
    // Eight warps, 64 steps: eight loads of A of two wavefronts, two of B of eight, twice what they
    // need.
    {"row_major/05_tile_2d", {2048, 16384, 16384, 8192, 512, 0}},
    // Eight loads of B of one wavefront, which takes its stores from one wavefront to four.
    {"row_major/06_linearised", {2048, 16384, 12288, 4096, 1280, 768}},
    // Two loads of B of four.
    {"row_major/07_padded", {2048, 16384, 12288, 4096, 512, 0}},
    {"row_major/08_double_buffered", {2048, 16384, 16384, 8192, 512, 0}},
    // Two loads of A of two wavefronts.
    {"row_major/09_vectorised", {2048, 4096, 10240, 4096, 512, 0}},
    {"row_major/10_autotuned", {2048, 4096, 10240, 4096, 512, 0}},
    // Four loads of two wavefronts, and no conflict is left.
    {"row_major/11_warp_tile", {2048, 2048, 4096, 0, 512, 0}},
    // Eight warps, 64 / 32 steps, four rows each: an element of A, 32 of B and the old sum.
    {"column_major/01_naive", {512, 128, 2208, 0, 224, 0}},
    // Four columns, two loads a step of k.
    {"column_major/02_shared_memory", {512, 128, 4096, 0, 128, 0}},
    // Six loads a step of k, and the results on their way through shared memory.
    {"column_major/03_tile_2x2", {512, 128, 3104, 0, 192, 32}},
    // Four columns of five loads; a column of B is 260 words from the next thread's: two
    // wavefronts.
    {"column_major/04_tile_64", {1024, 512, 12288, 2048, 256, 0}},
    // One load of A of two wavefronts, four of B of two.
    {"column_major/05_vectorised_64", {1024, 512, 5120, 2048, 256, 0}},
    // One load of A of four wavefronts, four broadcasts of B of two.
    {"column_major/06_tile_128", {2048, 2048, 6144, 0, 512, 0}},
    {"column_major/07_double_buffered", {2048, 2048, 6144, 0, 512, 0}},
    // An element of A for all four columns.
    {"column_major/08_staged_registers", {512, 128, 2560, 0, 128, 0}},
    // Two loads of A of eight wavefronts, half of them conflicts, and two of B of two. A store
    // writes half of each sector.
    {"column_major/09_tile_8x8", {2048, 4096, 10240, 4096, 512, 0}},
    // Five loads a step of k.
    {"column_major/10_vector_store", {512, 128, 2560, 0, 128, 0}},
    // 16 warps, three loads a step of k.
    {"row_major/12_two_outputs", {512, 128, 3072, 0, 128, 0}},
    {"row_major/13_two_buffers", {512, 128, 4096, 0, 128, 0}},
    // Two loads of A of two wavefronts, two of B of four. A's lines are padded to 16 bytes, so that
    // k four apart meet in two places: two wavefronts a store.
    {"row_major/14_registers_buffered", {2048, 2048, 6144, 0, 768, 256}},
    // The same loads as 14; A's elements are copied one by one, eight k by four rows a warp.
    {"row_major/15_async_multistage", {2048, 2048, 6144, 0, 512, 0}},
    // Two loads of A of two wavefronts, four of B of four.
    {"row_major/16_wide_thread_tile", {3072, 4096, 10240, 0, 768, 0}},
    // Eight warps, a load of two wavefronts of A and of B a step of k. The two doubles of A are in
    // the same banks; nvcc reads two k at once, and then they are not.
    {"fp64/01_shared_memory", {512, 64, 2048, 512, 128, 0}},
    // Four loads of A of two wavefronts, four of B of four.
    {"fp64/02_register_tile", {4096, 4096, 12288, 0, 1024, 0}},
};

}  // namespace

TEST_CASE("every lesson's own kernel computes its products", "[host][gemm]") {
  for (const Rung& rung : host_lessons()) {
    Problem p = plain_problem(rung, 4);
    REQUIRE(rung.takes_own_path(p));
    check(rung, p);
    p.alpha = 0.5, p.beta = -1.5;
    check(rung, p);
  }
}

TEST_CASE("a lesson computes every other product too", "[host][gemm]") {
  for (const Rung& rung : host_lessons()) {
    for (const Transpose transa : {Transpose::no, Transpose::yes}) {
      Problem p = make_problem(rung.of, 67, 35, 21, transa, Transpose::no, 0.5, -1.5);
      p.lda += 3, p.ldb += 1, p.ldc += 5;
      check(rung, p);
    }
    check(rung, make_problem(rung.of, 33, 70, 9, Transpose::yes, Transpose::yes));
    check(rung, make_problem(rung.of, 0, 70, 9));
    check(rung, make_problem(rung.of, 33, 2, 0, Transpose::no, Transpose::no, 1, 2));
    check(rung, make_problem(rung.of, 32, 32, 32, Transpose::no, Transpose::no, 0, 0.5));
  }
}

TEST_CASE("every tiling of the autotuned lesson computes its products", "[host][gemm]") {
  for (const Rung& rung : host_lessons()) {
    const Problem p = make_problem(rung.of, 256, 256, 32);
    for (const RungPlan& variant : rung.plan(p, 1).variants) {
      CAPTURE(variant.name);
      Rung tuned = rung;
      tuned.plan = [&](const Problem&, int) { return variant; };
      check(tuned, p);
    }
  }
}

// As several published kernels do it: without the barrier between the last read of a tile and the
// next step's writes. Which barrier it is does not matter: none is there for nothing.
TEST_CASE("a lesson without any one of its barriers has a race", "[host][gemm]") {
  int barriers = 0;
  for (const Rung& rung : host_lessons()) {
    const Problem p = plain_problem(rung, 0);
    const Report whole = run(rung, p).report;
    CAPTURE(rung.id());
    CHECK(whole.races == 0);
    for (int left_out = 0; left_out < whole.barriers; ++left_out, ++barriers) {
      CAPTURE(left_out);
      CHECK(run(rung, p, left_out).report.races > 0);
    }
  }
  CHECK(barriers == 50);
}

TEST_CASE("what the lessons' traffic costs", "[host][gemm]") {
  CHECK(host_lessons().size() == std::size(expected_traffic));
  for (const auto& [name, costs] : expected_traffic) {
    CAPTURE(name);
    const Rung lesson = host_lesson(name);
    REQUIRE(lesson.takes_own_path(one_tile(lesson)));
    const Report r = run(lesson, one_tile(lesson)).report;
    CHECK(std::array{r.global_load_sectors, r.global_store_sectors, r.shared_load_wavefronts,
                     r.shared_load_conflicts, r.shared_store_wavefronts,
                     r.shared_store_conflicts} == costs);
  }
}

// The runner itself: a kernel that goes beyond what it was given is told.
TEST_CASE("an access outside of the matrices is a fault", "[host][gemm]") {
  const Rung lesson = host_lesson("row_major/01_naive");
  const Problem p = make_problem(Class::fp32, 32, 32, 8);
  std::mt19937 random(7);
  HostMatrix<float> a(p.m, p.k, p.lda, random), b(p.k, p.n, p.ldb, random),
      c(p.m, p.n, p.ldc, random);
  const auto faults = [&](std::span<const Buffer> buffers) {
    const Arguments arguments{p, a.data(), b.data(), c.data()};
    return record(buffers, [&] { lesson.plan(p, 1).launch(arguments, {}, nullptr); }).faults;
  };
  Buffer short_c = c.buffer();
  short_c.bytes -= sizeof(float);
  CHECK(faults(std::vector{a.buffer(), b.buffer(), c.buffer()}).empty());
  const std::vector<std::string> found = faults(std::vector{a.buffer(), b.buffer(), short_c});
  REQUIRE(found.size() == 1);
  CHECK(found.front() == "thread 1023 writes 4 bytes outside of all buffers");
}
