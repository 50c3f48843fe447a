#include <cmath>

#include "probes/claims.h"
#include "results/rows.h"

namespace fathom::occupancy {
namespace {

using I = std::int64_t;

const char* const theory = "theoretical occupancy (%)";
const char* const loads = "16-byte loads in flight";
/// What O2's and O3's author had with blocks of 1024 threads.
constexpr double low_occupancy = 37.6;

bool measured(const Entry& e) { return e.metric.value.has_value(); }
bool as_the_driver_says(const Entry& e) {
  return e.extras.at("model_blocks_per_sm") == e.extras.at("driver_blocks_per_sm");
}
/// The achieved share of the theoretical occupancy.
double share_achieved(const Entry& e) {
  return counter_of("achieved_occupancy")(e) / axis_of(theory)(e);
}
bool at_low_occupancy(const Entry& e) { return axis_of(theory)(e) <= low_occupancy; }

ClaimRow o1() {
  const auto percent = [](const char* name, I threads) {
    return Quantity{
        name, {{"turned", "block size"}, {"block", threads}}, Pick::first, axis_of(theory), "%"};
  };
  return {
      "O1",
      "Theoretical occupancy is known before the run from block size, registers and shared memory",
      "1024 threads: 66.7 % on a part with 48 warps per SM; 256 threads: 100 %",
      toyx,
      {{{"right", {}, Pick::sum, passes(as_the_driver_says), "", measured},
        {"kernels", {}, Pick::count, metric_of, "", measured},
        percent("of 1024", 1024),
        percent("of 256", 256)},
       {ratio("share", "right", "kernels")}},
      {{"share", 1, 1}},
      "resident blocks as the driver says for {right:.0f} of {kernels:.0f} kernels[; 1024 threads: "
      "{of 1024:.1f} %][; 256 threads: {of 256:.1f} %]"};
}

/// The controls: blocks that live as long as the kernel do away with launches, and in whole waves
/// of equal blocks, each launched as usual, no SM has more than another.
ClaimRow o2() {
  const AxisFilter usual{{"turned", "block size"}, {"grid", "one-shot"}};
  const auto least = [](const char* name, I in_flight) {
    return Quantity{
        name, {{"grid", "persistent"}, {loads, in_flight}}, Pick::least, share_achieved};
  };
  Reading reading{{{"short", usual, Pick::most, share_achieved},
                   {"whole", {{"grid", "whole waves"}}, Pick::least, share_achieved},
                   least("one", 1),
                   least("four", 4)}};
  std::string listed;
  for (const I threads : {32, 64, 128, 192, 256, 384, 512, 768, 1024}) {
    const std::string name = std::to_string(threads) + " threads";
    AxisFilter where = usual;
    where.emplace_back("block", threads);
    reading.quantities.push_back({name, where, Pick::first, counter_of("achieved_occupancy")});
    reading.quantities.push_back({"of " + name, where, Pick::first, axis_of(theory)});
    listed += "[; " + name + ": {" + name + ":.1f} of {of " + name + ":.1f} %]";
  }
  reading.formulas.push_back({"lower", [](const Figures& f) {
                                const double share = f["short"];
                                return std::isnan(share) ? share : share <= same_speed ? 1 : 0;
                              }});
  // Whether a control has it back: there is nothing to have back where it is not lower.
  for (const std::string control : {"one", "four", "whole"})
    reading.formulas.push_back({control + " back", [control](const Figures& f) {
                                  const double share = f[control];
                                  if (f["lower"] != 1 || std::isnan(share)) return std::nan("");
                                  return share >= same_speed ? 1.0 : 0.0;
                                }});
  return {
      "O2",
      "Achieved occupancy is lower, from launch overhead and imbalance",
      "37.6 % at 1024 threads",
      toyx,
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
        "",         at_low_occupancy};
  };
  return {"O3",
          "A memory-bound kernel stays at full bandwidth at low occupancy",
          "V1's bandwidth at 37.6 %",
          toyx,
          {{low("one", 1), low("four", 4), {"top", {}, Pick::best}},
           {ratio("one share", "one", "top"), ratio("four share", "four", "top")}},
          {{"one share", same_speed}, {"four share", same_speed}},
          "with one 16-byte load a thread {one} at {one theoretical occupancy (%)} % occupancy, "
          "{one share:%} of {top} at best; with four in flight {four}, {four share:%}",
          Rule::cases};
}

/// The steps themselves are what the counter saw where no launch and no imbalance hides them.
ClaimRow o4() {
  const auto by_resource = [](const Entry& e) {
    return measured(e) && !matches(e, {{"turned", "block size"}});
  };
  const auto warps = [](const char* name, const char* turned, I threads, bool most_registers) {
    return Quantity{name,
                    {{"turned", turned}, {"block", threads}},
                    Pick::first,
                    extra_of("theoretical_warps"),
                    "",
                    [=](const Entry& e) {
                      const double registers = axis_of("registers")(e);
                      return most_registers ? registers > 150 : registers > 100 && registers < 150;
                    }};
  };
  return {
      "O4",
      "More shared memory or registers per block lowers occupancy in steps",
      "128 threads x 180 registers: 8 warps; 256 threads x 128 registers with 32 KiB: 16 warps",
      double_products,
      {{{"right", {}, Pick::sum, passes(as_the_driver_says), "", by_resource},
        {"kernels", {}, Pick::count, metric_of, "", by_resource},
        {"step",
         {{"grid", "persistent"}, {loads, I{1}}},
         Pick::least,
         share_achieved,
         "",
         by_resource},
        warps("a", "registers", 128, false),
        warps("b", "registers", 256, false),
        warps("c", "registers", 128, true),
        warps("d", "registers", 256, true),
        warps("e", "registers and shared memory", 256, false)},
       {ratio("share", "right", "kernels")}},
      {{"share", 1, 1}, {"step", same_speed}, {"c", 8, 8}, {"e", 16, 16}},
      "the driver's answer at {right:.0f} of {kernels:.0f} steps, and by counter at least {step:%} "
      "of each; 128 threads x {a registers} registers with 0 KiB: {a:.0f} warps; 256 threads x {b "
      "registers} registers with 0 KiB: {b:.0f} warps; 128 threads x {c registers} registers with "
      "0 KiB: {c:.0f} warps; 256 threads x {d registers} registers with 0 KiB: {d:.0f} warps; 256 "
      "threads x {e registers} registers with 32 KiB: {e:.0f} warps"};
}

std::vector<View> views() {
  return {{.kind = View::Kind::plot,
           .title = "Copy bandwidth against occupancy",
           .where = {{"turned", {"shared memory"}}},
           .x = theory,
           .x_label = "Theoretical occupancy (%)",
           .y_label = "Bandwidth, read + write",
           .series = {"grid", loads}},
          {.title = "Every configuration",
           .columns = {"turned", "grid", loads, "block", "registers", "dynamic shared (B)",
                       "limited by", theory, "counter:achieved_occupancy", "metric", "of_bound",
                       "expected", "verdict"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{.claims = {o1(), o2(), o3(), o4()}, .views = views()};
  Findings findings = evaluate(rows, entries);
  const double top = Figures({{{"top", {}, Pick::best}}}, entries)["top"];
  const auto full = [=](const Entry& e) { return metric_of(e) >= same_speed * top; };
  const Reading answer{
      {{"top", {}, Pick::best}, {"low", {}, Pick::least, axis_of(theory), "", full}}};
  if (top > 0)
    findings.answer =
        Figures(answer, entries)
            .tell("A copy keeps 95 % of its best bandwidth ({top}) down to {low:.1f} % occupancy.");
  return findings;
}

}  // namespace fathom::occupancy
