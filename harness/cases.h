#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/probe.h"
#include "models/bandwidth.h"

// What the cases of several probes are made with.

namespace fathom {

constexpr Suite quick_if(bool quick) { return quick ? Suite::quick : Suite::standard; }

/// Sizes from `low` to `high`, `per_octave` to a doubling, rounded down to a multiple of `unit`.
std::set<std::uint64_t> geometric(std::uint64_t low, std::uint64_t high, int per_octave,
                                  std::uint64_t unit = 1);

/// "48KiB", as names of cases have sizes.
std::string size_name(std::uint64_t bytes);

/// Adds axes to a case, and to its name as "/key:value", without units. Whole numbers whose key
/// ends with "(B)" are named as sizes, unless `sizes` is false. The name then has no space and no
/// comma.
void add_axes(Case& c, const Axes& axes, bool sizes = true);

/// A workload whose launch leaves its result in `outputs`, where `verify` looks at it.
Workload workload_of(Context& context, std::vector<Buffer> outputs, std::function<void()> launch,
                     std::function<std::optional<std::string>()> verify);
/// The same of a launch that copies all of `source`.
Workload copying(Context& context, const Buffer& source, const Buffer& copy,
                 std::function<void()> launch);
/// The same of `bytes` random bytes from buffer to buffer.
Workload copying(Context& context, std::size_t bytes,
                 const std::function<void(uint4* source, uint4* copy)>& launch);

/// What the streaming model expects of a kernel on this GPU.
models::StreamExpectation expected_stream(const DeviceFacts& device,
                                          const models::StreamKernel& kernel);

/// Nothing if `check` adds nothing to *wrong, else "<count> <what>".
std::optional<std::string> none_wrong(Context& context,
                                      const std::function<void(unsigned long long* wrong)>& check,
                                      const std::string& what);

/// Device memory that holds these bytes when this returns.
Buffer upload(Context& context, const std::string& role, std::span<const std::byte> bytes);

/// "the sum of block 3 is 1 instead of 2".
std::string wrong_element(const std::string& what, std::size_t index, double found, double wanted);

/// Nothing if each element of the output is `wanted` of its number, NaN never being so; else the
/// first that is not, in the sentence above.
template <class T, class Wanted>
std::optional<std::string> check_elements(const Buffer& out, cudaStream_t stream,
                                          const std::string& what, const Wanted& wanted) {
  const std::vector<T> found = copy_to_host<T>(out, stream);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const T want = wanted(i); !(found[i] == want))
      return wrong_element(what, i, found[i], want);
  return std::nullopt;
}

/// Dynamic shared memory that leaves an SM room for exactly so many blocks, in whole KiB.
int shared_for_blocks(const DeviceFacts& device, int blocks);

/// Nothing if the first `bytes` bytes are the same, else how many are not.
std::optional<std::string> check_copied(const std::byte* source, const std::byte* copy,
                                        std::size_t bytes, cudaStream_t stream);

/// Clocks of each block, from its first warp's start to its last warp's end. Each warp has
/// `per_warp` values, the first two of which are its start and its end.
std::vector<double> clocks_of_blocks(std::span<const long long> clocks, int warps,
                                     int per_warp = 2);

}  // namespace fathom
