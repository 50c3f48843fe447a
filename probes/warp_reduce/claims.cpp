#include "probes/claims.h"
#include "results/findings.h"

namespace fathom::warp_reduce {
namespace {

using I = std::int64_t;
constexpr I GiB = I{1} << 30;

/// The fastest of some recipes' block sizes.
Quantity sum(std::string name, std::vector<const char*> recipes, I bytes) {
  return {std::move(name),
          {{"part", "sum"},
           {"type", "float"},
           {"size (B)", bytes},
           {"further elements", 0},
           {"offset (elements)", 0}},
          Pick::best,
          metric_of,
          "",
          [=](const Entry& e) { return is_any(e, "recipe", recipes); }};
}

/// The cheapest of some ways of the warp stage.
Quantity stage(std::string name, std::vector<const char*> methods, const std::string& type,
               const std::string& mode) {
  return {std::move(name),
          {{"part", "warp stage"}, {"type", type}, {"mode", mode}},
          Pick::best,
          metric_of,
          "",
          [=](const Entry& e) { return is_any(e, "method", methods); }};
}
const std::vector<const char*> through_shared{"shared-tree", "shared-butterfly"};

ClaimRow r1() {
  return {
      "R1",
      toyx,
      "Vectorised thread loop + warp shuffle + block stage + one atomic per block reduces 1 GiB "
      "of float at copy bandwidth",
      "930 against 921 GB/s",
      {sum("sum", {"tile"}, GiB),
       {"copy", {{"part", "copy"}, {"size (B)", GiB}}},
       sum("loop", {"loop"}, GiB),
       sum("scalar", {"scalar-loop"}, GiB)},
      {{"sum/copy", same_speed}},
      "{sum} against a copy's {copy} ({sum/copy:.3f} x)[, {sum ratio:.3f} x "
      "cub::DeviceReduce::Sum][; as one wave of looping blocks {loop}][; the same without vectors "
      "{scalar}]"};
}

ClaimRow r2() {
  ClaimRow row{"R2", toyx, "Shuffle beats a shared-memory tree for the warp stage",
               "cycles per warp reduction"};
  row.rule = Rule::those_measured;
  for (const std::string type : {"float", "int32", "double"}) {
    for (const std::string mode : {"latency", "throughput"}) {
      const std::string name = type + " " + mode;
      row.reading.push_back(stage("shuffle, " + name, {"shuffle-xor", "shuffle-down"}, type, mode));
      row.reading.push_back(stage("shared, " + name, through_shared, type, mode));
      row.checks.push_back({"shuffle, " + name + "/shared, " + name, 0, same_speed});
      row.sentence +=
          "[" + name + ": {shuffle, " + name + ":.1f} against {shared, " + name + ":.1f} cycles; ]";
    }
  }
  for (const std::string mode : {"latency", "throughput"})
    row.reading.push_back(stage("instruction's " + mode, {"reduce-add"}, "int32", mode));
  row.sentence +=
      "[the integer instruction's latency {instruction's latency:.1f}][, its "
      "throughput {instruction's throughput:.1f}]";
  return row;
}

/// The entries' own check is that the stage adds up everything once each warp's first lane is
/// stored, so that nothing else is to blame.
ClaimRow r3() {
  const auto wrong = [](const char* data) {
    return Quantity{data, {{"part", "block stage"}, {"data", data}}};
  };
  return {
      "R3",
      toyx,
      "The published block stage adds up a block",
      "checked with ones",
      {wrong("ones"), wrong("random")},
      {{"ones", 0, 0}, {"random", 0, 0}},
      "of {random blocks:.0f} blocks it adds up {ones:.0f} wrong with ones, and {random:.0f} with "
      "random data, since it stores the first warp's lanes instead of each warp's first: with "
      "that mended, none",
      Rule::cases};
}

std::vector<View> views() {
  using Values = std::vector<AxisValue>;
  const std::pair<std::string, Values> whole{"further elements", {0}},
      aligned{"offset (elements)", {0}}, sums{"part", {"sum"}};
  return {
      plot("Bandwidth of a float sum against its size",
           {sums,
            {"type", {"float"}},
            {"recipe", {"tile", "dynamic"}},
            {"block", {512}},
            whole,
            aligned},
           "size (B)", "Bandwidth (B/s)", {"recipe"},
           {.x_label = "Input (bytes)", .x_log2 = true, .bound = true, .expected = true},
           "Up to four times the L2 the input may be found there from the launch before; beyond, "
           "the L2 is flushed first. The zeroing of the result and the launch are in the time."),
      table("Sums of 1 and 4 GiB against cub::DeviceReduce::Sum",
            {sums, {"size (B)", {GiB, 4 * GiB}}, whole, aligned},
            {"recipe", "type", "block", "size (B)", "metric", "interval", "of_bound", "expected",
             "ratio:cub::DeviceReduce::Sum, int32 count",
             "ratio:cub::DeviceReduce::Sum, int64 count", "verdict"},
            "A ratio above 1 is faster than CUB, timed alternately in the same run."),
      table("Tails and unaligned starts",
            {sums,
             {"size (B)", {GiB}},
             {"type", {"float", "int32"}},
             {"recipe", {"tile", "dynamic", "loop"}}},
            {"recipe", "type", "further elements", "offset (elements)", "metric",
             "counter:global_load_sectors", "counter:global_load_requests", "extra:absolute_error",
             "extra:allowed_error", "verdict"}),
      table("Cycles of one warp's reduction", {{"part", {"warp stage"}}},
            {"method", "type", "mode", "metric", "interval", "bound", "expected",
             "counter:shared_load_wavefronts", "counter:shared_store_wavefronts", "verdict"},
            "Latency: one warp, each reduction waits for the last. Throughput: cycles of the SM "
            "per reduction with 64 of them in flight.")};
}

}  // namespace

Findings conclude(std::span<const Entry> entries) {
  static const Conclusions rows{
      .claims = {r1(), r2(), r3()},
      .reading = {stage("shuffle", {"shuffle-xor"}, "float", "latency"),
                  stage("shared", through_shared, "float", "latency"),
                  sum("1 GiB", {"tile", "dynamic"}, GiB),
                  sum("4 GiB", {"tile", "dynamic"}, 4 * GiB)},
      .answer =
          "The best sum reads 1 GiB of float at {1 GiB}[, {1 GiB/1 GiB bound:%} of what the memory "
          "bus can carry][ and {1 GiB ratio:.3f} x CUB][, 4 GiB at {4 GiB}][, "
          "{4 GiB/4 GiB bound:%}][ and {4 GiB ratio:.3f} x CUB][; a warp adds up its floats in "
          "{shuffle:.0f} cycles by shuffle, {shared:.0f} through shared memory].",
      .views = views()};
  return evaluate(rows, entries);
}

}  // namespace fathom::warp_reduce
