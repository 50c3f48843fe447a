// Launches that may begin before the one before them has ended (programmatic dependent launch), one
// behind the other on what that one writes: C of one is an operand of the next, and C of several.

#include "gemm/bench/rung.h"
#include "gemm/bench/shapes.h"
#include "tests/gpu/gemm_rung_bench.h"
#include "tests/gpu/launched_kernels.h"

using namespace fathom;
using namespace fathom::gemm;

namespace {

/// Launches of a rung on squares of `size` and on 16 rows or columns of them.
class Chain {
 public:
  Chain(test::RungBench& bench, const Rung& rung, std::int64_t size)
      : bench_(&bench),
        rung_(&rung),
        size_(size),
        inputs_(bench.context, bench.memory, contested_problem(rung.of, {size, size, size}),
                "chain") {
    const ClassTraits& t = traits(rung.of);
    const std::int64_t square = size * size;
    const auto results = [&](const char* role, std::int64_t elements) {
      const auto bytes = static_cast<std::size_t>(elements * element_bytes(t.output));
      for (int i = 0; i < 2; ++i) {
        results_[i].push_back(
            bench.context.buffers().output(role + std::to_string(i) + " of " + t.name, bytes));
      }
    };
    results("first", square);
    results("second", square);
    results("rows", skinny * size);
    results("columns", skinny * size);
    // Integers take whole scalars; others keep the scale of their operands.
    if (t.scalar != Element::s32) alpha_ = 1 / std::sqrt(static_cast<double>(size)), beta_ = 0.5;
    std::size_t scratch = 0;
    for (const Arguments& product : products(0))
      scratch = std::max(scratch, plan_of(product).workspace_bytes);
    workspace_ = bench.workspace(scratch, bench.facts.sms);
  }

  /// Queues all launches, and waits after each, or only for the last.
  void run(bool waits) {
    const std::vector<Buffer>& results = results_[waits ? 0 : 1];
    for (const Buffer& c : results) bench_->context.buffers().poison(c);
    wait();
    for (const Arguments& product : products(waits ? 0 : 1)) {
      plan_of(product).launch(product, workspace_, bench_->stream.get());
      if (waits) wait();
    }
    wait();
  }

  /// Whether both ways gave the same, and numbers.
  void check() const {
    for (std::size_t i = 0; i < results_[0].size(); ++i) {
      const Buffer &waited = results_[0][i], &queued = results_[1][i];
      CAPTURE(i);
      CHECK(count_different_bytes(waited.data, queued.data, waited.bytes, bench_->stream.get()) ==
            0);
      const auto bytes = copy_to_host<unsigned char>(waited, bench_->stream.get());
      const auto size = static_cast<std::size_t>(element_bytes(traits(rung_->of).output));
      CHECK_FALSE(std::all_of(bytes.begin(), bytes.begin() + static_cast<long>(size),
                              [](unsigned char byte) { return byte == 0xFF; }));
    }
    bench_->check_guards();
  }

 private:
  static constexpr std::int64_t skinny = 16;

  void wait() { FATHOM_CUDA(cudaStreamSynchronize(bench_->stream.get())); }

  RungPlan plan_of(const Arguments& product) const {
    return rung_->plan(product.problem, bench_->facts.sms);
  }

  Arguments product(std::int64_t m, std::int64_t n, const void* a, const void* b, void* c,
                    double beta) const {
    Problem p = contested_problem(rung_->of, {m, n, size_});
    p.alpha = alpha_;
    p.beta = beta;
    return {p, a, b, c};
  }

  std::vector<Arguments> products(int way) const {
    const std::vector<Buffer>& results = results_[way];
    void *const first = results[0].data, *const second = results[1].data,
                *const rows = results[2].data, *const columns = results[3].data;
    const void *const a = inputs_.arguments().a, *const b = inputs_.arguments().b;
    const ClassTraits& t = traits(rung_->of);
    const std::int64_t s = size_;
    std::vector<Arguments> all{product(s, s, a, b, first, 0)};
    // Whose C has another type than A is no operand.
    const bool operand = t.input == t.output;
    all.push_back(product(s, s, operand ? first : a, b, second, 0));
    for (int i = 0; i < 3; ++i) all.push_back(product(s, s, operand ? first : a, b, second, beta_));
    // The large operand is what the launch before wrote, then the small one.
    all.push_back(product(skinny, s, a, operand ? second : b, rows, 0));
    all.push_back(product(s, skinny, operand ? second : a, operand ? rows : b, columns, 0));
    for (int i = 0; i < 3; ++i) {
      all.push_back(product(skinny, s, operand ? columns : a, b, rows, beta_));
      all.push_back(product(s, skinny, a, operand ? rows : b, columns, beta_));
    }
    // And large again, before the skinny ones have ended.
    all.push_back(product(s, s, operand ? second : a, b, first, beta_));
    return all;
  }

  test::RungBench* bench_;
  const Rung* rung_;
  std::int64_t size_;
  double alpha_ = 1, beta_ = 1;
  Operands inputs_;
  std::vector<Buffer> results_[2];
  Workspace workspace_;
};

}  // namespace

TEST_CASE("launches that begin early read what the ones before them write",
          "[gpu][gemm][sanitized]") {
  test::RungBench bench;
  if (bench.facts.major != 9) SKIP("only rungs for sm_90a launch so");
  std::set<std::string> early;
  // The largest for large clusters, which have to have more than a tile each.
  const std::vector<std::int64_t> sizes = test::under_sanitizer()
                                              ? std::vector<std::int64_t>{64}
                                              : std::vector<std::int64_t>{256, 1024, 2560};
  for (const std::int64_t size : sizes) {
    for (const Rung& rung : all_rungs()) {
      // No rung for every GPU launches so.
      if (!rung.exact_capability || !bench.runs(rung)) continue;
      CAPTURE(rung.id(), size);
      Chain chain(bench, rung, size);
      const int before = test::launches_that_may_begin_early();
      chain.run(true);
      if (test::launches_that_may_begin_early() == before) continue;
      early.insert(rung.id());
      for (int repetition = 0; repetition < (test::under_sanitizer() ? 1 : 5); ++repetition) {
        CAPTURE(repetition);
        chain.run(false);
        chain.check();
      }
    }
  }
  if (test::under_sanitizer()) return;  // some take other ways at that size
  for (const char* id : {"fp16/15_deferred_stores", "bf16/15_deferred_stores", "fp8/01_promoted",
                         "fp8/02_fast_accumulation", "int8/01_wgmma"}) {
    CAPTURE(id);
    CHECK(early.contains(id));
  }
}
