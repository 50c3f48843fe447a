#include "probes/claims.h"
#include "results/rows.h"

namespace fathom::warp_reduce {
namespace {

using I = std::int64_t;
constexpr I GiB = I{1} << 30;

const char* const types[] = {"float", "int32", "double"};
const char* const modes[] = {"latency", "throughput"};

/// The fastest of a recipe's block sizes.
Quantity sum(std::string name, const char* recipe, I bytes, Figure figure = metric_of) {
  return {std::move(name),
          {{"part", "sum"},
           {"recipe", recipe},
           {"type", "float"},
           {"size (B)", bytes},
           {"further elements", I{0}},
           {"offset (elements)", I{0}}},
          Pick::best,
          std::move(figure)};
}

/// The cheaper of two ways of the warp stage.
Quantity stage(std::string name, const char* one, const char* other, const char* type,
               const char* mode) {
  return {std::move(name),
          {{"part", "warp stage"}, {"type", type}, {"mode", mode}},
          Pick::best,
          metric_of,
          "cycles",
          [=](const Entry& e) {
            return matches(e, {{"method", one}}) || matches(e, {{"method", other}});
          }};
}

ClaimRow r1() {
  return {
      "R1",
      "Vectorised thread loop + warp shuffle + block stage + one atomic per block reduces 1 GiB "
      "of float at copy bandwidth",
      "930 against 921 GB/s",
      toyx,
      {{sum("sum", "tile", GiB),
        {"copy", {{"part", "copy"}, {"size (B)", GiB}}},
        sum("cub", "tile", GiB, ratio_to_opponents),
        sum("loop", "loop", GiB),
        sum("scalar", "scalar-loop", GiB)},
       {ratio("share", "sum", "copy")}},
      {{"share", same_speed}},
      "{sum} against a copy's {copy} ({share:.3f} x)[, {cub:.3f} x cub::DeviceReduce::Sum][; as "
      "one wave of looping blocks {loop}][; the same without vectors {scalar}]"};
}

ClaimRow r2() {
  ClaimRow row{"R2",
               "Shuffle beats a shared-memory tree for the warp stage",
               "cycles per warp reduction",
               toyx,
               {},
               {},
               "",
               Rule::those_measured};
  for (const std::string type : types) {
    for (const std::string mode : modes) {
      const std::string name = type + " " + mode, share = name + " share";
      row.reading.quantities.push_back(
          stage("shuffle, " + name, "shuffle-xor", "shuffle-down", type.c_str(), mode.c_str()));
      row.reading.quantities.push_back(
          stage("shared, " + name, "shared-tree", "shared-butterfly", type.c_str(), mode.c_str()));
      row.reading.formulas.push_back(ratio(share, "shuffle, " + name, "shared, " + name));
      row.checks.push_back({share, 0, same_speed});
      row.sentence +=
          "[" + name + ": {shuffle, " + name + ":.1f} against {shared, " + name + ":.1f} cycles; ]";
    }
  }
  for (const std::string mode : modes) {
    row.reading.quantities.push_back(
        stage("instruction's " + mode, "reduce-add", "", "int32", mode.c_str()));
    row.sentence +=
        (mode == "latency" ? "[the integer instruction's latency {" : "[, its throughput {") +
        ("instruction's " + mode + ":.1f}]");
  }
  return row;
}

/// The entries' own check is that the stage adds up everything once each warp's first lane is
/// stored, so that nothing else is to blame.
ClaimRow r3() {
  const auto wrong = [](const char* data, Figure figure = metric_of) {
    return Quantity{data, {{"part", "block stage"}, {"data", data}}, Pick::first, figure};
  };
  Quantity blocks = wrong("random", extra_of("blocks"));
  blocks.name = "blocks";
  return {"R3",
          "The published block stage adds up a block",
          "checked with ones",
          toyx,
          {{wrong("ones"), wrong("random"), blocks}},
          {{"ones", 0, 0}, {"random", 0, 0}},
          "of {blocks:.0f} blocks it adds up {ones:.0f} wrong with ones, and {random:.0f} with "
          "random data, since it stores the first warp's lanes instead of each warp's first: with "
          "that mended, none",
          Rule::cases};
}

Reading answered() {
  Reading reading{{stage("shuffle", "shuffle-xor", "", "float", "latency"),
                   stage("shared", "shared-tree", "shared-butterfly", "float", "latency")}};
  for (const auto& [name, bytes] : {std::pair{"1 GiB", GiB}, {"4 GiB", 4 * GiB}}) {
    for (const auto& [of, figure] : {std::pair<std::string, Figure>{"", metric_of},
                                     {" bound", bound_of},
                                     {" cub", ratio_to_opponents}}) {
      Quantity fastest = sum(name + of, "tile", bytes, figure);
      std::erase_if(fastest.where, [](const auto& axis) { return axis.first == "recipe"; });
      fastest.only = [](const Entry& e) {
        return matches(e, {{"recipe", "tile"}}) || matches(e, {{"recipe", "dynamic"}});
      };
      reading.quantities.push_back(std::move(fastest));
    }
    reading.formulas.push_back(
        ratio(std::string(name) + " share", name, name + std::string(" bound")));
  }
  return reading;
}

std::vector<View> views() {
  using Values = std::vector<AxisValue>;
  const std::pair<std::string, Values> whole{"further elements", {I{0}}},
      aligned{"offset (elements)", {I{0}}}, sums{"part", {"sum"}};
  return {
      {.kind = View::Kind::plot,
       .title = "Bandwidth of a float sum against its size",
       .note =
           "Up to four times the L2 the input may be found there from the launch before; beyond, "
           "the L2 is flushed first. The zeroing of the result and the launch are in the time.",
       .where = {sums,
                 {"type", {"float"}},
                 {"recipe", {"tile", "dynamic"}},
                 {"block", {I{512}}},
                 whole,
                 aligned},
       .x = "size (B)",
       .x_label = "Input (bytes)",
       .y_label = "Bandwidth (B/s)",
       .x_log2 = true,
       .series = {"recipe"}},
      {.title = "Sums of 1 and 4 GiB against cub::DeviceReduce::Sum",
       .note = "A ratio above 1 is faster than CUB, timed alternately in the same run.",
       .where = {sums, {"size (B)", {GiB, 4 * GiB}}, whole, aligned},
       .columns = {"recipe", "type", "block", "size (B)", "metric", "interval", "of_bound",
                   "expected", "ratio:cub::DeviceReduce::Sum, int32 count",
                   "ratio:cub::DeviceReduce::Sum, int64 count", "verdict"}},
      {.title = "Tails and unaligned starts",
       .where = {sums,
                 {"size (B)", {GiB}},
                 {"type", {"float", "int32"}},
                 {"recipe", {"tile", "dynamic", "loop"}}},
       .columns = {"recipe", "type", "further elements", "offset (elements)", "metric",
                   "counter:global_load_sectors", "counter:global_load_requests",
                   "extra:absolute_error", "extra:allowed_error", "verdict"}},
      {.title = "Cycles of one warp's reduction",
       .note = "Latency: one warp, each reduction waits for the last. Throughput: cycles of the SM "
               "per reduction with 64 of them in flight.",
       .where = {{"part", {"warp stage"}}},
       .columns = {"method", "type", "mode", "metric", "interval", "bound", "expected",
                   "counter:shared_load_wavefronts", "counter:shared_store_wavefronts",
                   "verdict"}}};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .claims = {r1(), r2(), r3()},
      .reading = answered(),
      .answer =
          "The best sum reads 1 GiB of float at {1 GiB}[, {1 GiB share:%} of what the memory "
          "bus can carry][ and {1 GiB cub:.3f} x CUB][, 4 GiB at {4 GiB}][, "
          "{4 GiB share:%}][ and {4 GiB cub:.3f} x CUB][; a warp adds up its floats in "
          "{shuffle:.0f} cycles by shuffle, {shared:.0f} through shared memory].",
      .views = views()};
  return evaluate(rows, entries);
}

}  // namespace fathom::warp_reduce
