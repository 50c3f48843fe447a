#include <fmt/format.h>

#include <cmath>

#include "probes/claims.h"
#include "results/findings.h"

namespace fathom::occupancy {
namespace {

using I = std::int64_t;

const char* const theory = "theoretical occupancy (%)";
const char* const loads = "16-byte loads in flight";
/// What O2's and O3's author had with blocks of 1024 threads.
constexpr double low_occupancy = 37.6;

/// 1 or 0; NaN of a document that lacks a figure.
double as_the_driver_says(const Entry& e) {
  const double more = extra_of("model_blocks_per_sm")(e) - extra_of("driver_blocks_per_sm")(e);
  return std::isnan(more) ? more : more == 0;
}
double share_achieved(const Entry& e) {
  return counter_of("achieved_occupancy")(e) / axis_of(theory)(e);
}

ClaimRow o1() {
  const auto of = [](const char* name, I threads) {
    return Quantity{
        name, {{"turned", "block size"}, {"block", threads}}, Pick::first, axis_of(theory)};
  };
  return {
      "O1",
      toyx,
      "Theoretical occupancy is known before the run from block size, registers and shared memory",
      "1024 threads: 66.7 % on a part with 48 warps per SM; 256 threads: 100 %",
      {{"right", {}, Pick::sum, as_the_driver_says, "", is_measured},
       {"kernels", {}, Pick::count, as_the_driver_says, "", is_measured},
       of("1024", 1024),
       of("256", 256)},
      {{"right/kernels", 1, 1}},
      "resident blocks as the driver says for {right:.0f} of {kernels:.0f} kernels[; 1024 threads: "
      "{1024:.1f} %][; 256 threads: {256:.1f} %]"};
}

/// The controls: blocks that live as long as the kernel do away with launches, and in whole waves
/// of equal blocks, each launched as usual, no SM has more than another.
ClaimRow o2() {
  const AxisFilter usual{{"turned", "block size"}, {"grid", "one-shot"}};
  const auto least = [](const char* name, I in_flight) {
    return Quantity{
        name, {{"grid", "persistent"}, {loads, in_flight}}, Pick::least, share_achieved};
  };
  const auto lower = [](const Figures& f) {
    return std::isnan(f["short"]) ? f["short"] : f["short"] <= same_speed;
  };
  Quantities reading{{"short", usual, Pick::most, share_achieved},
                     {"whole", {{"grid", "whole waves"}}, Pick::least, share_achieved},
                     least("one", 1),
                     least("four", 4),
                     formula("lower", lower)};
  std::string listed;
  for (const I threads : {32, 64, 128, 192, 256, 384, 512, 768, 1024}) {
    const std::string name = std::to_string(threads) + " threads";
    reading.push_back({name, usual + AxisFilter{{"block", threads}}, Pick::first,
                       counter_of("achieved_occupancy")});
    listed += "[; " + name + ": {" + name + ":.1f} of {" + name + " " + theory + ":.1f} %]";
  }
  // Whether a control has it back: there is nothing to have back where it is not lower.
  for (const std::string control : {"one", "four", "whole"})
    reading.push_back(formula(control + " back", [control](const Figures& f) {
      const double share = f[control];
      return f["lower"] != 1 || std::isnan(share) ? std::nan("") : share >= same_speed;
    }));
  return {
      "O2",
      toyx,
      "Achieved occupancy is lower, from launch overhead and imbalance",
      "37.6 % at 1024 threads",
      std::move(reading),
      {{"short", 0, same_speed}, {"one", same_speed}, {"four", same_speed}, {"whole", same_speed}},
      "[{lower:lower|not lower}, at most {short:%}]"
      "[; with long-lived blocks {one back:no longer|still} at 1 load]"
      "[, {four back:no longer|still} at 4][; in whole waves {whole back:no longer|still}]"
      "[; one wave of blocks that live as long as the kernel has at least {one:%} of the "
      "theoretical with one load in flight a thread and {four:%} with four][; whole waves of equal "
      "blocks, launched one after the other, have at least {whole:%}]" +
          listed,
      Rule::effect};
}

ClaimRow o3() {
  const auto low = [](const char* name, I in_flight) {
    return Quantity{
        name,       {{"turned", "shared memory"}, {"grid", "one-shot"}, {loads, in_flight}},
        Pick::best, metric_of,
        "",         [](const Entry& e) { return axis_of(theory)(e) <= low_occupancy; }};
  };
  return {"O3",
          toyx,
          "A memory-bound kernel stays at full bandwidth at low occupancy",
          "V1's bandwidth at 37.6 %",
          {low("one", 1), low("four", 4), {"top", {}, Pick::best}},
          {{"one/top", same_speed}, {"four/top", same_speed}},
          "with one 16-byte load a thread {one} at {one theoretical occupancy (%)} % occupancy, "
          "{one/top:%} of {top} at best; with four in flight {four}, {four/top:%}",
          Rule::cases};
}

/// The steps themselves are what the counter saw where no launch and no imbalance hides them.
ClaimRow o4() {
  const auto by_resource = [](const Entry& e) {
    return is_measured(e) && !matches(e, {{"turned", "block size"}});
  };
  Quantities reading{{"right", {}, Pick::sum, as_the_driver_says, "", by_resource},
                     {"kernels", {}, Pick::count, as_the_driver_says, "", by_resource},
                     {"step",
                      {{"grid", "persistent"}, {loads, I{1}}},
                      Pick::least,
                      share_achieved,
                      "",
                      by_resource}};
  std::string listed;
  const auto warps = [&](const std::string& name, const char* turned, I threads, I kib,
                         double registers) {
    reading.push_back({name,
                       {{"turned", turned}, {"block", threads}},
                       Pick::first,
                       extra_of("theoretical_warps"),
                       "",
                       [=](const Entry& e) {
                         const double has = axis_of("registers")(e);
                         return has > registers && (registers >= 150 || has < 150);
                       }});
    listed += fmt::format("; {} threads x {{{} registers}} registers with {} KiB: {{{}:.0f}} warps",
                          threads, name, kib, name);
  };
  warps("a", "registers", 128, 0, 100);
  warps("b", "registers", 256, 0, 100);
  warps("c", "registers", 128, 0, 150);
  warps("d", "registers", 256, 0, 150);
  warps("e", "registers and shared memory", 256, 32, 100);
  return {
      "O4",
      double_products,
      "More shared memory or registers per block lowers occupancy in steps",
      "128 threads x 180 registers: 8 warps; 256 threads x 128 registers with 32 KiB: 16 warps",
      std::move(reading),
      {{"right/kernels", 1, 1}, {"step", same_speed}, {"c", 8, 8}, {"e", 16, 16}},
      "the driver's answer at {right:.0f} of {kernels:.0f} steps, and by counter at least {step:%} "
      "of each" +
          listed};
}

std::vector<View> views() {
  return {
      plot("Copy bandwidth against occupancy", {{"turned", {"shared memory"}}}, theory,
           "Bandwidth, read + write", {"grid", loads},
           {.x_label = "Theoretical occupancy (%)", .bound = true, .expected = true}),
      table("Every configuration", {},
            {"turned", "grid", loads, "block", "registers", "dynamic shared (B)", "limited by",
             theory, "counter:achieved_occupancy", "metric", "of_bound", "expected", "verdict"})};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  const double top = Figures({{"top", {}, Pick::best}}, entries)["top"];
  const auto full = [=](const Entry& e) { return metric_of(e) >= same_speed * top; };
  return evaluate(
      {.claims = {o1(), o2(), o3(), o4()},
       .reading = {{"top", {}, Pick::best}, {"low", {}, Pick::least, axis_of(theory), "", full}},
       .answer = "A copy keeps 95 % of its best bandwidth ({top}) down to {low:.1f} % occupancy.",
       .views = views()},
      entries);
}

}  // namespace fathom::occupancy
