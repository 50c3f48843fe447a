#include "explain/trace.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "models/shared_memory.h"
#include "results/error.h"

namespace fathom::explain {
namespace {

/// Takes values off a record; throws where it has no more.
class Reader {
 public:
  Reader(const std::filesystem::path& file, std::string_view bytes) : file_(file), rest_(bytes) {}

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) fail("a record ends too early");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view rest() const { return rest_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::document_malformed,
                fmt::format("{} is no recording of `fathom explain`: {}.", file_.string(), what));
  }

 private:
  const std::filesystem::path& file_;
  std::string_view rest_;
};

Pattern pattern_of(Reader& record) {
  const auto pattern = record.take<Pattern>();
  const bool whole = pattern.count != 0 && std::has_single_bit(pattern.bytes) &&
                     pattern.bytes <= 16 && pattern.space <= Space::shared &&
                     pattern.op <= Op::matrix_store;
  if (!whole)
    record.fail(fmt::format("{} accesses of {} bytes (space {}, operation {}), which no GPU has",
                            pattern.count, pattern.bytes, static_cast<unsigned>(pattern.space),
                            static_cast<unsigned>(pattern.op)));
  for (int lane = 0; lane < models::warp_size; ++lane) {
    const std::uint64_t address = pattern.address[lane];
    const bool active = (pattern.mask >> lane & 1) != 0;
    if (active ? address % pattern.bytes != 0 : address != 0)
      record.fail("an address that no access has");
    if (pattern.space == Space::shared && address + pattern.bytes > models::shared_address_limit)
      record.fail("an address beyond shared memory");
  }
  return pattern;
}

Launch launch_of(Reader& record) {
  Launch launch{record.take<LaunchHead>(), {}, {}};
  if (launch.every == 0) record.fail("a launch of which no block is recorded");
  launch.function = record.take(launch.name_bytes);
  if (record.rest().size() != launch.patterns * sizeof(Pattern))
    record.fail("a launch of another length than it says");
  for (std::uint32_t i = 0; i < launch.patterns; ++i)
    launch.kept_patterns.push_back(pattern_of(record));
  return launch;
}

/// "NAME VALUE" on each line that is left.
template <class Value>
std::map<std::string, Value> values_of(std::istream& text, const Reader& record) {
  std::map<std::string, Value> values;
  Value value{};
  for (std::string name; text >> name;) {
    if (!(text >> value) || value < 0) record.fail("a count that is none");
    values[name] += value;
  }
  return values;
}

Counted counted_of(const Reader& record) {
  std::istringstream text{std::string(record.rest())};
  Counted counted;
  std::getline(text, counted.function);
  counted.values = values_of<double>(text, record);
  return counted;
}

Sampled sampled_of(const Reader& record) {
  std::istringstream text{std::string(record.rest())};
  Sampled sampled;
  std::getline(text, sampled.function);
  if (!(text >> sampled.offset >> sampled.line)) record.fail("an instruction without a place");
  text.ignore(1);
  std::getline(text, sampled.file);
  sampled.by_reason = values_of<std::uint64_t>(text, record);
  return sampled;
}

}  // namespace

Trace read_trace(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Error(ExitCode::bad_input, fmt::format("{} cannot be read.", path.string()));
  Reader file(path, bytes);
  if (!bytes.starts_with(trace_magic)) file.fail("it begins otherwise");
  file.take(sizeof trace_magic - 1);
  Trace trace;
  while (!file.rest().empty()) {
    // The program may have ended, or its disk have filled, in the middle of the last record.
    trace.cut_short = file.rest().size() < sizeof(RecordHead);
    if (trace.cut_short) break;
    const auto head = file.take<RecordHead>();
    trace.cut_short = head.bytes > file.rest().size();
    if (trace.cut_short) break;
    Reader record(path, file.take(head.bytes));
    if (head.kind == RecordKind::note) {
      trace.notes.emplace_back(record.rest());
    } else if (head.kind == RecordKind::module) {
      const auto number = record.take<std::uint64_t>();
      trace.modules[number] = {record.rest().begin(), record.rest().end()};
    } else if (head.kind == RecordKind::launch) {
      trace.launches.push_back(launch_of(record));
    } else if (head.kind == RecordKind::total) {
      const auto launches = record.take<std::uint64_t>();
      trace.totals[std::string(record.rest())] = launches;
    } else if (head.kind == RecordKind::gpu) {
      trace.gpu = record.rest();
    } else if (head.kind == RecordKind::counted) {
      trace.counted.push_back(counted_of(record));
    } else if (head.kind == RecordKind::sampled) {
      trace.sampled.push_back(sampled_of(record));
    } else {
      file.fail("a record of an unknown kind");
    }
  }
  return trace;
}

}  // namespace fathom::explain
