#include "fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <tuple>

#include "results/clean_text.h"
#include "results/exit_codes.h"
#include "results/format.h"
#include "results/utc_time.h"

namespace fathom::fleet {

void FleetBuilder::add(GpuSummary&& summary, std::filesystem::path where) {
  const std::lock_guard guard(mutex_);
  FleetGpu gpu;
  gpu.figures.resize(fleet_.metrics.size());
  for (std::size_t i = 0; i < summary.names.size(); ++i) {
    const MetricName& metric = summary.names[i];
    std::size_t place = i;  // as a rule where it is in the summary, too
    if (i >= fleet_.metrics.size() || fleet_.metrics[i].name != metric.name)
      place = places_.try_emplace(metric.name, fleet_.metrics.size()).first->second;
    if (place == fleet_.metrics.size()) {
      fleet_.metrics.push_back(metric);
      gpu.figures.emplace_back();
    }
    const MetricFigures& own = gpu.figures[place] = summary.figures[i];
    if (!own.alone && !own.together) gpu.missing.push_back({metric.name, "", "no figure"});
  }
  summary.names = {};
  summary.figures = {};
  gpu.summary = std::move(summary);
  gpu.where = std::move(where);
  fleet_.gpus.push_back(std::move(gpu));
}

void FleetBuilder::add(HostLinks&& links) {
  const std::lock_guard guard(mutex_);
  fleet_.links.push_back(std::move(links));
}

void FleetBuilder::add(Problem&& problem) {
  const std::lock_guard guard(mutex_);
  fleet_.problems.push_back(std::move(problem));
}

namespace {

/// Such a card counts as one of an unknown date, or it would be the later one for ever.
void name_future_dates(Fleet& fleet) {
  constexpr auto apart = std::chrono::hours(24);  // clocks of hosts may be
  const std::string latest = utc_time(std::chrono::system_clock::now() + apart);
  for (FleetGpu& gpu : fleet.gpus) {
    std::string& date = gpu.summary.date;
    if (date <= latest) continue;
    fleet.problems.push_back(
        {name_of(gpu.summary), fmt::format("its date, {}, is still to come", quotable(date)), 0});
    date.clear();
  }
}

/// The latest of one card's summaries stays. A card without a hash, one that failed before
/// it was known, is known by its place.
void keep_latest(Fleet& fleet) {
  std::ranges::sort(fleet.gpus, {}, [](const FleetGpu& gpu) {
    return std::tie(gpu.summary.host, gpu.summary.gpu, gpu.summary.date, gpu.where);
  });
  std::unordered_map<std::string, FleetGpu*> latest;
  std::set<const FleetGpu*> earlier;
  for (FleetGpu& gpu : fleet.gpus) {
    const GpuSummary& s = gpu.summary;
    FleetGpu*& kept = latest[s.uuid_hash.empty() ? name_of(s) : s.uuid_hash];
    FleetGpu* loser = &gpu;
    if (!kept || kept->summary.date <= s.date) std::swap(kept, loser);
    if (!loser) continue;
    earlier.insert(loser);
    fleet.problems.push_back(
        {loser->where.string(), "the same GPU was measured again later, which counts", 0});
  }
  std::erase_if(fleet.gpus, [&](const FleetGpu& gpu) { return earlier.contains(&gpu); });
}

/// Tells of GPUs that share a name. The GPUs are in the order of their names.
void name_namesakes(Fleet& fleet) {
  for (std::size_t i = 1; i < fleet.gpus.size(); ++i)
    if (const std::string name = name_of(fleet.gpus[i].summary);
        name == name_of(fleet.gpus[i - 1].summary))
      fleet.problems.push_back({name,
                                "it is the name of two GPUs: measure each machine with a "
                                "--host-name of its own",
                                0});
}

/// Schedulers have short names where the machine's own has its domain.
bool is_one_host(std::string_view a, std::string_view b) {
  const auto a_dot = a.find('.'), b_dot = b.find('.');
  if (a_dot != a.npos && b_dot != b.npos) return a == b;
  return a.substr(0, a_dot) == b.substr(0, b_dot);
}

void find_missing(Fleet& fleet, const Expected& expected) {
  std::set<std::string> there;
  for (const FleetGpu& gpu : fleet.gpus) there.insert(gpu.summary.host);
  const int code = to_int(ExitCode::incomplete);
  for (const std::string& host : expected.hosts)
    if (std::ranges::none_of(there, [&](const auto& name) { return is_one_host(name, host); }))
      fleet.problems.push_back({"host " + host, "it left no result", code});
  if (expected.gpus && fleet.gpus.size() < *expected.gpus)
    fleet.problems.push_back(
        {counted(*expected.gpus - fleet.gpus.size(), "GPU"),
         fmt::format("{} expected, {} left a result", *expected.gpus, fleet.gpus.size()), code});
}

/// What is not complete is at least incomplete.
int code_of(const GpuSummary& summary) {
  const int code = summary.exit_code;
  const bool whole = summary.status == GpuStatus::complete;
  return whole && (code == 0 || code == to_int(ExitCode::check_failed)) ? code : known_code(code);
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

Fleet FleetBuilder::finish(const Expected& expected) {
  const std::lock_guard guard(mutex_);
  Fleet fleet = std::move(fleet_);
  fleet_ = {};
  name_future_dates(fleet);
  keep_latest(fleet);
  name_namesakes(fleet);
  for (FleetGpu& gpu : fleet.gpus) gpu.summary.exit_code = code_of(gpu.summary);
  find_missing_figures(fleet);
  // With all figures, but a check that failed, say: a GPU that computes wrong results is no good
  // one.
  for (const FleetGpu& gpu : fleet.gpus)
    if (gpu.summary.status != GpuStatus::complete || gpu.summary.exit_code != 0)
      fleet.problems.push_back({name_of(gpu.summary), gpu.summary.reason, gpu.summary.exit_code});
  find_missing(fleet, expected);
  std::ranges::sort(fleet.links, {}, &HostLinks::host);
  std::ranges::stable_sort(fleet.problems, {}, &Problem::what);
  return fleet;
}

std::size_t Fleet::hosts() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (i == 0 || gpus[i].summary.host != gpus[i - 1].summary.host) ++count;
  return count;
}

bool Fleet::replay() const {
  return std::ranges::any_of(
      gpus, [](const FleetGpu& gpu) { return gpu.summary.source == Source::replay; });
}

}  // namespace fathom::fleet
