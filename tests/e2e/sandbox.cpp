#include "sandbox.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "results/document_io.h"

namespace fathom {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

Sandbox::Sandbox(std::initializer_list<std::string> probes, int gpus) {
  const fs::path programs = folder() / "bin";
  fs::create_directories(programs);
  fs::create_directories(folder() / "pci");
  fs::create_symlink(FATHOM_FAKE_PROGRAM, programs / "fathom-device");
  for (const auto& probe : probes)
    fs::create_symlink(FATHOM_FAKE_PROGRAM, programs / ("probe_" + probe));
  set("FATHOM_BIN_DIR", programs);
  set("FATHOM_LOCK_DIR", folder());
  set("FATHOM_PCI_DEVICES", folder() / "pci");
  if (gpus > 0) set("FAKE_GPUS", std::to_string(gpus));
}

Sandbox::~Sandbox() {
  std::reverse(previous_.begin(), previous_.end());
  for (const auto& [name, value] : previous_) {
    if (value)
      setenv(name.c_str(), value->c_str(), 1);
    else
      unsetenv(name.c_str());
  }
}

void Sandbox::set(const std::string& name, const std::string& value) {
  const char* before = std::getenv(name.c_str());
  previous_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
  setenv(name.c_str(), value.c_str(), 1);
}

CapturedRun Sandbox::fathom(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder().string(),
                                 FATHOM_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_and_capture("/bin/sh", words, 60s);
}

void Sandbox::add_pci_device(const std::string& slot, const std::string& of_class) const {
  const fs::path device = folder() / "pci" / slot;
  fs::create_directories(device);
  write_text(device / "vendor", "0x10de\n");
  write_text(device / "class", of_class + "\n");
}

CapturedRun Sandbox::shell(const std::string& command) const {
  return run_and_capture(
      "/bin/sh", {"-c", "cd \"$1\"; F=$2; " + command, "sh", folder().string(), FATHOM_PROGRAM},
      60s);
}

CapturedRun Sandbox::run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"run", "--out", out().string()});
  return fathom(arguments);
}

Document Sandbox::result() const { return read_document(out() / "result.json"); }

std::string Sandbox::log_of(const std::string& probe) const {
  return read_text(out() / "logs" / (probe + ".log"));
}

std::string Sandbox::report() const { return read_text(out() / "report" / "README.md"); }

Background::Background(const std::string& program, const std::vector<std::string>& arguments,
                       int errors)
    : output_(memfd_create("output", MFD_CLOEXEC)),
      child_({program, arguments, output_.get(), errors < 0 ? output_.get() : errors, {}}) {}

int Background::wait() {
  const auto ended = supervise(child_, inbox_, {.limit = 90s, .line = {}});
  return ended.end.signal != 0 ? -ended.end.signal : ended.end.status;
}

std::string Background::output() const {
  std::string text(1 << 16, '\0');
  const ssize_t n = pread(output_.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> all;
  for (std::string word; text >> word;) all.push_back(word == "''" ? "" : word);
  return all;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // of a process in /proc that ends meanwhile: what there is, no exception
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string benchmark_file(const std::string& time, const std::string& date,
                           const std::string& name) {
  return "{\"context\": {\"date\": \"" + date +
         "\", \"host_name\": \"h\"}, \"benchmarks\": [{\"name\": \"" + name +
         "\", \"real_time\": " + time + ", \"time_unit\": \"ns\"}]}\n";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool wait_for_text(const fs::path& path, const std::string& text) {
  for (int i = 0; i < 1000; ++i) {
    if (read_text(path).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

long long number_in(const fs::path& log, const std::string& word) {
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(word + " ")) return std::atoll(line.c_str() + word.size());
  return -1;
}

std::vector<int> pids_in(const fs::path& log) {
  std::ifstream file(log);
  std::vector<int> pids;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("pids ")) continue;
    std::istringstream numbers(line.substr(5));
    for (int pid; numbers >> pid;) pids.push_back(pid);
  }
  return pids;
}

bool alive(int pid) {
  waitpid(pid, nullptr, WNOHANG);  // an orphan's zombie comes to this process, and is not alive
  return kill(pid, 0) == 0;
}

int code(const CapturedRun& run) {
  const ProcessEnd& end = run.end.end;
  return end.signal != 0 ? -end.signal : end.status;
}

Ended expect(int expected, CapturedRun run) {
  INFO(run.output << run.errors);
  REQUIRE(code(run) == expected);
  return Ended(std::move(run));
}
Ended expect(ExitCode expected, CapturedRun run) {
  return expect(to_int(expected), std::move(run));
}

void check_part(const std::string& text, const std::string& part, bool wanted) {
  if (wanted)
    CHECK_THAT(text, contains(part));
  else
    CHECK_THAT(text, !contains(part));
}

double children_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

ProbeSummary summary_of(const Document& document, const std::string& probe) {
  const auto found = std::find_if(document.probes.begin(), document.probes.end(),
                                  [&](const auto& summary) { return summary.name == probe; });
  REQUIRE(found != document.probes.end());
  return *found;
}

void has_entries(const Document& document,
                 std::initializer_list<std::pair<std::string, std::size_t>> counts) {
  for (const auto& [probe, count] : counts) {
    CAPTURE(probe);
    CHECK(entries_of(document, probe) == count);
  }
}

std::size_t entries_of(const Document& document, const std::string& probe) {
  return static_cast<std::size_t>(
      std::count_if(document.entries.begin(), document.entries.end(),
                    [&](const auto& entry) { return entry.probe == probe; }));
}

}  // namespace fathom
