#include "probes/claims.h"

namespace fathom::copy_bandwidth {
namespace {

constexpr const char* bandwidth = "Bandwidth, read + write";

View plot(const char* title, const char* sweep, const char* x, const char* x_label) {
  return {.kind = View::Kind::plot,
          .title = title,
          .where = {{"sweep", {sweep}}},
          .x = x,
          .x_label = x_label,
          .y_label = bandwidth,
          .x_log2 = true};
}

View table(const char* title, std::vector<AxisValue> sweeps, std::vector<std::string> axes,
           const std::vector<std::string>& figures) {
  View view{.title = title, .where = {{"sweep", std::move(sweeps)}}, .columns = std::move(axes)};
  view.columns.insert(view.columns.end(), figures.begin(), figures.end());
  return view;
}

}  // namespace

std::vector<View> views() {
  std::vector<View> all;
  all.push_back(table("Head to head with the libraries", {"best"}, {"size", "block", "load hint"},
                      {"metric", "interval", "of_bound", "ratio:cudaMemcpyAsync",
                       "ratio:cub::DeviceTransform float", "ratio:cub::DeviceTransform double",
                       "counter:dram_read_bytes", "counter:dram_write_bytes", "verdict"}));
  all.back().note = "A ratio above 1 means faster than the library, launched alternately.";

  View width = plot("Bandwidth by bytes per thread (1 GiB)", "width", "bytes per thread",
                    "Bytes per thread");
  width.series = {"block"};
  width.show_expected = false;
  all.push_back(width);
  View size = plot("Bandwidth by size (16 bytes a thread, launched again and again)", "size",
                   "size", "Bytes copied");
  size.y_log = true;
  size.y_from_zero = false;
  all.push_back(size);
  View stride =
      plot("Bandwidth by stride", "stride", "stride (B)", "Bytes from one lane to the next");
  stride.note = "Useful bytes only; the other side of the copy is contiguous.";
  stride.series = {"strided", "bytes per thread"};
  stride.show_bound = stride.show_expected = false;
  all.push_back(stride);
  View offset = plot("Bandwidth by base offset", "offset", "base offset (B)",
                     "Bytes behind an aligned address");
  offset.x_log2 = false;
  offset.series = {"bytes per thread"};
  offset.show_expected = false;
  all.push_back(offset);

  const std::vector<std::string> counted = {"metric",
                                            "of_bound",
                                            "expected",
                                            "counter:global_load_sectors",
                                            "counter:global_load_requests",
                                            "counter:achieved_occupancy",
                                            "verdict"};
  all.push_back(table("Width, type, block and unrolling (1 GiB)",
                      {"width", "type", "loop", "unroll"},
                      {"type", "vector", "bytes per thread", "unroll", "block"}, counted));
  all.push_back(
      table("Sizes", {"size"}, {"size"}, {"metric", "bound", "of_bound", "expected", "verdict"}));
  all.push_back(
      table("Base offsets", {"offset"}, {"bytes per thread", "base offset (B)"}, counted));
  all.push_back(
      table("Strides", {"stride"}, {"strided", "bytes per thread", "stride (B)"}, counted));
  all.push_back(table("Tails", {"tail"}, {"type", "elements beyond n"}, counted));
  all.push_back(table("Rows along and across the lanes", {"rows"}, {"lanes read"}, counted));
  all.push_back(table("Cache hints (16 bytes a thread, 256 threads a block, 1 GiB)", {"hint"},
                      {"load hint", "store hint"}, {"metric", "interval", "of_bound", "verdict"}));
  all.push_back(table("Asynchronous copies through shared memory (1 GiB)", {"async"},
                      {"instruction", "tile (B)", "block", "load hint"},
                      {"metric", "interval", "of_bound", "expected", "verdict"}));
  all.push_back(table("Mixes of reading and writing (arrays of 1 GiB)", {"mix"},
                      {"mix", "type", "arrays read", "arrays written"},
                      {"metric", "interval", "of_bound", "expected", "verdict"}));
  View stalls =
      table("Where warps wait", {"width"}, {"bytes per thread", "block"},
            {"metric", "counter:stall_share_load", "counter:stall_share_store",
             "counter:stall_long_scoreboard", "counter:stall_lg_throttle", "counter:stall_drain"});
  stalls.note =
      "Shares of all samples of waiting warps at the load and at the store; stalls as warps "
      "waiting per instruction issued.";
  stalls.where.push_back({"bytes per thread", {std::int64_t{2}, std::int64_t{4}}});
  stalls.where.push_back({"block", {std::int64_t{256}, std::int64_t{1024}}});
  all.push_back(stalls);
  return all;
}

}  // namespace fathom::copy_bandwidth
