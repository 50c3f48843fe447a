// What `fathom check` is tried on: some thirty short metrics of several kinds, measured as every
// probe measures, with faults that can be switched on for each. It is in no suite. The figures are
// of the work without a fault, so that a fault looks like what it is in a user's program: the same,
// and slower.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cuda_check.h"
#include "studies/gate/victim/faults.h"
#include "studies/gate/victim/kernels.h"

namespace fathom::gate_victim {
namespace {

// Counts of work: large enough that a factor of 1.0005 is met.
constexpr int turns = 10'000, shared_steps = 10'000, products_steps = 10'000;
constexpr int atomics_steps = 5000, l1_chase_steps = 10'000, l2_chase_steps = 2000;

/// Enough to tell 0.5 % apart; the whole program is to end within two seconds.
constexpr Precision precision{0.005, 12, 0.05};

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::string wrong_at(const char* what, std::size_t place) {
  return fmt::format("{} {} is not what its work leads to", what, place);
}

/// A case and what it can suffer from.
struct Metric {
  Case c;
  Possible possible;
};

class Victim {
 public:
  static std::vector<Case> cases_for(const DeviceFacts& device, const OptionValues& values) {
    std::map<std::string, Possible> metrics;
    for (const Metric& metric : all(device, {}))
      metrics.emplace(name_of(metric.c), metric.possible);
    std::vector<Case> cases;
    for (Metric& metric : all(device, faults_of(values, metrics)))
      cases.push_back(std::move(metric.c));
    return cases;
  }

  static Findings conclude(std::span<const Entry> entries) {
    Findings findings;
    findings.answer = fmt::format("{} metrics to be compared by the gate.", entries.size());
    View table;
    table.title = "Every metric";
    table.columns = {"metric", "verdict"};
    findings.views = {std::move(table)};
    return findings;
  }

 private:
  static std::string name_of(const Case& c) { return "gate_victim/" + c.name; }

  /// A case without its workload: `work` per launch is what the metric is of.
  static Case rate_case(std::string name, const char* metric, const char* unit, double work) {
    Case c = time_case(std::move(name));
    c.metric = {metric, unit, Better::higher, std::nullopt};
    c.value = rate(work);
    return c;
  }
  static Case time_case(std::string name) {
    Case c;
    c.name = std::move(name);
    c.suite = Suite::quick;
    c.metric = {"time", "s", Better::lower, std::nullopt};
    c.value = [](double seconds) { return seconds; };
    c.precision = precision;
    return c;
  }

  static std::vector<Metric> all(const DeviceFacts& device, const Faults& faults) {
    std::vector<Metric> metrics;
    for (const int warps : {4, 8, 16, 32})
      metrics.push_back(chain_metric(device, faults, Chain::fma, "fma", warps));
    for (const int warps : {4, 16})
      metrics.push_back(chain_metric(device, faults, Chain::dfma, "dfma", warps));
    for (const int warps : {4, 16, 32})
      metrics.push_back(chain_metric(device, faults, Chain::imad, "imad", warps));
    for (const int warps : {4, 16})
      metrics.push_back(chain_metric(device, faults, Chain::shuffle, "shuffle", warps));
    for (const int warps : {1, 4, 8, 16, 32})
      metrics.push_back(shared_metric(device, faults, warps));
    for (const int warps : {4, 8}) metrics.push_back(products_metric(device, faults, warps));
    for (const int cells : {0, 1024}) metrics.push_back(atomics_metric(device, faults, cells));
    metrics.push_back(chase_metric(faults, "L1", 16 * 1024));
    metrics.push_back(chase_metric(faults, "L2", mebibyte));
    metrics.push_back(chase_metric(faults, "L2", 8 * mebibyte));
    for (const std::size_t size : {4, 8, 16, 24, 256, 384})
      metrics.push_back(tiles_metric(device, faults, "read", size));
    for (const std::size_t size : {8, 16, 128, 256})
      metrics.push_back(tiles_metric(device, faults, "copy", size));
    return metrics;
  }

  static Metric chain_metric(const DeviceFacts& device, const Faults& faults, Chain chain,
                             const char* label, int warps) {
    const Grid grid{device.sms, warps};
    const double steps = static_cast<double>(grid.threads()) * turns * chain_unroll;
    Case c = chain == Chain::fma || chain == Chain::dfma
                 ? rate_case(fmt::format("{}/warps:{}", label, warps), "flops", "FLOP/s", 2 * steps)
                 : rate_case(fmt::format("{}/warps:{}", label, warps), "steps", "op/s", steps);
    const int work = slowed(turns, faults, name_of(c));
    c.prepare = [=](Context& context) {
      cudaStream_t stream = context.stream();
      const std::size_t bytes = chain_bytes(chain);
      const Buffer out = context.buffers().output("out", grid.threads() * bytes);
      const auto ends = chain_end(chain, work);
      Workload workload;
      workload.launch = [=] { launch_chain(chain, grid, work, out.data, stream); };
      workload.poison = [=, &context] { context.buffers().poison(out); };
      workload.verify = [=]() -> std::optional<std::string> {
        const auto host = copy_to_host<std::byte>(out, stream);
        for (std::size_t thread = 0; thread < grid.threads(); ++thread)
          if (std::memcmp(&host[thread * bytes], &ends[thread % lanes], bytes) != 0)
            return wrong_at("the chain's end of thread", thread);
        return std::nullopt;
      };
      return workload;
    };
    return {std::move(c), {}};
  }

  /// A workload whose output is `count` elements, of which `expected` says what they are.
  template <class T, class Launch, class Expected>
  static Workload checked(Context& context, std::size_t count, const Launch& launch,
                          const Expected& expected) {
    cudaStream_t stream = context.stream();
    const Buffer out = context.buffers().output("out", count * sizeof(T));
    Workload workload;
    workload.launch = [=] { launch(out.as<T>(), stream); };
    workload.poison = [=, &context] { context.buffers().poison(out); };
    workload.verify = [=]() -> std::optional<std::string> {
      const std::vector<T> host = copy_to_host<T>(out, stream);
      for (std::size_t i = 0; i < count; ++i)
        if (!(host[i] == expected(i))) return wrong_at("output", i);
      return std::nullopt;
    };
    return workload;
  }

  static Metric shared_metric(const DeviceFacts& device, const Faults& faults, int warps) {
    const Grid grid{device.sms, warps};
    Case c = rate_case(fmt::format("shared/warps:{}", warps), "bandwidth", "B/s",
                       static_cast<double>(grid.threads()) * shared_steps * sizeof(int));
    const int steps = slowed(shared_steps, faults, name_of(c));
    const int conflicts =
        static_cast<int>(std::lround(steps * share_of(faults.conflict, name_of(c))));
    c.prepare = [=](Context& context) {
      std::vector<int> ends;
      for (int warp = 0; warp < warps; ++warp) ends.push_back(shared_chase_end(warp, steps));
      return checked<int>(
          context, grid.threads(),
          [=](int* out, cudaStream_t s) { launch_shared_chase(grid, steps, conflicts, out, s); },
          [=](std::size_t thread) { return ends[thread / lanes % ends.size()]; });
    };
    return {std::move(c), {.conflict = true}};
  }

  static Metric products_metric(const DeviceFacts& device, const Faults& faults, int warps) {
    const Grid grid{device.sms, warps};
    const double tiles = static_cast<double>(grid.blocks) * warps;
    Case c = rate_case(fmt::format("mma/warps:{}", warps), "flops", "FLOP/s",
                       tiles * products_steps * 2 * 16 * 16 * 16);
    const int steps = slowed(products_steps, faults, name_of(c));
    c.prepare = [=](Context& context) {
      return checked<float>(
          context, static_cast<std::size_t>(tiles) * tile_elements,
          [=](float* out, cudaStream_t s) { launch_products(grid, steps, out, s); },
          [=](std::size_t) { return 16.f * static_cast<float>(steps); });
    };
    return {std::move(c), {}};
  }

  /// `cells`: how many integers all threads share; 0: each has its own.
  static Metric atomics_metric(const DeviceFacts& device, const Faults& faults, int cells) {
    const Grid grid{device.sms, 8};
    const int all_cells = cells > 0 ? cells : static_cast<int>(grid.threads());
    // Few lines are spread over the slices of the L2 unevenly, and otherwise in each process (3 %).
    const int sets = cells > 0 ? 1 : 64;
    Case c = rate_case(cells > 0 ? fmt::format("atomics/cells:{}", cells) : "atomics/cells:own",
                       "atomics", "op/s", static_cast<double>(grid.threads()) * atomics_steps);
    const int steps = slowed(atomics_steps, faults, name_of(c));
    c.prepare = [=](Context& context) {
      return checked<int>(
          context, static_cast<std::size_t>(all_cells) * sets,
          [=](int* out, cudaStream_t s) { launch_atomics(grid, steps, all_cells, sets, out, s); },
          [=](std::size_t i) {
            return atomics_end(steps, sets,
                               static_cast<int>(i / static_cast<std::size_t>(all_cells)));
          });
    };
    return {std::move(c), {}};
  }

  static Metric chase_metric(const Faults& faults, const char* level, std::size_t bytes) {
    const bool in_l1 = std::string_view(level) == "L1";
    Case c = time_case(fmt::format("chase/{}:{}KiB", level, bytes / 1024));
    const int steps = slowed(in_l1 ? l1_chase_steps : l2_chase_steps, faults, name_of(c));
    const auto slots = static_cast<unsigned>(bytes / slot_bytes);
    c.prepare = [=](Context& context) {
      const Buffer chain = context.buffers().output("chain", bytes);
      fill_chase(chain.as<unsigned>(), slots, context.stream());
      const unsigned end = chase_end(slots, steps);
      return checked<unsigned>(
          context, 1,
          [=](unsigned* out, cudaStream_t s) {
            launch_chase(chain.as<unsigned>(), steps, in_l1, out, s);
          },
          [=](std::size_t) { return end; });
    };
    return {std::move(c), {}};
  }

  /// Dynamic shared memory with which an SM holds only what the fault leaves of the blocks.
  static int limiting_shared(const DeviceFacts& device, double lost, bool copies) {
    if (lost == 0) return 0;
    const int all = resident_tiles(copies);
    const int left = std::max(1, static_cast<int>(std::lround(all * (1 - lost))));
    const std::size_t share = device.shared_bytes_per_sm / static_cast<std::size_t>(left);
    constexpr std::size_t own = 1024;  // what the kernel itself has, generously
    const std::size_t taken = device.reserved_shared_bytes_per_block + own;
    const std::size_t free = share > taken ? share - taken : 0;
    return static_cast<int>(std::min(free, device.shared_bytes_per_block_max - own));
  }

  static Metric tiles_metric(const DeviceFacts& device, const Faults& faults,
                             const std::string& kind, std::size_t size_mib) {
    const bool copies = kind == "copy";
    const auto in_buffer = static_cast<int>(size_mib * mebibyte / tile_bytes);
    // At least 256 MiB, so that what lies in L2 is read many times over.
    const int count = std::max(in_buffer, 8192);
    Case c = rate_case(fmt::format("{}/size:{}MiB", kind, size_mib), "bandwidth", "B/s",
                       static_cast<double>(count) * tile_bytes * (copies ? 2 : 1));
    Tiles tiles;
    tiles.count = slowed(count, faults, name_of(c));
    // What does not lie in L2 gets more of it where it gets more work: tiles that are met again may
    // still be there, and would be next to none.
    const std::size_t walked = size_mib * mebibyte * (copies ? 2 : 1);
    tiles.in_buffer = in_buffer;
    if (walked > device.l2_bytes)
      tiles.in_buffer = static_cast<int>(std::ceil(in_buffer * (1.0 * tiles.count / count)));
    tiles.apart_per_thousand =
        static_cast<int>(std::lround(1000 * share_of(faults.uncoalesced, name_of(c))));
    const double lost = share_of(faults.occupancy, name_of(c));
    c.prepare = [=, &device](Context& context) {
      Tiles limited = tiles;
      limited.dynamic_shared = limiting_shared(device, lost, copies);
      return copies ? copy_workload(context, limited) : read_workload(context, limited);
    };
    return {std::move(c), {.uncoalesced = !copies, .occupancy = true}};
  }

  static Workload read_workload(Context& context, const Tiles& tiles) {
    cudaStream_t stream = context.stream();
    const auto in_buffer = static_cast<std::size_t>(tiles.in_buffer);
    const Buffer from = context.buffers().input("from", in_buffer * tile_bytes);
    const Buffer reference = context.buffers().output("reference", in_buffer * sizeof(unsigned));
    launch_read_reference(tiles.in_buffer, from.as<uint4>(), reference.as<unsigned>(), stream);
    const std::vector<unsigned> wanted = copy_to_host<unsigned>(reference, stream);
    return checked<unsigned>(
        context, static_cast<std::size_t>(tiles.count),
        [=](unsigned* out, cudaStream_t s) { launch_read(tiles, from.as<uint4>(), out, s); },
        [=](std::size_t tile) { return wanted[tile % wanted.size()]; });
  }

  static Workload copy_workload(Context& context, const Tiles& tiles) {
    cudaStream_t stream = context.stream();
    const std::size_t bytes = static_cast<std::size_t>(tiles.in_buffer) * tile_bytes;
    const Buffer from = context.buffers().input("from", bytes);
    const Buffer to = context.buffers().output("to", bytes);
    Workload workload;
    workload.launch = [=] { launch_copy(tiles, from.as<uint4>(), to.as<uint4>(), stream); };
    workload.poison = [=, &context] { context.buffers().poison(to); };
    workload.verify = [=]() -> std::optional<std::string> {
      const std::uint64_t wrong = count_different_bytes(from.data, to.data, bytes, stream);
      if (wrong == 0) return std::nullopt;
      return fmt::format("{} of {} bytes were not copied", wrong, bytes);
    };
    return workload;
  }
};

const Probe probe{
    .name = "gate_victim",
    .question = "Does the gate find a fault in one of these?",
    .method =
        "Chains of dependent instructions, walks through shared memory, L1 and L2, matrix "
        "products, atomics, reads and copies of tiles in L2 and DRAM; each a fraction of a "
        "millisecond, with its output checked.",
    .conclude = Victim::conclude,
    .options = fault_options(),
    .program = "gate_victim",
    .example = "--slow gate_victim/fma/warps:8=1.03 --conflict gate_victim/shared/warps:8=0.01",
    .cases_for = Victim::cases_for};

}  // namespace
}  // namespace fathom::gate_victim

FATHOM_PROBE(fathom::gate_victim::probe)
