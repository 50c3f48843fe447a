#include "explain/trace.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "explain/explain.h"
#include "models/shared_memory.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom::explain {
namespace {

/// Takes values off a record; throws where it has no more.
struct Reader {
  const std::string& file;
  std::string_view rest;

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest.size()) refuse("a record ends too early");
    const std::string_view taken = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return taken;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  T json() const {
    T value;
    const ParsedJson parsed(rest, file, "a recording of `fathom explain`");
    read_fields(parsed.root(), {&file}, {}, value);
    return value;
  }
  [[noreturn]] void refuse(const char* what) const {
    fail(ExitCode::document_malformed, "{} is no recording of `fathom explain`: {}.", file, what);
  }
};

Pattern pattern_of(Reader& record) {
  const auto pattern = record.take<Pattern>();
  bool possible = pattern.count != 0 && std::has_single_bit(pattern.bytes) && pattern.bytes <= 16 &&
                  pattern.space <= Space::shared && pattern.op <= Op::matrix_store;
  const std::uint64_t end = pattern.space == Space::shared
                                ? models::shared_address_limit
                                : std::numeric_limits<std::uint64_t>::max();
  for (int lane = 0; possible && lane < models::warp_size; ++lane) {
    const std::uint64_t address = pattern.address[lane];
    const bool active = (pattern.mask >> lane & 1) != 0;
    possible =
        address <= end - pattern.bytes && (active ? address % pattern.bytes == 0 : address == 0);
  }
  if (!possible) record.refuse("an access that no GPU has");
  return pattern;
}

/// The machine code of a process, by the module's number.
using Modules = std::map<std::uint64_t, std::shared_ptr<const std::vector<char>>>;

Launch launch_of(Reader& record, Modules& modules) {
  Launch launch{record.take<LaunchHead>(), nullptr, {}, {}};
  if (launch.every == 0) record.refuse("a launch of which no block is recorded");
  launch.code = modules[launch.module];
  for (std::uint64_t i = 0; i < launch.patterns; ++i)
    launch.kept_patterns.push_back(pattern_of(record));
  launch.function = record.rest;
  const auto is_text = [](unsigned char c) { return c >= ' '; };
  if (launch.function.empty() || !std::ranges::all_of(launch.function, is_text))
    record.refuse("a launch of another length than it says");
  return launch;
}

void add_record(RecordKind kind, Reader record, Modules& modules, Trace& trace) {
  switch (kind) {
    case RecordKind::note:
      if (std::ranges::count(trace.notes, record.rest) == 0) trace.notes.emplace_back(record.rest);
      return;
    case RecordKind::module: {
      const auto number = record.take<std::uint64_t>();
      modules[number] = std::make_shared<std::vector<char>>(record.rest.begin(), record.rest.end());
      return;
    }
    case RecordKind::launch:
      return trace.launches.push_back(launch_of(record, modules));
    case RecordKind::total: {
      const auto launches = record.take<std::uint64_t>();
      trace.totals[std::string(record.rest)] += launches;
      return;
    }
    case RecordKind::gpu:
      trace.gpus.emplace_back(record.rest);
      return;
    case RecordKind::counted:
      for (const auto& [function, counts] : record.json<std::map<std::string, Counts>>()) {
        for (const auto& [counter, count] : counts)
          if (count < 0) record.refuse("a count that is none");
        trace.counted[function].push_back(counts);
      }
      return;
    case RecordKind::sampled:
      return trace.samples.push_back(record.json<PcSample>());
  }
  record.refuse("a record of an unknown kind");
}

}  // namespace

void read_trace(const std::filesystem::path& path, Trace& trace) {
  const std::string bytes = read_file_up_to(path, std::numeric_limits<std::size_t>::max());
  const std::string name = path.string();
  Reader file{name, bytes};
  if (!bytes.starts_with(trace_magic)) file.refuse("it begins otherwise");
  file.take(sizeof trace_magic - 1);
  ++trace.processes;
  Modules modules;
  while (!file.rest.empty()) {
    // The program may have ended, or its disk have filled, in the middle of the last record.
    RecordHead head{};
    const bool headed = file.rest.size() >= sizeof head;
    if (headed) head = file.take<RecordHead>();
    if (!headed || head.bytes > file.rest.size()) {
      trace.cut_short = true;
      return;
    }
    add_record(head.kind, {name, file.take(head.bytes)}, modules, trace);
  }
}

}  // namespace fathom::explain
