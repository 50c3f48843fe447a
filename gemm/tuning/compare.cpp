#include "gemm/tuning/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <vector>

#include "gemm/opponents.h"
#include "gemm/tuning/candidate.h"
#include "gemm/verification.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

Workspace workspace_for(Context& context, const Problem& problem, std::span<const Trial> trials) {
  const int sms = context.device().sms;
  std::size_t bytes = 0;
  for (const Trial& t : trials) {
    if (t.takes(problem)) bytes = std::max(bytes, t.workspace_bytes(problem, sms));
  }
  return {bytes == 0 ? nullptr : context.buffers().output("workspace", bytes).data, bytes, sms};
}

/// After so many launches one right after the other, of which each must leave the same.
Candidate verified(Context& context, const std::shared_ptr<ReferenceStore>& references,
                   const Trial& trial, const Problem& problem, const Workspace& workspace,
                   int launches = 1) {
  // All have one C.
  const auto operands =
      std::make_shared<Operands>(context, references, problem, "variant", trial.promoted);
  Candidate candidate;
  candidate.name = trial.name;
  candidate.workload.launch = [=, launch = trial.launch, stream = context.stream()] {
    launch(operands->arguments(), workspace, stream);
  };
  operands->reset_c();
  for (int i = 0; i < launches; ++i) candidate.workload.launch();
  candidate.wrong = operands->verify(candidate.accuracy).value_or("");
  return candidate;
}

std::optional<double> median_of(const std::vector<double>& x) {
  if (x.empty()) return std::nullopt;
  return median(x);
}

/// A number that was not measured is a dash.
std::string cell(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

void print(std::span<const Candidate> candidates, const Problem& problem, bool sustained) {
  std::optional<double> best;
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    if (c.opponent && (!best || s < *best)) best = s;
  }
  fmt::print("\n{}{}\n{:64} {:>9} {:>8} {:>6} {:>6} {:>5} {:>8} {:>8} {:>9} {:>6}\n",
             problem.describe(), sustained ? ", sustained" : ", burst", "kernel", "us", "TFLOP/s",
             "GB/s", "ratio", "MHz", "kclk", "mJ", "Frobenius", "worst");
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    const auto times = [](std::optional<double> x, double factor) {
      if (x) *x *= factor;
      return x;
    };
    const auto hertz = median_of(c.hertz);
    fmt::print("{:64} {:9.2f} {:8.1f} {:6.0f} {:>6} {:>5} {:>8} {:>8} ", c.name, s * 1e6,
               problem.flops() / s * 1e-12, problem.minimum_bytes() / s * 1e-9,
               cell(times(best, 1 / s), 3), cell(times(hertz, 1e-6), 0),
               cell(times(hertz, s * 1e-3), 1), cell(times(median_of(c.joules), 1e3), 1));
    if (c.opponent) {
      fmt::print("{:>9} {:>6}\n", "-", "-");
    } else {
      fmt::print("{:9.2e} {:6.3f} {}\n", c.accuracy.relative_frobenius, c.accuracy.worst, c.wrong);
    }
  }
  std::fflush(stdout);
}

}  // namespace

Trial trial_of(const Rung& rung) {
  Trial trial{rung.id, rung.workspace_bytes, rung.launch};
  trial.promoted = rung.promoted;
  return trial;
}

bool compare(Context& context, const Problem& problem, std::span<const Trial> variants,
             const Comparison& how) {
  const auto references = std::make_shared<ReferenceStore>();
  const Workspace workspace = workspace_for(context, problem, variants);
  std::vector<Candidate> candidates;
  bool right = true;
  for (const Trial& variant : variants) {
    if (!variant.takes(problem) || !variant.suits(problem)) continue;
    candidates.push_back(verified(context, references, variant, problem, workspace));
    right = right && candidates.back().wrong.empty();
  }
  if (how.opponents) {
    for (const OpponentCase& opponent : opponents(problem, references, how.fast_sums)) {
      candidates.push_back({opponent.name, true, opponent.prepare(context), {}, {}, {}, {}, {}});
      candidates.back().workload.launch();
    }
  }
  if (candidates.empty()) {
    fmt::print("\n{}: no variant is made for it\n", problem.describe());
    return right;
  }
  if (how.sustained) {
    time_sustained(candidates, context.stream());
  } else {
    time_bursts(candidates, how.rounds, context.stream());
  }
  print(candidates, problem, how.sustained);
  return right;
}

bool check_small_products(Context& context, Class of, std::span<const Trial> variants) {
  struct Shape {
    std::int64_t m, n, k;
  };
  constexpr Shape shapes[] = {{1, 1, 1},       {16, 128, 16},   {128, 256, 64}, {67, 61, 97},
                              {129, 257, 65},  {264, 136, 328}, {5, 300, 1000}, {1500, 2100, 900},
                              {16, 531, 2176}, {4099, 14, 8320}};
  constexpr int kinds = 16, most_wrong = 40;
  const std::int64_t aligned = 16 / element_bytes(traits(of).input);
  int wrong = 0, right = 0;
  const auto references = std::make_shared<ReferenceStore>();
  for (const Shape& s : shapes) {
    for (int kind = 0; kind < kinds && wrong <= most_wrong; ++kind) {
      const auto of_bit = [&](int bit) { return kind >> bit & 1; };
      const bool scaled = of_bit(0) != of_bit(3);  // of aligned columns too
      Problem problem =
          make_problem(of, s.m, s.n, s.k, of_bit(0) ? Transpose::yes : Transpose::no,
                       of_bit(1) ? Transpose::yes : Transpose::no, scaled ? 2 : 1, scaled ? -3 : 0);
      const auto columns = [&](std::int64_t rows, bool odd) {
        return (rows + aligned - 1) / aligned * aligned + odd;
      };
      problem.lda = columns(problem.lda, of_bit(2));
      problem.ldb = columns(problem.ldb, of_bit(3));
      problem.ldc += kind % 3;
      const Workspace workspace = workspace_for(context, problem, variants);
      for (const Trial& variant : variants) {
        if (!variant.takes(problem)) continue;
        const Candidate c =
            verified(context, references, variant, problem, workspace, problem.beta == 0 ? 3 : 1);
        if (!c.wrong.empty()) fmt::print("WRONG {}: {}\n", c.name, c.wrong);
        ++(c.wrong.empty() ? right : wrong);
      }
    }
  }
  fmt::print("{} right, {} wrong\n", right, wrong);
  std::fflush(stdout);
  return wrong == 0;
}

}  // namespace fathom::gemm
