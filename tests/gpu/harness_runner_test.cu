// The runner on a GPU: what a wrong kernel wrote must not become a figure.

#include "harness/counters/pc_sampling.h"
#include "harness/counters/range_profiler.h"
#include "harness/runner.h"
#include "tests/gpu/gpu_fixture.h"

using namespace fathom;

namespace {

constexpr int count = 1 << 20;

enum class Sabotage { none, nan, unwritten, beyond_end };

constexpr unsigned store_line = __LINE__ + 4;
__global__ void write_ones(float* out, Sabotage sabotage) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (sabotage == Sabotage::unwritten && i == count / 2) return;
  out[i] = sabotage == Sabotage::nan && i == 3 ? nanf("") : 1.0f;
  if (sabotage == Sabotage::beyond_end && i == 0) out[count] = 1.0f;
}

Workload ones(Context& context, Sabotage sabotage) {
  const Buffer out = context.buffers().output("out", count * sizeof(float));
  cudaStream_t stream = context.stream();
  Workload workload;
  workload.launch = [=] { write_ones<<<count / 256, 256, 0, stream>>>(out.as<float>(), sabotage); };
  workload.poison = [=, &context] { context.buffers().poison(out); };
  workload.verify = [=]() -> std::optional<std::string> {
    const std::vector<float> host = test::to_host<float>(out.data, count);
    for (int i = 0; i < count; ++i) {
      if (!(std::abs(host[i] - 1) <= 0)) return "element " + std::to_string(i) + " is wrong";
    }
    return std::nullopt;
  };
  return workload;
}

Case make_case(Sabotage sabotage, const char* opponent = "", Sabotage of_opponent = {}) {
  Case c;
  c.name = "ones";
  c.metric = {"bandwidth", "B/s", Better::higher, std::nullopt};
  c.value = rate(count * sizeof(float));
  c.prepare = [=](Context& context) { return ones(context, sabotage); };
  if (*opponent != 0)
    c.opponents = {{opponent, [=](Context& context) { return ones(context, of_opponent); }}};
  return c;
}

struct Running : test::Gpu {
  TimingPolicy policy{.time_limit_s = 0.01};
  Runner runner{facts, 1, policy};
  Entry measure(const Case& c) { return runner.measure("test/ones", "test", c); }
};

}  // namespace

TEST_CASE("a right kernel gets a figure", "[gpu][harness]") {
  Running gpu;
  const Entry entry = gpu.measure(make_case(Sabotage::none, "the same"));
  CAPTURE(entry.verdict.reasons);
  CHECK(entry.metric.value.has_value());
  CHECK(entry.timing.sm_clock_hz.has_value());
  CHECK(entry.verdict.reasons.empty());
  CHECK(gpu.runner.case_failure() == ExitCode::ok);
  REQUIRE(entry.opponents.size() == 1);
  REQUIRE(entry.opponents[0].ratio.has_value());
  CHECK(std::abs(*entry.opponents[0].ratio - 1) < 0.05);
}

TEST_CASE("a case that asks for less precision takes fewer samples", "[gpu][harness]") {
  Running gpu;
  Case c = make_case(Sabotage::none);
  CHECK(gpu.measure(c).samples.size() >= 24);
  c.precision = Precision{.relative_half_width = 1, .min_samples = 6, .time_limit_s = 10};
  const Entry entry = gpu.measure(c);
  CHECK(entry.samples.size() >= 6);
  CHECK(entry.samples.size() < 24);
  CHECK(entry.timing.stop == "converged");
}

TEST_CASE("a case under lasting load has a sample for each turn", "[gpu][harness]") {
  Running gpu;
  Case c = make_case(Sabotage::none, "the same");
  c.mode = SustainedLoad{.lead_in_s = 0.5, .turns = 2};
  const Entry entry = gpu.measure(c);
  CAPTURE(entry.verdict.reasons);
  CHECK(entry.timing.mode == "sustained");
  CHECK(entry.timing.sm_clock_hz.has_value());
  CHECK(entry.samples.size() == 2);
  REQUIRE(entry.opponents.size() == 1);
  CHECK(entry.opponents[0].samples.size() == 2);
  if (!TelemetrySampler(gpu.facts.pci_bus_id).energy_j()) SKIP("this GPU has no energy counter");
  for (const char* of : {"", ":the same"}) {
    CAPTURE(of);
    CHECK(entry.extras.at(std::string("joules") + of) > 0);
    CHECK(entry.extras.contains(std::string("joules_half_width") + of));
  }
}

TEST_CASE("small buffers lie in several places, in most where they stay in a cache",
          "[gpu][harness]") {
  const auto places_of = [](const std::function<void(Case&)>& change) {
    Running gpu;
    std::set<void*> places;
    Case c = make_case(Sabotage::none);
    c.prepare = [&](Context& context) {
      places.insert(context.buffers().output("out", count * sizeof(float)).data);
      return ones(context, Sabotage::none);
    };
    change(c);
    const Entry entry = gpu.measure(c);
    CHECK(entry.metric.value.has_value());
    CHECK(entry.repeatability.has_value());
    return static_cast<int>(places.size());
  };
  const TimingPolicy policy;
  CHECK(places_of([](Case&) {}) ==
        policy.rounds * places_in_a_round(count * sizeof(float), query_device_facts(0).l2_bytes));
  CHECK(places_of([](Case& c) { c.cache = CacheState::cold; }) == policy.rounds);
  CHECK(places_of([](Case& c) { c.precision = Precision{.time_limit_s = 10}; }) == policy.rounds);
}

TEST_CASE("a case's profile is read, and one that is no numbers fails it", "[gpu][harness]") {
  Running gpu;
  Case c = make_case(Sabotage::none);
  c.profile_axis = "element";
  c.profile_unit = "1";
  std::vector<double> values{3, 1, 2};
  c.prepare = [&](Context& context) {
    Workload workload = ones(context, Sabotage::none);
    workload.profile = [&] { return values; };
    return workload;
  };
  const auto profile = gpu.measure(c).profile;
  REQUIRE(profile);
  CHECK(profile->axis == "element");
  CHECK(profile->unit == "1");
  CHECK(profile->values == values);
  values[1] = std::numeric_limits<double>::quiet_NaN();
  const Entry entry = gpu.measure(c);
  CHECK(entry.verdict.status == VerdictStatus::failed);
  REQUIRE(entry.verdict.reasons.size() == 1);
  CHECK(entry.verdict.reasons[0].find("place 1 of the profile") != std::string::npos);
  CHECK_FALSE(entry.profile.has_value());
  CHECK_FALSE(entry.metric.value.has_value());
}

TEST_CASE("a NaN, a gap, a write past the end and a wrong opponent are seen", "[gpu][harness]") {
  for (const auto& [wrong, sentence] :
       {std::pair{make_case(Sabotage::nan), "element 3 is wrong"},
        {make_case(Sabotage::unwritten), "element 524288 is wrong"},
        {make_case(Sabotage::beyond_end), "buffer 'out' was written"},
        {make_case(Sabotage::none, "other", Sabotage::nan), "other: element 3 is wrong"}}) {
    Running gpu;
    const Entry entry = gpu.measure(wrong);
    CAPTURE(sentence);
    CHECK(entry.verdict.status == VerdictStatus::wrong_output);
    REQUIRE(entry.verdict.reasons.size() == 1);
    CHECK(entry.verdict.reasons[0].find(sentence) != std::string::npos);
    if (!wrong.opponents.empty()) continue;
    CHECK_FALSE(entry.metric.value.has_value());
    CHECK(gpu.runner.case_failure() == ExitCode::check_failed);
  }
}

TEST_CASE("a case that needs more memory than there is fails alone", "[gpu][harness]") {
  Running gpu;
  Case greedy = make_case(Sabotage::none);
  greedy.prepare = [](Context& context) {
    context.buffers().output("all", context.device().memory_bytes);
    return Workload{};
  };
  const Entry failed = gpu.measure(greedy);
  CHECK(failed.verdict.status == VerdictStatus::failed);
  CHECK(gpu.runner.case_failure() == ExitCode::gpu_out_of_memory);
  CHECK(gpu.measure(make_case(Sabotage::none)).metric.value.has_value());
}

// Hidden, and started by CMakeLists.txt in a process of its own: where an earlier test has captured
// a stream or collected counters, CUPTI does not know the kernel (see Runner::sample_lines).
TEST_CASE("a line's share of the waiting is sampled", "[.][gpu][alone]") {
  PcSampler::watch_modules();
  Running gpu;
  Case c = make_case(Sabotage::none);
  c.line_shares = {{"stall_share_store", "harness_runner_test.cu", {store_line}}};
  std::optional<PcSampler> sampler;
  const std::vector<Counter> counters = gpu.runner.sample_lines(c, sampler);
  REQUIRE_FALSE(counters.empty());
  CHECK(counters[0].role == "stall_share_store");
  CAPTURE(counters[0].reason);
  // Only now: a counter session before it would hide the kernel from the sampler, which excludes
  // it.
  sampler.reset();
  if (!CounterSession::problem_on(0).empty()) SKIP("no counters here");
  REQUIRE(counters[0].value.has_value());
  CHECK(*counters[0].value > 10);
  CHECK(*counters[0].value <= 100);
}
