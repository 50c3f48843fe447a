#include "fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "results/error.h"
#include "results/format.h"
#include "results/text.h"

namespace fathom::fleet {
namespace {

/// A card without a hash, one that failed before it was known, is known by its place.
std::string identity_of(const GpuSummary& gpu) {
  return gpu.uuid_hash.empty() ? name_of(gpu) : gpu.uuid_hash;
}

/// Schedulers have short names where the machine's own has its domain.
bool is_one_host(std::string_view a, std::string_view b) {
  const auto a_dot = a.find('.'), b_dot = b.find('.');
  if (a_dot != a.npos && b_dot != b.npos) return a == b;
  return a.substr(0, a_dot) == b.substr(0, b_dot);
}

}  // namespace

int known_code(int exit_code) {
  const bool known = (exit_code >= to_int(ExitCode::output_unwritable) &&
                      exit_code <= to_int(ExitCode::setup_incomplete)) ||
                     exit_code == to_int(ExitCode::interrupted);
  return known ? exit_code : to_int(ExitCode::incomplete);
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::jthread> others;  // they end before `next` does
  const std::size_t threads = std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
  take();
}

void Fleet::add(GpuSummary&& gpu) {
  const std::vector<MetricName> names = std::move(gpu.names);
  const std::vector<MetricFigures> own = std::move(gpu.figures);
  gpu.names = {};
  gpu.figures.assign(metrics.size(), {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t place = i;  // as a rule where it is in the summary, too
    if (i >= metrics.size() || metrics[i].name != names[i].name)
      place = places_.try_emplace(names[i].name, metrics.size()).first->second;
    if (place == metrics.size()) {
      metrics.push_back(names[i]);
      gpu.figures.emplace_back();
    }
    gpu.figures[place] = own[i];
    if (!own[i].alone && !own[i].together) gpu.missing.push_back({names[i].name, "", "no figure"});
  }
  gpus.push_back(std::move(gpu));
}

void Fleet::finish(const Expected& expected) {
  constexpr auto apart = std::chrono::hours(24);  // clocks of hosts may be
  const std::string latest_date = utc_time(std::chrono::system_clock::now() + apart);
  for (GpuSummary& gpu : gpus)
    if (gpu.date > latest_date) {  // counts as unknown, or it would be the later one for ever
      const std::string date = quotable(std::exchange(gpu.date, ""));
      problems.push_back({name_of(gpu), fmt::format("its date, {}, is still to come", date)});
    }

  std::ranges::sort(gpus, {}, [](const GpuSummary& gpu) {
    return std::tie(gpu.host, gpu.gpu, gpu.date, gpu.where);
  });
  std::map<std::string, const GpuSummary*> latest;
  for (const GpuSummary& gpu : gpus) {
    const GpuSummary*& kept = latest[identity_of(gpu)];
    if (!kept || kept->date <= gpu.date) kept = &gpu;
  }
  std::set<const GpuSummary*> earlier;
  for (const GpuSummary& gpu : gpus)
    if (&gpu != latest.at(identity_of(gpu))) {
      earlier.insert(&gpu);
      problems.push_back({gpu.where, "the same GPU was measured again later, which counts"});
    }
  std::erase_if(gpus, [&](const GpuSummary& gpu) { return earlier.contains(&gpu); });

  for (std::size_t i = 1; i < gpus.size(); ++i)
    if (name_of(gpus[i]) == name_of(gpus[i - 1]))
      problems.push_back({name_of(gpus[i]),
                          "it is the name of two GPUs: measure each machine with a --host-name of "
                          "its own"});

  for (GpuSummary& gpu : gpus)  // what is not complete is at least incomplete
    if (gpu.status != GpuStatus::complete || gpu.exit_code > to_int(ExitCode::check_failed))
      gpu.exit_code = known_code(gpu.exit_code);
  find_missing_figures(*this);
  // Also one with all figures and a failed check: it computes wrong results.
  for (const GpuSummary& gpu : gpus)
    if (gpu.status != GpuStatus::complete || gpu.exit_code != 0)
      problems.push_back({name_of(gpu), gpu.reason, gpu.exit_code});

  const int incomplete = to_int(ExitCode::incomplete);
  for (const std::string& host : expected.hosts)
    if (std::ranges::none_of(gpus, [&](const GpuSummary& g) { return is_one_host(g.host, host); }))
      problems.push_back({"host " + host, "it left no result", incomplete});
  if (expected.gpus && gpus.size() < *expected.gpus)
    problems.push_back({counted(*expected.gpus - gpus.size(), "GPU"),
                        fmt::format("{} expected, {} left a result", *expected.gpus, gpus.size()),
                        incomplete});
  std::ranges::sort(links, {}, &HostLinks::host);
  std::ranges::stable_sort(problems, {}, &Problem::what);
}

std::size_t Fleet::hosts() const {
  std::set<std::string_view> names;
  for (const GpuSummary& gpu : gpus) names.insert(gpu.host);
  return names.size();
}

bool Fleet::replay() const { return std::ranges::count(gpus, Source::replay, &GpuSummary::source); }

}  // namespace fathom::fleet
