// gemm_fp64_variants [m n k [sustained]]: times every variant of the fp64 kernels and the vendor's
// library on one product, alternately, after holding each against the reference. gemm_fp64_variants
// check: holds each against the reference on small products of every kind.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "gemm/fp64/tuning/variants.h"
#include "gemm/opponents.h"
#include "gemm/verification.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"

namespace fathom::gemm {
namespace {

struct Candidate {
  std::string name;
  bool opponent = false;
  std::function<void()> launch;
  std::vector<double> seconds;
  std::string wrong;
};

double seconds_of(const std::function<void()>& launch, int launches, cudaStream_t stream) {
  cudaEvent_t start = nullptr, end = nullptr;
  FATHOM_CUDA(cudaEventCreate(&start));
  FATHOM_CUDA(cudaEventCreate(&end));
  FATHOM_CUDA(cudaEventRecord(start, stream));
  for (int i = 0; i < launches; ++i) launch();
  FATHOM_CUDA(cudaEventRecord(end, stream));
  FATHOM_CUDA(cudaEventSynchronize(end));
  float milliseconds = 0;
  FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  FATHOM_CUDA(cudaEventDestroy(start));
  FATHOM_CUDA(cudaEventDestroy(end));
  return milliseconds * 1e-3 / launches;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
  return x[x.size() / 2];
}

Candidate candidate_of(Context& context, const fp64::Variant& variant,
                       const std::shared_ptr<Operands>& operands) {
  const int sms = context.device().sms;
  const std::size_t bytes = variant.workspace_bytes(operands->arguments().problem, sms);
  const Buffer buffer = context.buffers().output("workspace", std::max<std::size_t>(bytes, 16));
  context.buffers().poison(buffer);
  const Workspace workspace{buffer.data, bytes, sms};
  Candidate candidate{variant.name, false, {}, {}, {}};
  candidate.launch = [=, launch = variant.launch, stream = context.stream()] {
    launch(operands->arguments(), workspace, stream);
  };
  operands->reset_c();
  candidate.launch();
  Accuracy accuracy;
  candidate.wrong = operands->verify(accuracy).value_or("");
  return candidate;
}

/// Rounds that take about as long for all products.
int rounds_of(const Problem& problem) {
  return std::clamp(static_cast<int>(4e12 / problem.flops()), 5, 15);
}

void compare(Context& context, const Problem& problem, bool sustained) {
  const auto references = std::make_shared<ReferenceStore>();
  const bool skinny = problem.m <= 128;
  const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
  std::vector<Candidate> candidates;
  for (const fp64::Variant& variant : fp64::variants()) {
    if ((variant.most_rows != 0) != skinny || (skinny && variant.most_rows < problem.m)) continue;
    if (skinny && variant.most_rows >= 2 * problem.m && variant.most_rows > 16) continue;
    candidates.push_back(candidate_of(context, variant, operands));
  }
  std::vector<Workload> keep;
  for (const OpponentCase& opponent : opponents(problem, references)) {
    keep.push_back(opponent.prepare(context));
    candidates.push_back({opponent.name, true, keep.back().launch, {}, {}});
  }
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(15)); };
  if (sustained) {
    for (Candidate& c : candidates) {
      const double once = seconds_of(c.launch, 3, context.stream());
      const int launches = std::max(1, static_cast<int>(0.4 / once));
      seconds_of(c.launch, launches, context.stream());
      c.seconds.push_back(seconds_of(c.launch, launches, context.stream()));
    }
  } else {
    for (int round = 0; round < rounds_of(problem); ++round) {
      for (Candidate& c : candidates) {
        seconds_of(c.launch, 1, context.stream());
        c.seconds.push_back(seconds_of(c.launch, skinny ? 10 : 2, context.stream()));
        pause();
      }
    }
  }
  double best = 1e9;
  for (const Candidate& c : candidates) {
    if (c.opponent) best = std::min(best, median(c.seconds));
  }
  fmt::print("\n{}{}\n{:72} {:>9} {:>9} {:>9} {:>6}\n", problem.describe(),
             sustained ? ", sustained" : ", burst", "kernel", "us", "TFLOP/s", "GB/s", "ratio");
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    fmt::print("{:72} {:9.2f} {:9.1f} {:9.0f} {:6.3f} {}\n", c.name, s * 1e6,
               problem.flops() / s * 1e-12, problem.minimum_bytes() / s * 1e-9, best / s, c.wrong);
  }
  std::fflush(stdout);
}

/// Edges of tiles and stages, all layouts, columns that start on 16 bytes and that do not.
int check_all(Context& context) {
  struct Shape {
    std::int64_t m, n, k;
  };
  constexpr Shape shapes[] = {{1, 1, 1},      {16, 128, 16},   {128, 256, 64}, {67, 61, 97},
                              {129, 257, 65}, {264, 136, 328}, {5, 300, 1000}, {1500, 2100, 900}};
  int wrong = 0, right = 0;
  const auto references = std::make_shared<ReferenceStore>();
  for (const Shape& s : shapes) {
    for (int kind = 0; kind < 16; ++kind) {
      Problem problem = make_problem(
          Class::fp64, s.m, s.n, s.k, kind % 2 == 0 ? Transpose::no : Transpose::yes,
          kind / 2 % 2 == 0 ? Transpose::no : Transpose::yes, kind < 8 ? 1 : 2, kind < 8 ? 0 : -3);
      problem.lda += problem.lda % 2 ^ (kind / 4 % 2);
      problem.ldb += problem.ldb % 2 ^ (kind / 8 % 2);
      problem.ldc += kind % 3;
      const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
      for (const fp64::Variant& variant : fp64::variants()) {
        const Candidate c = candidate_of(context, variant, operands);
        if (!c.wrong.empty()) {
          fmt::print("WRONG {}: {}\n", c.name, c.wrong);
          ++wrong;
        } else {
          ++right;
        }
      }
      if (wrong > 40) break;
    }
  }
  fmt::print("{} right, {} wrong\n", right, wrong);
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  const auto product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_problem(Class::fp64, m, n, k);
  };
  if (argc == 2 && std::string(argv[1]) == "check") {
    Context context(facts, stream.get(), 1);
    return check_all(context);
  }
  std::vector<std::pair<Problem, bool>> products;
  if (argc >= 4) {
    products.push_back(
        {product(std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])), argc > 4});
  } else {
    products = {{product(4096, 4096, 4096), false}, {product(8192, 8192, 8192), false},
                {product(4095, 4095, 4095), false}, {product(16, 8192, 8192), false},
                {product(64, 8192, 8192), false},   {product(128, 8192, 8192), false}};
  }
  for (const auto& [problem, sustained] : products) {
    Context context(facts, stream.get(), 1);
    compare(context, problem, sustained);
  }
  return 0;
}

}  // namespace
}  // namespace fathom::gemm

int main(int argc, char** argv) try {
  return fathom::gemm::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
