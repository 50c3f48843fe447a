#include "studies/fleet/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>

#include "results/text.h"

namespace fathom::fleet {
namespace {

std::string host_of(const SimulatedFleet& options, std::size_t number) {
  return fmt::format("node{:04}", number / static_cast<std::size_t>(options.gpus_per_host));
}

int gpu_of(const SimulatedFleet& options, std::size_t number) {
  return static_cast<int>(number % static_cast<std::size_t>(options.gpus_per_host));
}

/// Which metrics a fault touches; `chosen` is the one of those that touch one.
bool touches(Fault fault, const MetricName& metric, bool chosen) {
  const bool bandwidth = metric.unit == "B/s";
  switch (fault) {
    case Fault::memory:
      return bandwidth;
    case Fault::sm_clock:
    case Fault::hot:
      return bandwidth || metric.unit == "s" || metric.unit == "FLOP/s";
    default:
      return chosen;
  }
}

/// A figure of 0, a number of mismatches say, is not worse by a percentage.
std::vector<std::size_t> metrics_above_zero(const GpuSummary& gpu) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < gpu.figures.size(); ++i) {
    const MetricFigures& f = gpu.figures[i];
    if ((f.together && *f.together > 0) || (!f.together && f.alone && *f.alone > 0))
      places.push_back(i);
  }
  return places;
}

double worsened(double value, Better better, double gap) {
  return better == Better::higher ? value * (1 - gap) : value * (1 + gap);
}

void show(Fault fault, Health& health, double gap) {
  switch (fault) {
    case Fault::memory:
      health.uncorrected_ecc_errors = 4;
      break;
    case Fault::hot:
      health.temperature_c = health.temperature_c.value_or(60) + 25;
      health.throttle_reasons = {"sw_thermal_slowdown"};
      [[fallthrough]];
    case Fault::sm_clock:
      if (health.sm_clock_hz) *health.sm_clock_hz *= 1 - gap;
      break;
    case Fault::pcie:
      if (health.pcie_width) *health.pcie_width /= 2;
      break;
    case Fault::unexplained:
      break;
  }
}

/// What `fathom fleet run` sums up of a host's links: all pairs by a few engines, both ways.
HostLinks simulated_links(const std::string& host, const SimulatedFleet& options,
                          std::size_t number) {
  std::mt19937_64 random(options.seed * 1'000'033 + number);
  std::normal_distribution<double> normal(0, options.noise);
  constexpr double bandwidth = 390e9, bound = 450e9;
  HostLinks links;
  links.host = host;
  for (const char* engine : {"copy engine", "copy engine reads", "SM loads", "SM stores"})
    for (const char* direction : {"one way", "both"}) {
      links.facts.push_back({fmt::format("peer.{}.{}", engine, direction), "GPU to GPU",
                             fmt::format("{}, {}", engine, direction), "B/s", Better::higher,
                             bandwidth * (1 + normal(random)), bound, "18 NVLinks", ""});
      for (int from = 0; from < options.gpus_per_host; ++from)
        for (int to = 0; to < options.gpus_per_host; ++to)
          if (from != to)
            links.pairs.push_back({links.kinds.size(), std::to_string(from), std::to_string(to),
                                   bandwidth * (1 + normal(random)), bound});
      links.kinds.push_back({engine, direction, "B/s"});
    }
  return links;
}

/// Not atomically: nobody reads it meanwhile, and ten thousand fsyncs take their time.
void write_plainly(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush())
    fail(ExitCode::output_full, "{} cannot be written: make room there.", path.string());
}

/// A fault's name, and the words that one of the causes must hold; empty where its telemetry shows
/// nothing.
struct FaultWords {
  const char *name, *cause;
};
constexpr FaultWords fault_words[] = {{"SM clock", "SM clock"},
                                      {"memory", "ECC errors"},
                                      {"hot", "temperature"},
                                      {"PCIe", "PCIe lanes"},
                                      {"unexplained", ""}};

const FaultWords& words_of(Fault fault) { return fault_words[static_cast<std::size_t>(fault)]; }

}  // namespace

const char* to_string(Fault fault) { return words_of(fault).name; }

std::map<std::size_t, Fault> planted_faults(const SimulatedFleet& options) {
  std::vector<std::size_t> all(options.gpus);
  std::iota(all.begin(), all.end(), 0);
  std::mt19937_64 random(options.seed);
  std::map<std::size_t, Fault> planted;
  // Not std::shuffle, whose result the standard leaves open.
  for (std::size_t i = 0; i < std::min(options.planted, all.size()); ++i) {
    std::swap(all[i], all[i + random() % (all.size() - i)]);
    planted[all[i]] = faults[i % std::size(faults)];
  }
  return planted;
}

std::string card_name(const SimulatedFleet& options, std::size_t number) {
  return fmt::format("{} GPU {}", host_of(options, number), gpu_of(options, number));
}

GpuSummary simulated_gpu(const GpuSummary& recorded, const SimulatedFleet& options,
                         const std::map<std::size_t, Fault>& planted, std::size_t number) {
  GpuSummary gpu = recorded;
  gpu.host = host_of(options, number);
  gpu.gpu = gpu_of(options, number);
  gpu.uuid_hash = fmt::format("{:016x}", number + 1);
  gpu.source = Source::replay;  // nobody measured it
  const auto own = planted.find(number);
  std::mt19937_64 random(options.seed * 1'000'003 + number);
  std::normal_distribution<double> normal(0, options.noise);
  const std::vector<std::size_t> choice = metrics_above_zero(gpu);
  const std::size_t chosen = choice.empty() ? 0 : choice[random() % choice.size()];
  if (!gpu.health.uncorrected_ecc_errors) gpu.health.uncorrected_ecc_errors = 0;
  for (std::size_t i = 0; i < gpu.names.size(); ++i) {
    MetricFigures& figures = gpu.figures[i];
    const Reading recorded_figure = figures.together ? figures.together : figures.alone;
    if (!recorded_figure) continue;
    double value = *recorded_figure;
    if (own != planted.end() && touches(own->second, gpu.names[i], i == chosen))
      value = worsened(value, gpu.names[i].better, options.gap);
    figures.together = value * (1 + normal(random));
    figures.alone = options.together_only ? Reading() : Reading(value * (1 + normal(random)));
    figures.noise = options.noise;  // what such a run's own samples would show
    if (own != planted.end() && figures.sm_clock_hz &&
        (own->second == Fault::sm_clock || own->second == Fault::hot))
      figures.sm_clock_hz = *figures.sm_clock_hz * (1 - options.gap);
  }
  if (own != planted.end()) show(own->second, gpu.health, options.gap);
  return gpu;
}

void write_simulated_fleet(const GpuSummary& recorded, const SimulatedFleet& options,
                           const std::filesystem::path& folder) {
  const auto planted = planted_faults(options);
  in_parallel(options.gpus, [&](std::size_t number) {
    const GpuSummary gpu = simulated_gpu(recorded, options, planted, number);
    write_plainly(folder / gpu.host / std::to_string(gpu.gpu) / summary_file, to_text(gpu));
    if (gpu.gpu == 0)
      write_plainly(folder / gpu.host / "links" / links_file,
                    to_text(simulated_links(gpu.host, options, number)));
  });
}

Recall recall_of(const Fleet& fleet, const Outliers& outliers, const SimulatedFleet& options) {
  std::map<std::string, Fault> planted;
  for (const auto& [number, fault] : planted_faults(options))
    planted[card_name(options, number)] = fault;
  Recall recall;
  recall.planted = planted.size();
  for (const CardScore& card : outliers.cards) {
    const std::string name = name_of(fleet.gpus[card.gpu]);
    const auto fault = planted.find(name);
    const bool named = !card.findings.empty();
    if (fault == planted.end()) {
      ++recall.healthy;
      recall.false_names += named;
      continue;
    }
    if (!named) {
      recall.missed.push_back(fmt::format("{} ({})", name, to_string(fault->second)));
      continue;
    }
    ++recall.found;
    const std::string expected = words_of(fault->second).cause;
    if (expected.empty()) continue;
    ++recall.causes;
    recall.causes_right += std::ranges::any_of(
        card.findings.front().causes,
        [&](const std::string& cause) { return cause.find(expected) != std::string::npos; });
  }
  return recall;
}

}  // namespace fathom::fleet
