#include "explain/trace.h"

#include <fmt/format.h>

#include <algorithm>
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

/// The machine code of a process, by the module's number.
using Modules = std::map<std::uint64_t, std::shared_ptr<const std::vector<char>>>;

void add_launch(Reader& record, const Modules& modules, Trace& trace) {
  Launch launch{record.take<LaunchHead>(), nullptr, {}, {}};
  if (launch.every == 0) record.fail("a launch of which no block is recorded");
  if (const auto module = modules.find(launch.module); module != modules.end())
    launch.code = module->second;
  launch.function = record.take(launch.name_bytes);
  if (record.rest().size() != launch.patterns * sizeof(Pattern))
    record.fail("a launch of another length than it says");
  for (std::uint32_t i = 0; i < launch.patterns; ++i)
    launch.kept_patterns.push_back(pattern_of(record));
  trace.launches.push_back(std::move(launch));
}

/// "NAME VALUE" on each line that is left.
template <class Value>
void add_values(std::istream& text, const Reader& record, std::map<std::string, Value>& values) {
  Value value{};
  for (std::string name; text >> name;) {
    if (!(text >> value) || value < 0) record.fail("a count that is none");
    values[name] += value;
  }
}

void add_counted(const Reader& record, Trace& trace) {
  std::istringstream text{std::string(record.rest())};
  std::string function;
  std::getline(text, function);
  Measured& measured = trace.measured[function];
  ++measured.launches;
  add_values(text, record, measured.counts);
}

void add_sampled(const Reader& record, Trace& trace) {
  std::istringstream text{std::string(record.rest())};
  std::string function, file;
  std::uint64_t offset = 0;
  unsigned line = 0;
  std::getline(text, function);
  if (!(text >> offset >> line)) record.fail("an instruction without a place");
  text.ignore(1);
  std::getline(text, file);
  std::map<std::string, std::uint64_t> reasons;
  add_values(text, record, reasons);
  Waiting& waiting = trace.waits[function][{file, line, line != 0 ? 0 : offset}];
  if (line != 0) waiting.source = SourceLine{file, line};
  waiting.offset = offset;
  for (const auto& [reason, samples] : reasons) {
    if (reason == "selected" || samples == 0) continue;  // an issue, no waiting
    waiting.by_reason[reason] += samples;
    waiting.samples += samples;
  }
}

}  // namespace

void read_trace(const std::filesystem::path& path, Trace& trace) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Error(ExitCode::bad_input, fmt::format("{} cannot be read.", path.string()));
  Reader file(path, bytes);
  if (!bytes.starts_with(trace_magic)) file.fail("it begins otherwise");
  file.take(sizeof trace_magic - 1);
  ++trace.processes;
  Modules modules;
  while (!file.rest().empty()) {
    // The program may have ended, or its disk have filled, in the middle of the last record.
    RecordHead head{};
    const bool headed = file.rest().size() >= sizeof head;
    if (headed) head = file.take<RecordHead>();
    if (!headed || head.bytes > file.rest().size()) {
      ++trace.cut_short;
      break;
    }
    Reader record(path, file.take(head.bytes));
    if (head.kind == RecordKind::note) {
      const std::string note(record.rest());
      if (std::ranges::count(trace.notes, note) == 0) trace.notes.push_back(note);
    } else if (head.kind == RecordKind::module) {
      const auto number = record.take<std::uint64_t>();
      modules[number] =
          std::make_shared<std::vector<char>>(record.rest().begin(), record.rest().end());
    } else if (head.kind == RecordKind::launch) {
      add_launch(record, modules, trace);
    } else if (head.kind == RecordKind::total) {
      const auto launches = record.take<std::uint64_t>();
      trace.totals[std::string(record.rest())] += launches;
    } else if (head.kind == RecordKind::gpu) {
      trace.gpus.emplace_back(record.rest());
    } else if (head.kind == RecordKind::counted) {
      add_counted(record, trace);
    } else if (head.kind == RecordKind::sampled) {
      add_sampled(record, trace);
    } else {
      file.fail("a record of an unknown kind");
    }
  }
}

}  // namespace fathom::explain
