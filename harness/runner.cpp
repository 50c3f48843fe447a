#include "harness/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/cuda_check.h"
#include "harness/host_timer.h"
#include "results/statistics.h"

namespace fathom {
namespace {

double relative_spread(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*high - *low) / median(values);
}

/// The policy, relaxed to what a case needs.
TimingPolicy policy_for(const Case& c, TimingPolicy policy) {
  if (!c.precision) return policy;
  const Precision& precision = *c.precision;
  policy.target_relative_half_width =
      std::max(policy.target_relative_half_width, precision.relative_half_width);
  policy.min_samples = std::min(policy.min_samples, precision.min_samples);
  policy.time_limit_s = std::min(policy.time_limit_s, precision.time_limit_s);
  policy.rest = precision.rest;
  return policy;
}

/// A round's share of the samples and the time. Its interval may be wider, since the rounds'
/// samples add up.
TimingPolicy one_round_of(const TimingPolicy& policy) {
  TimingPolicy round = policy;
  round.rounds = 1;
  round.min_samples = std::max(1, policy.min_samples / policy.rounds);
  round.max_samples = std::max(round.min_samples, policy.max_samples / policy.rounds);
  round.time_limit_s = policy.time_limit_s / policy.rounds;
  round.target_relative_half_width = policy.target_relative_half_width * std::sqrt(policy.rounds);
  return round;
}

/// Adds a round's samples. The stopping rule that counts is the one that cut a round shortest.
void append(Samples& all, const Samples& round) {
  const auto cut = [](const std::string& stop) {
    return stop == "time limit" ? 2 : stop == "sample limit" ? 1 : 0;
  };
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  if (all.of_workload.empty()) {
    all = round;
    return;
  }
  for (std::size_t w = 0; w < all.of_workload.size(); ++w)
    add(all.of_workload[w], round.of_workload[w]);
  add(all.seconds, round.seconds);
  add(all.sm_clocks_hz, round.sm_clocks_hz);
  add(all.medians, round.medians);
  all.telemetry = round.telemetry;
  all.timing.warm_up_launches += round.timing.warm_up_launches;
  all.timing.elapsed_s += round.timing.elapsed_s;
  // The longer one says more: that launches were not held back from some round on.
  if (round.timing.mode.size() > all.timing.mode.size()) all.timing.mode = round.timing.mode;
  if (cut(round.timing.stop) > cut(all.timing.stop)) all.timing.stop = round.timing.stop;
}

/// Samples of workload `w` in the metric's unit.
std::vector<double> in_metric(const Case& c, const Samples& samples, std::size_t w,
                              bool in_kernel) {
  std::vector<double> values = samples.of_workload[w];
  if (!in_kernel)
    for (double& value : values) value = c.value(value);
  return values;
}

/// Nothing but finite values: a document takes no other, and one of them would cost the whole run.
std::optional<Profile> read_profile(const Case& c, const Workload& workload) {
  if (!workload.profile) return std::nullopt;
  Profile profile{c.profile_axis, c.profile_unit, workload.profile()};
  if (profile.axis.empty()) throw std::invalid_argument("a profile whose axis has no name");
  const auto bad = std::find_if_not(profile.values.begin(), profile.values.end(),
                                    [](double value) { return std::isfinite(value); });
  if (bad != profile.values.end()) {
    throw std::invalid_argument(fmt::format("place {} of the profile is {}, not a finite number",
                                            bad - profile.values.begin(), *bad));
  }
  return profile;
}

}  // namespace

int places_in_a_round(std::size_t bytes, std::size_t l2_bytes) {
  constexpr std::size_t most = 32;
  if (bytes == 0) return 1;
  return static_cast<int>(std::clamp(l2_bytes / 4 / bytes, std::size_t{1}, most));
}

Workload taking_turns(std::vector<Workload> places) {
  if (places.empty()) throw std::invalid_argument("work in no place");
  Workload all = places.back();
  if (places.size() == 1) return all;
  all.launch = [places = std::make_shared<const std::vector<Workload>>(std::move(places)),
                next = std::make_shared<std::size_t>(0)] {
    (*places)[*next].launch();
    *next = (*next + 1) % places->size();
  };
  return all;
}

bool leaves_gpu_unusable(ExitCode code) {
  return code == ExitCode::gpu_lost || code == ExitCode::probe_crashed;
}

Runner::Runner(const DeviceFacts& device, std::uint64_t seed, const TimingPolicy& policy,
               OptionValues options)
    : device_(device),
      policy_(policy),
      stream_(make_stream()),
      context_(device, stream_.get(), seed, std::move(options)),
      sampler_(device, stream_.get()),
      telemetry_(device.pci_bus_id) {}

Runner::Wrong Runner::check_output(const Workload& workload) {
  if (workload.poison) workload.poison();
  workload.launch();
  FATHOM_CUDA(cudaStreamSynchronize(stream_.get()));
  if (workload.verify) {
    if (auto wrong = workload.verify()) return wrong;
  }
  return context_.buffers().guards_intact();
}

std::vector<Workload> Runner::prepare_and_verify(const Case& c, Wrong& wrong) {
  std::vector<Workload> workloads{c.prepare(context_)};
  for (const OpponentCase& opponent : c.opponents) workloads.push_back(opponent.prepare(context_));
  for (std::size_t w = 0; w < workloads.size() && !wrong; ++w) {
    wrong = check_output(workloads[w]);
    if (wrong && w > 0) wrong = fmt::format("{}: {}", c.opponents[w - 1].name, *wrong);
  }
  return workloads;
}

Samples Runner::sample_in_rounds(const Case& c, std::vector<Workload>& workloads, Wrong& wrong) {
  const TimingPolicy policy = policy_for(c, policy_);
  const TimingPolicy round = one_round_of(policy);
  const std::size_t moving = context_.buffers().bytes_that_move();
  // Only a graph of many launches goes through many places in one sample.
  const bool many = c.cache == CacheState::hot && !c.precision &&
                    std::ranges::all_of(workloads, [](const Workload& workload) {
                      return !workload.read_sample && !workload.host_paced && workload.capturable;
                    });
  const int places = many ? places_in_a_round(moving, device_.l2_bytes) : 1;
  Samples all;
  for (int r = 0; r < policy.rounds; ++r) {
    std::vector<std::vector<Workload>> in_places(workloads.size());
    for (int place = r * places; place < (r + 1) * places; ++place) {
      if (place > 0 && moving > 0) {
        context_.buffers().set_placement(place);
        workloads = prepare_and_verify(c, wrong);
        if (wrong) return all;
      }
      for (std::size_t w = 0; w < workloads.size(); ++w) in_places[w].push_back(workloads[w]);
    }
    std::vector<Workload> sampled;
    for (std::vector<Workload>& of_one : in_places)
      sampled.push_back(taking_turns(std::move(of_one)));
    r == 0 ? telemetry_.start() : telemetry_.resume();
    Samples samples = sampler_.sample(sampled, c.cache, round, all.launches);
    samples.telemetry = telemetry_.stop();
    samples.medians = {median(samples.of_workload[0])};
    append(all, samples);
  }
  // What one round alone could not know: whether the rounds together are sure of their median.
  if (narrow_enough(all.of_workload, policy.target_relative_half_width))
    all.timing.stop = "converged";
  else if (all.timing.stop == "converged")
    all.timing.stop = "round limit";
  return all;
}

Entry Runner::measure(const std::string& entry_name, const std::string& probe, const Case& c,
                      bool counters, const KeepGoing& keep_going) {
  const auto start = std::chrono::steady_clock::now();
  Entry entry;
  entry.name = entry_name;
  entry.probe = probe;
  entry.axes = c.axes;
  entry.metric = c.metric;
  entry.bound = c.bound;
  entry.expected = c.expected;
  entry.extras = c.extras;
  entry.notes = c.notes;
  const bool campaign = std::holds_alternative<Campaign>(c.mode);
  const auto fail = [&](VerdictStatus status, std::string reason) {
    entry.metric.value.reset();  // a figure that something is wrong with is none
    entry.verdict.status = status;
    entry.verdict.reasons = {std::move(reason)};
  };
  try {
    const Wrong wrong = campaign ? run_campaign(c, counters, keep_going, entry)
                        : std::holds_alternative<EnergyLoop>(c.mode) ? measure_energy(c, entry)
                                                                     : time(c, entry);
    if (wrong) {
      fail(VerdictStatus::wrong_output, *wrong);
      case_failure_ = ExitCode::check_failed;
    }
  } catch (const Error& error) {
    telemetry_.stop();
    if (leaves_gpu_unusable(error.code())) throw;
    fail(VerdictStatus::failed, error.what());
    if (case_failure_ == ExitCode::ok) case_failure_ = error.code();
  } catch (const std::invalid_argument& error) {  // the statistics refuse what is not finite
    telemetry_.stop();
    fail(VerdictStatus::failed, fmt::format("a sample is no number: {}", error.what()));
    if (case_failure_ == ExitCode::ok) case_failure_ = ExitCode::check_failed;
  }
  if (campaign) {
    entry.timing.mode = "not timed";
    entry.timing.elapsed_s = seconds_since(start);
    entry.telemetry.missing_reason = "nothing is timed here";
    if (const auto count = entry.metric.value) {
      entry.samples = {*count};
      entry.interval = Interval{*count, *count, 1, "a count is exact"};
    }
  }
  return entry;
}

Runner::Wrong Runner::time(const Case& c, Entry& entry) {
  Wrong wrong;
  context_.buffers().set_placement(0);
  std::vector<Workload> workloads = prepare_and_verify(c, wrong);
  if (wrong) return wrong;
  const Samples samples = std::holds_alternative<SustainedLoad>(c.mode)
                              ? sample_under_load(c, workloads, entry)
                              : sample_in_rounds(c, workloads, wrong);
  entry.telemetry = samples.telemetry;
  if (wrong) return wrong;

  const bool in_kernel = static_cast<bool>(workloads[0].read_sample);
  entry.samples = in_metric(c, samples, 0, in_kernel);
  entry.metric.value = median(entry.samples);
  entry.interval = median_interval(entry.samples);
  entry.repeatability = relative_spread(samples.medians);
  entry.real_time_s = median(samples.seconds);
  entry.iterations =
      static_cast<std::int64_t>(samples.seconds.size()) * samples.timing.launches_per_sample;
  entry.timing = samples.timing;
  if (!samples.sm_clocks_hz.empty()) entry.timing.sm_clock_hz = median(samples.sm_clocks_hz);
  for (std::size_t i = 0; i < c.opponents.size(); ++i) {
    const std::vector<double> values = in_metric(c, samples, i + 1, in_kernel);
    const PairedRatio ratio = paired_ratio(entry.samples, values, c.metric.better);
    Opponent& opponent = entry.opponents.emplace_back(
        Opponent{c.opponents[i].name, values, median(values), ratio.median, ratio.interval, {}});
    if (workloads[i + 1].notes) opponent.notes = workloads[i + 1].notes();
  }
  if (workloads[0].extras) entry.extras.merge(workloads[0].extras());
  if (workloads[0].notes) entry.notes.merge(workloads[0].notes());
  entry.profile = read_profile(c, workloads[0]);
  return std::nullopt;
}

}  // namespace fathom
