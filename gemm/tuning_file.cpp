#include "gemm/tuning_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "results/atomic_file.h"
#include "results/error.h"
#include "results/file_descriptor.h"
#include "results/strict_json.h"

namespace fathom::gemm {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int format_version = 1;
constexpr std::size_t largest_file = std::size_t{16} << 20;

/// Members with checked types; every fault is one sentence that names the file and the place.
class Reader {
 public:
  Reader(const Json& json, std::string origin, std::string place)
      : json_(json), origin_(std::move(origin)), place_(std::move(place)) {
    if (!json.is_object()) refuse("", "an object");
  }

  std::string text(const char* key) const {
    const Json& value = member(key, "a text");
    if (!value.is_string()) refuse(key, "a text");
    return value.get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most) const {
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    const Json& value = member(key, expected);
    // Compared as the type that it has: a conversion could wrap around.
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                          : value.is_number_integer() && value.get<std::int64_t>() <= most;
    if (!fits || value.get<std::int64_t>() < least) refuse(key, expected);
    return value.get<std::int64_t>();
  }
  double seconds(const char* key) const {
    const Json& value = member(key, "a positive number of seconds");
    const double number = value.is_number() ? value.get<double>() : 0;
    if (!(number > 0) || !std::isfinite(number)) refuse(key, "a positive number of seconds");
    return number;
  }
  const Json& list(const char* key) const {
    const Json& value = member(key, "a list");
    if (!value.is_array()) refuse(key, "a list");
    return value;
  }

 private:
  const Json& member(const char* key, const std::string& expected) const {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(key, expected);
    return *found;
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const {
    throw Error(ExitCode::document_malformed,
                fmt::format("{}: {}{} should be {}: it is no file of tuned choices, or a damaged one.", origin_,
                            place_, key.empty() && !place_.empty() ? "" : "/" + key, expected));
  }

  const Json& json_;
  std::string origin_, place_;
};

TunedChoice choice_from(const Json& json, const std::string& origin, std::size_t index) {
  const Reader reader(json, origin, fmt::format("/choices/{}", index));
  TunedChoice choice;
  choice.rung = reader.text("rung");
  choice.product = reader.text("product");
  choice.variant = reader.text("variant");
  choice.default_variant = reader.text("default_variant");
  choice.seconds = reader.seconds("seconds");
  choice.default_seconds = reader.seconds("default_seconds");
  choice.tried = static_cast<int>(reader.whole("tried", 1, 1'000'000));
  choice.date = reader.text("date");
  choice.fathom = reader.text("fathom");
  return choice;
}

std::string text_of(const TuningFile& file) {
  nlohmann::ordered_json choices = nlohmann::ordered_json::array();
  for (const TunedChoice& c : file.choices) {
    choices.push_back({{"rung", c.rung},
                       {"product", c.product},
                       {"variant", c.variant},
                       {"default_variant", c.default_variant},
                       {"seconds", c.seconds},
                       {"default_seconds", c.default_seconds},
                       {"tried", c.tried},
                       {"date", c.date},
                       {"fathom", c.fathom}});
  }
  const nlohmann::ordered_json json{{"fathom_tuning", format_version},
                                    {"gpu", file.fingerprint.gpu},
                                    {"driver", file.fingerprint.driver},
                                    {"sms", file.fingerprint.sms},
                                    {"choices", std::move(choices)}};
  return json.dump(2) + "\n";
}

/// One writer at a time: what two of them read and then replace would lose one's choices. Held until it
/// goes out of scope. A folder that cannot be locked (a network's file system) does not stop the writing.
FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) {
    [[maybe_unused]] const int locked = flock(descriptor.get(), LOCK_EX);
  }
  return descriptor;
}

fs::path made_folder_of(const fs::path& path) {
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(
        ExitCode::output_unwritable,
        fmt::format("The folder {} for tuned choices cannot be made ({}): name a file that can be "
                    "written with --tuning.",
                    folder.string(), error.message()));
  }
  return folder;
}

/// What writes a file advises for another option.
template <class Write>
void with_own_advice(const fs::path& path, const Write& write) {
  try {
    write();
  } catch (const Error& failed) {
    throw Error(failed.code(),
                fmt::format("Tuned choices cannot be written to {}: make room there, or name a "
                            "file that can be written with --tuning.",
                            path.string()));
  }
}

/// What the file has that still counts.
std::vector<TunedChoice> choices_to_keep(const fs::path& path,
                                         const TuningFingerprint& fingerprint) {
  try {
    TuningFile file = read_tuning_file(path);
    if (file.fingerprint == fingerprint) return std::move(file.choices);
  } catch (const Error&) {
    // There is none, or whoever read it before tuning has said what is wrong with it.
  }
  return {};
}

}  // namespace

std::string describe(const TuningFingerprint& f) {
  return fmt::format("{}, driver {}, {} SMs", f.gpu, f.driver, f.sms);
}

TuningFile read_tuning_file(const fs::path& path) {
  const std::string origin = path.string();
  const Json json =
      parse_strict_json(read_file_up_to(path, largest_file), origin, "a file of tuned choices");
  const Reader reader(json, origin, "");
  reader.whole("fathom_tuning", format_version, format_version);
  TuningFile file;
  file.fingerprint = {reader.text("gpu"), reader.text("driver"), reader.whole("sms", 1, 1'000'000)};
  const Json& choices = reader.list("choices");
  for (std::size_t i = 0; i < choices.size(); ++i) {
    file.choices.push_back(choice_from(choices[i], origin, i));
  }
  return file;
}

void write_choices(const fs::path& path, const TuningFingerprint& fingerprint,
                   std::span<const TunedChoice> choices) {
  const fs::path folder = made_folder_of(path);
  const FileDescriptor lock = lock_folder(folder);
  TuningFile file{fingerprint, choices_to_keep(path, fingerprint)};
  for (const TunedChoice& choice : choices) {
    std::erase_if(file.choices, [&](const TunedChoice& old) {
      return old.rung == choice.rung && old.product == choice.product;
    });
    file.choices.push_back(choice);
  }
  const auto key = [](const TunedChoice& c) { return std::pair(c.rung, c.product); };
  std::ranges::sort(file.choices, {}, key);
  with_own_advice(path, [&] { write_file_atomically(path, text_of(file)); });
}

void require_writable_tuning_file(const fs::path& path) {
  made_folder_of(path);
  with_own_advice(path, [&] { require_writable_atomically(path); });
}

fs::path default_tuning_file(const std::string& gpu) {
  std::string name;
  for (const char c : gpu) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      name += c;
    } else if (c >= 'A' && c <= 'Z') {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  const fs::path below = fs::path("fathom") / "tuning" / ((name.empty() ? "gpu" : name) + ".json");
  // The specification: a path there that is not absolute is to be ignored.
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && fs::path(state).is_absolute()) return fs::path(state) / below;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".local/state" / below;
  return {};
}

}  // namespace fathom::gemm
