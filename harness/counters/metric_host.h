#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct CUpti_Profiler_Host_Object;

namespace fathom {

/// The half of CUPTI that needs no GPU: it knows each chip's metrics, schedules them into passes
/// and evaluates what the passes brought. All calls throw CounterError.
class MetricHost {
 public:
  /// `availability` is the device's counter availability image; empty without a GPU, for a chip
  /// that this CUPTI knew when it was released.
  explicit MetricHost(const std::string& chip, std::vector<std::uint8_t> availability = {})
      : chip_(chip), availability_(std::move(availability)) {}

  /// Schedules metrics, each "unit__quantity.rollup", in place of those scheduled before. Returns
  /// those that the chip does not have; the others are scheduled. All in one call, since CUPTI
  /// gives every call passes of its own: one by one, 57 metrics of GH100 take 58 passes instead
  /// of 10.
  std::vector<std::string> schedule(const std::vector<std::string>& metrics);

  /// Metrics scheduled, in the order given.
  const std::vector<std::string>& metrics() const { return metrics_; }

  /// The schedule, as the range profiler takes it. Not for an empty list.
  std::vector<std::uint8_t> config_image() const;
  /// How many times the work must run for such a schedule.
  static std::size_t passes(std::span<const std::uint8_t> config_image);

  /// Values by metric in the range at `position` of a decoded counter data image. A metric that
  /// divides by a zero count gives NaN or infinity.
  std::map<std::string, double> evaluate(std::span<const std::uint8_t> counter_data,
                                         std::size_t position) const;

 private:
  struct Deleter {
    void operator()(CUpti_Profiler_Host_Object* object) const;
  };
  int add(const std::vector<std::string>& metrics);

  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::unique_ptr<CUpti_Profiler_Host_Object, Deleter> object_;
  std::vector<std::string> metrics_;
};

/// C strings of `strings`, valid as long as those are.
std::vector<const char*> c_strings(const std::vector<std::string>& strings);

}  // namespace fathom
