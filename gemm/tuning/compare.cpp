#include "gemm/tuning/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

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
  const Event start = make_event(), end = make_event();
  FATHOM_CUDA(cudaEventRecord(start.get(), stream));
  for (int i = 0; i < launches; ++i) launch();
  FATHOM_CUDA(cudaEventRecord(end.get(), stream));
  FATHOM_CUDA(cudaEventSynchronize(end.get()));
  float milliseconds = 0;
  FATHOM_CUDA(cudaEventElapsedTime(&milliseconds, start.get(), end.get()));
  return milliseconds * 1e-3 / launches;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
  return x[x.size() / 2];
}

/// Launches that take about so long, at least one.
int launches_in(double seconds, double once) { return std::max(1, static_cast<int>(seconds / once)); }

void time_sustained(std::vector<Candidate>& candidates, cudaStream_t stream) {
  for (Candidate& c : candidates) {
    const int launches = launches_in(0.6, seconds_of(c.launch, 3, stream));
    seconds_of(c.launch, launches, stream);
    c.seconds.push_back(seconds_of(c.launch, launches, stream));
  }
}

void time_bursts(std::vector<Candidate>& candidates, int rounds, cudaStream_t stream) {
  const auto time = [&](Candidate& c) {
    const double once = seconds_of(c.launch, 1, stream);
    c.seconds.push_back(seconds_of(c.launch, launches_in(4e-3, once), stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (auto c = candidates.begin(); c != candidates.end(); ++c) time(*c);
    } else {
      for (auto c = candidates.rbegin(); c != candidates.rend(); ++c) time(*c);
    }
  }
}

void print(const std::vector<Candidate>& candidates, const Problem& problem, bool sustained) {
  double best = 0;
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    if (c.opponent && (best == 0 || s < best)) best = s;
  }
  fmt::print("\n{}{}\n{:64} {:>9} {:>9} {:>9} {:>6}\n", problem.describe(),
             sustained ? ", sustained" : ", burst", "kernel", "us", "TFLOP/s", "GB/s", "ratio");
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    fmt::print("{:64} {:9.2f} {:9.1f} {:9.0f} {:6.3f} {}\n", c.name, s * 1e6,
               problem.flops() / s * 1e-12, problem.minimum_bytes() / s * 1e-9, best / s, c.wrong);
  }
  std::fflush(stdout);
}

}  // namespace

std::optional<std::string> wrong_with(Context& context, const Trial& trial,
                                      const std::shared_ptr<Operands>& operands) {
  const Arguments& arguments = operands->arguments();
  const int sms = context.device().sms;
  const std::size_t bytes = trial.workspace_bytes(arguments.problem, sms);
  Workspace workspace{nullptr, bytes, sms};
  if (bytes != 0) workspace.data = context.buffers().output("workspace of trial", bytes).data;
  operands->reset_c();
  trial.launch(arguments, workspace, context.stream());
  Accuracy accuracy;
  return operands->verify(accuracy);
}

bool compare(Context& context, const Problem& problem, std::span<const Trial> variants,
             const Comparison& how) {
  const auto references = std::make_shared<ReferenceStore>();
  const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
  const int sms = context.device().sms;
  std::size_t bytes = 0;
  for (const Trial& v : variants) {
    if (v.takes(problem)) bytes = std::max(bytes, v.workspace_bytes(problem, sms));
  }
  const Workspace workspace{bytes == 0 ? nullptr : context.buffers().output("workspace", bytes).data,
                            bytes, sms};
  std::vector<Candidate> candidates;
  bool right = true;
  for (const Trial& variant : variants) {
    if (!variant.takes(problem)) continue;
    Candidate candidate{variant.name, false, {}, {}, {}};
    candidate.launch = [=, launch = variant.launch, stream = context.stream()] {
      launch(operands->arguments(), workspace, stream);
    };
    operands->reset_c();
    candidate.launch();
    Accuracy accuracy;
    candidate.wrong = operands->verify(accuracy).value_or("");
    right = right && candidate.wrong.empty();
    candidates.push_back(candidate);
  }
  std::vector<Workload> keep;
  if (how.opponents) {
    for (const OpponentCase& opponent : opponents(problem, references)) {
      keep.push_back(opponent.prepare(context));
      candidates.push_back({opponent.name, true, keep.back().launch, {}, {}});
    }
  }
  if (how.sustained) {
    time_sustained(candidates, context.stream());
  } else {
    time_bursts(candidates, how.rounds, context.stream());
  }
  print(candidates, problem, how.sustained);
  return right;
}

}  // namespace fathom::gemm
