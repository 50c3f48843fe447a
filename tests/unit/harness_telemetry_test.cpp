#include "harness/telemetry.h"

#include <unistd.h>

#include <thread>

#include "tests/testing.h"
#include "tests/unit/fake_nvml.h"

using namespace fathom;
using namespace std::chrono_literals;
using Answers = FakeNvml::Answers;

namespace {

constexpr const char* first_gpu = "0000:0A:00.0";

/// What is seen in a window that ends at once.
Telemetry one_window(TelemetrySampler& sampler) {
  sampler.start();
  return sampler.stop();
}
Telemetry one_window() {
  TelemetrySampler sampler{std::string(first_gpu)};
  return one_window(sampler);
}

TEST_CASE("A window holds the lowest, median and highest reading", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"sm_clock", "1980,1400,1500"}, {"reasons", "0,4,0"}});
  TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  std::this_thread::sleep_for(200ms);
  const auto telemetry = sampler.stop();
  CHECK(telemetry.missing_reason.empty());
  CHECK(telemetry.sm_clock_hz.high == 1980e6);
  CHECK(telemetry.sm_clock_hz.low == 1400e6);
  CHECK(telemetry.sm_clock_hz.median == 1500e6);  // the last value of the list stays
  CHECK(telemetry.power_w.median == Approx(75.5));
  CHECK(telemetry.throttle_reasons == std::vector<std::string>{"sw_power_cap"});
  // One shorter than the period has its two ends.
  const FakeNvml two(Answers{{"sm_clock", "1000,2000,1,1,1"}});
  const auto clock = one_window().sm_clock_hz;
  CHECK(clock.low == 1000e6);
  CHECK(clock.high == 2000e6);
  CHECK(clock.median == 1500e6);
}

TEST_CASE("A window knows of the one before only if it resumes it", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"temperature", "50,60,70,40,90"}});
  TelemetrySampler sampler{std::string(first_gpu)};
  CHECK(one_window(sampler).temperature_c.high == 60);
  sampler.resume();
  const auto telemetry = sampler.stop();
  CHECK(telemetry.temperature_c.low == 40);
  CHECK(telemetry.temperature_c.high == 70);
  CHECK(telemetry.temperature_c.median == Approx(55));
  CHECK(one_window(sampler).temperature_c.low == 90);
}

TEST_CASE("Telemetry counts the other processes on the GPU", "[harness][telemetry]") {
  {
    const FakeNvml fake(Answers{{"processes", "2"}, {"process_pid", std::to_string(getpid())}});
    CHECK(one_window().other_processes == 1);
  }
  {
    // Within 100 ms the list is not read again; what came is seen in the next window.
    const FakeNvml fake(Answers{{"processes", "1,3"}});
    TelemetrySampler sampler{std::string(first_gpu)};
    CHECK(one_window(sampler).other_processes == 0);
    std::this_thread::sleep_for(110ms);
    CHECK(one_window(sampler).other_processes == 2);
  }
  // Siblings that wait for their turn are none; this one is among them.
  for (const auto& [seen, counted] : {std::pair("6", 0), std::pair("8", 2), std::pair("2", 0)}) {
    CAPTURE(seen);
    const FakeNvml fake(Answers{{"processes", seen}});
    TelemetrySampler sampler{std::string(first_gpu)};
    sampler.set_held_beside(5);
    CHECK(one_window(sampler).other_processes == counted);
  }
}

TEST_CASE("One channel that is refused does not take the others along", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"power_instant", "error:3"},
                              {"power_average", "error:3"},
                              {"reasons", "error:3"},
                              {"processes", "error:3"},
                              {"energy", "error:3"}});
  TelemetrySampler sampler{std::string(first_gpu)};
  const auto telemetry = one_window(sampler);
  CHECK_FALSE(telemetry.power_w.low);
  CHECK_FALSE(telemetry.power_w.median);
  CHECK_FALSE(telemetry.other_processes);
  CHECK(telemetry.temperature_c.median == 31);
  CHECK(telemetry.throttle_reasons.empty());
  CHECK(telemetry.missing_reason.empty());
  CHECK_FALSE(sampler.energy_j());
}

TEST_CASE("No telemetry at all says why", "[harness][telemetry]") {
  for (const auto& [answers, why] : {std::pair{Answers{{"ALL", "error:15"}}, "fallen off the bus"},
                                     {Answers{{"init", "error:9"}}, "not loaded"}}) {
    const FakeNvml fake(answers);
    TelemetrySampler sampler{std::string(first_gpu)};
    CHECK_THAT(one_window(sampler).missing_reason, contains(why));
    CHECK_FALSE(sampler.energy_j());
  }
}

TEST_CASE("A slow NVML does not hold up the end of a window", "[harness][telemetry]") {
  const FakeNvml fake(Answers{{"DELAY_MS", "100"}});
  TelemetrySampler sampler{std::string(first_gpu)};
  sampler.start();
  std::this_thread::sleep_for(50ms);  // the thread is at its first round now
  const auto before = std::chrono::steady_clock::now();
  CHECK(sampler.stop().sm_clock_hz.median == 345e6);
  // A round of five readings takes 500 ms: stop() makes one and must not wait for the thread's too.
  CHECK(std::chrono::steady_clock::now() - before < 800ms);
}

}  // namespace
