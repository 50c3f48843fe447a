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

void check(const Rung& rung, const Problem& p) {
  INFO(rung.id() << ", " << p.describe());
  const Outcome outcome = run(rung, p);
  CHECK(outcome.wrong == 0);
  for (const std::string& fault : outcome.report.faults) FAIL_CHECK(fault);
}

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
  std::set<std::string> tilings;
  for (const Rung& rung : host_lessons()) {
    const Problem p = make_problem(rung.of, 256, 256, 32);
    for (const RungPlan& variant : rung.plan(p, 1).variants) {
      CHECK(tilings.insert(variant.name).second);
      CAPTURE(variant.name);
      Rung tuned = rung;
      tuned.plan = [&](const Problem&, int) { return variant; };
      check(tuned, p);
    }
    // 64 columns fit the tiles of so many alone, and an odd size none.
    CHECK(rung.plan(make_problem(rung.of, 511, 256, 32), 1).variants.empty());
    CHECK(rung.plan(make_problem(rung.of, 64, 256, 32), 1).variants.size() < 7);
  }
  CHECK(tilings.size() == 7);
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
  for (const Rung& lesson : host_lessons()) {
    CAPTURE(lesson.id());
    const auto& t = lesson.traffic;
    for (const int times : {1, 2}) {
      const Problem plain = plain_problem(lesson, 0);
      // Exactly one tile, with columns that start on lines.
      const Problem p = make_problem(lesson.of, plain.m / 2, plain.n / 3, 64 * times);
      REQUIRE(lesson.takes_own_path(p));
      const Report r = run(lesson, p).report;
      CAPTURE(times);
      CHECK(r.global_load_sectors == times * t.load_sectors);
      CHECK(r.global_load_requests == times * t.load_requests);
      CHECK(r.shared_load_wavefronts == times * t.load_wavefronts + t.staged_loads);
      CHECK(r.shared_load_conflicts == times * t.load_conflicts);
      CHECK(r.shared_store_wavefronts == times * t.store_wavefronts + t.staged_stores);
      CHECK(r.shared_store_conflicts == times * t.store_conflicts + t.staged_conflicts);
      CHECK(r.global_store_sectors == t.store_sectors);
    }
  }
}

// The runner itself: a kernel that goes beyond what it was given is told.
TEST_CASE("an access outside of the matrices is a fault", "[host][gemm]") {
  const std::vector<Rung> all = host_lessons();
  const Rung& lesson = *std::ranges::find(all, "fp32/row_major/01_naive", &Rung::id);
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
