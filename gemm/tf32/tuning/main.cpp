// gemm_tf32_variants TYPE LAYOUT M N K [SECONDS]: times every variant and every contending rung of a
// type (tf32 or fp32-3xtf32) and the vendor's library on one product (LAYOUT is NN, TN, NT or TT),
// alternately, after holding each against the reference; with SECONDS each under so long a load.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "gemm/opponents.h"
#include "gemm/tf32/tuning/variants.h"
#include "gemm/verification.h"
#include "harness/cuda_check.h"
#include "harness/cuda_handles.h"
#include "results/error.h"
#include "results/statistics.h"

namespace fathom::gemm {
namespace {

constexpr std::int64_t most_skinny_columns = 128;
constexpr int rounds = 8;

struct Candidate {
  std::string name;
  bool opponent = false;
  std::function<void()> launch;
  std::vector<double> seconds;
  Accuracy accuracy;
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

std::vector<Candidate> candidates_of(Context& context, const Problem& problem,
                                     std::vector<Workload>& keep) {
  const auto references = std::make_shared<ReferenceStore>();
  const auto operands = std::make_shared<Operands>(context, references, problem, "variant");
  const bool skinny = std::min(problem.m, problem.n) <= most_skinny_columns;
  // Room for both operands in two planes each and for copies, whatever the layout.
  const std::size_t room = 12 * static_cast<std::size_t>(problem.k + 64) * (problem.m + problem.n + 256);
  const Workspace workspace{context.buffers().output("workspace", room).data, room, context.device().sms};
  std::vector<Candidate> candidates;
  const auto add = [&](const std::string& name, auto launch) {
    Candidate candidate;
    candidate.name = name;
    candidate.launch = [=, stream = context.stream()] {
      launch(operands->arguments(), workspace, stream);
    };
    operands->reset_c();
    candidate.launch();
    candidate.wrong = operands->verify(candidate.accuracy).value_or("");
    candidates.push_back(candidate);
  };
  for (const Rung* rung : rungs_of(problem.of)) {
    if (rung->contender) add(rung->id, rung->launch);
  }
  for (const tf32::Variant& variant : tf32::variants()) {
    if (variant.of == problem.of && variant.skinny == skinny) add(variant.name, variant.launch);
  }
  for (const OpponentCase& opponent : opponents(problem, references)) {
    keep.push_back(opponent.prepare(context));
    Candidate candidate;
    candidate.name = opponent.name;
    candidate.opponent = true;
    candidate.launch = keep.back().launch;
    candidates.push_back(candidate);
  }
  return candidates;
}

void time_all(std::vector<Candidate>& candidates, double load_seconds, cudaStream_t stream) {
  if (load_seconds > 0) {
    for (Candidate& c : candidates) {
      const int launches = std::max(1, static_cast<int>(load_seconds / 2 / seconds_of(c.launch, 3, stream)));
      seconds_of(c.launch, launches, stream);
      c.seconds.push_back(seconds_of(c.launch, launches, stream));
    }
    return;
  }
  for (int round = 0; round < rounds; ++round) {
    for (Candidate& c : candidates) {
      const double warm = seconds_of(c.launch, 2, stream);
      c.seconds.push_back(seconds_of(c.launch, warm < 2e-4 ? 10 : 3, stream));
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
  }
}

void compare(Context& context, const Problem& problem, double load_seconds) {
  std::vector<Workload> keep;
  std::vector<Candidate> candidates = candidates_of(context, problem, keep);
  time_all(candidates, load_seconds, context.stream());
  double best = 0;
  for (const Candidate& c : candidates) {
    if (c.opponent) best = best == 0 ? median(c.seconds) : std::min(best, median(c.seconds));
  }
  fmt::print("\n{}{}\n{:64} {:>9} {:>8} {:>6} {:>6} {:>9} {:>6}\n", problem.describe(),
             load_seconds > 0 ? ", under load" : ", burst", "kernel", "us", "TFLOP/s", "GB/s",
             "ratio", "Frobenius", "worst");
  for (const Candidate& c : candidates) {
    const double s = median(c.seconds);
    fmt::print("{:64} {:9.2f} {:8.1f} {:6.0f} {:6.3f} {:9.2e} {:6.3f} {}\n", c.name, s * 1e6,
               problem.flops() / s * 1e-12, problem.minimum_bytes() / s * 1e-9, best / s,
               c.accuracy.relative_frobenius, c.accuracy.worst, c.wrong);
  }
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const auto of = argc > 1 ? find_class(argv[1]) : std::nullopt;
  const std::string layout = argc > 2 ? argv[2] : "";
  const auto is_letter = [](char c) { return c == 'N' || c == 'T'; };
  if (argc < 6 || !of || layout.size() != 2 || !is_letter(layout[0]) || !is_letter(layout[1])) {
    fmt::print(stderr, "usage: {} tf32|fp32-3xtf32 NN|NT|TN|TT M N K [SECONDS]\n", argv[0]);
    return static_cast<int>(ExitCode::bad_input);
  }
  const auto transpose = [](char c) { return c == 'N' ? Transpose::no : Transpose::yes; };
  const Problem problem =
      make_problem(*of, std::atoll(argv[3]), std::atoll(argv[4]), std::atoll(argv[5]),
                   transpose(layout[0]), transpose(layout[1]));
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  Context context(facts, stream.get(), 1);
  compare(context, problem, argc > 6 ? std::atof(argv[6]) : 0);
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
