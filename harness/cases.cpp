#include "harness/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cuda_check.h"

namespace fathom {

std::string size_name(std::uint64_t bytes) {
  for (const auto& [shift, name] : {std::pair{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}) {
    const std::uint64_t unit = std::uint64_t{1} << shift;
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, name);
  }
  return fmt::format("{}B", bytes);
}

std::set<std::uint64_t> geometric(std::uint64_t low, std::uint64_t high, int per_octave,
                                  std::uint64_t unit) {
  std::set<std::uint64_t> sizes;
  for (int k = 0;; ++k) {
    const double size = low * std::exp2(static_cast<double>(k) / per_octave);
    if (size > high * 1.0000001) return sizes;
    const double slack = unit > 1 ? 1e-6 * size : 0.5;  // a multiple may come out a little smaller
    sizes.insert(static_cast<std::uint64_t>(size + slack) / unit * unit);
  }
}

void add_axes(Case& c, const Axes& axes, bool sizes) {
  for (const auto& [name, value] : axes) {
    c.axes.emplace_back(name, value);
    const std::string key = name.substr(0, name.find(" ("));
    const auto* number = std::get_if<std::int64_t>(&value);
    c.name += number == nullptr ? fmt::format("/{}:{}", key, std::get<std::string>(value))
              : sizes && name.ends_with("(B)")
                  ? fmt::format("/{}:{}", key, size_name(static_cast<std::uint64_t>(*number)))
                  : fmt::format("/{}:{}", key, *number);
  }
  std::erase(c.name, ',');
  std::ranges::replace(c.name, ' ', '-');
}

std::string wrong_element(const std::string& what, std::size_t index, double found, double wanted) {
  return fmt::format("{} {} is {} instead of {}", what, index, found, wanted);
}

int shared_for_blocks(const DeviceFacts& device, int blocks) {
  const std::size_t usable =
      std::min(device.shared_bytes_per_sm / blocks - device.reserved_shared_bytes_per_block,
               device.shared_bytes_per_block_max);
  return static_cast<int>(usable / 1024 * 1024);
}

Workload workload_of(Context& context, std::vector<Buffer> outputs, std::function<void()> launch,
                     std::function<std::optional<std::string>()> verify) {
  Workload workload;
  workload.launch = std::move(launch);
  workload.poison = [&context, outputs = std::move(outputs)] {
    for (const Buffer& output : outputs) context.buffers().poison(output);
  };
  workload.verify = std::move(verify);
  return workload;
}

Workload copying(Context& context, const Buffer& source, const Buffer& copy,
                 std::function<void()> launch) {
  return workload_of(
      context, {copy}, std::move(launch),
      [=, stream = context.stream()] {
        return check_copied(source.data, copy.data, copy.bytes, stream);
      });
}

Workload copying(Context& context, std::size_t bytes,
                 const std::function<void(uint4* source, uint4* copy)>& launch) {
  const Buffer source = context.buffers().input("src", bytes);
  const Buffer copy = context.buffers().output("dst", bytes);
  return copying(context, source, copy, [=] { launch(source.as<uint4>(), copy.as<uint4>()); });
}

models::StreamExpectation expected_stream(const DeviceFacts& device,
                                          const models::StreamKernel& kernel) {
  return models::expected_stream(
      {bound(device, "dram_bandwidth").value, device.sms, device.sm_clock_max_hz, device.l2_bytes},
      kernel);
}

std::optional<std::string> none_wrong(Context& context,
                                      const std::function<void(unsigned long long* wrong)>& check,
                                      const std::string& what) {
  const Buffer count = context.buffers().output("count of wrong", sizeof(unsigned long long));
  FATHOM_CUDA(cudaMemsetAsync(count.data, 0, count.bytes, context.stream()));
  check(count.as<unsigned long long>());
  const auto wrong = copy_to_host<unsigned long long>(count, context.stream()).front();
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} {}", wrong, what);
}

Buffer upload(Context& context, const std::string& role, std::span<const std::byte> bytes) {
  const Buffer buffer = context.buffers().output(role, bytes.size());
  FATHOM_CUDA(cudaMemcpyAsync(buffer.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                              context.stream()));
  FATHOM_CUDA(cudaStreamSynchronize(context.stream()));
  return buffer;
}

std::optional<std::string> check_copied(const std::byte* source, const std::byte* copy,
                                        std::size_t bytes, cudaStream_t stream) {
  const std::uint64_t wrong = count_different_bytes(source, copy, bytes, stream);
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} bytes were not copied", wrong, bytes);
}

std::vector<double> clocks_of_blocks(std::span<const long long> clocks, int warps, int per_warp) {
  std::vector<double> result;
  const auto per_block = static_cast<std::size_t>(warps) * per_warp;
  for (std::size_t block = 0; block < clocks.size(); block += per_block) {
    long long first = clocks[block], last = clocks[block + 1];
    for (std::size_t warp = block; warp < block + per_block; warp += per_warp) {
      first = std::min(first, clocks[warp]);
      last = std::max(last, clocks[warp + 1]);
    }
    result.push_back(static_cast<double>(last - first));
  }
  return result;
}

}  // namespace fathom
