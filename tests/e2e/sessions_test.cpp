// Sessions at a shell, tests/golden/sessions/*.txt: commands, and all that they say.
//
//   == What a session shows: first second    with fakes of these probes, in a folder of its own
//   $ fathom list | wc -l                    a line for the shell, which goes on from line to line
//   >2                                       what it writes on standard output
//   !fathom: There is no ...                 and on standard error
//   [2]                                      and its exit code, where that is not 0
//
// All else are comments. FATHOM_UPDATE_GOLDEN=1 writes what is said anew.

#include <regex>

#include "sandbox.h"
#include "tests/golden/golden.h"

using namespace fathom;

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// What differs from run to run.
std::string steady(std::string text, const Sandbox& box) {
  for (const auto& [what, as] : std::initializer_list<std::pair<std::string, const char*>>{
           {box.folder(), "DIR"},
           {FATHOM_SOURCE_DIR, "SOURCE"},
           {" on " + host_name(), " on HOST"},
           {"[0-9]{8}T[0-9]{6}Z", "TIME"},
           {"(cases in|round .*\\):|suite [a-z]+,) [0-9.]+ m?s", "$1 0 s"},
           {"[0-9.]+ m?s in all", "0 s in all"},
           {"(cpus|pids)( [0-9]+)+", "$1"}})
    text = std::regex_replace(text, std::regex(what), as);
  return text;
}

std::string play(const std::vector<std::string>& lines) {
  std::string probes = lines.front();
  const auto colon = probes.rfind(':');
  probes.erase(0, colon == probes.npos ? colon : colon + 1);
  Sandbox box(words(probes));
  std::vector<std::string> all{FATHOM_SOURCE_DIR};
  all.insert(all.end(), lines.begin(), lines.end());
  const CapturedRun run = expect(0, box.shell(". \"$1/tests/e2e/session.sh\"", all)).error_lines(0);
  return steady(run.output, box);
}

}  // namespace

TEST_CASE("Sessions are as they were", "[.session]") {
  for (const auto& file : fs::directory_iterator(FATHOM_SOURCE_DIR "/tests/golden/sessions")) {
    DYNAMIC_SECTION(file.path().stem().string()) {
      std::string played;
      std::vector<std::string> session;
      for (const std::string& line : lines_of(file_text(file) + "== ")) {
        if (line.starts_with("== ") && !session.empty()) {
          played += play(session);
          session.clear();
        }
        if (line.empty() || std::string(">![").find(line[0]) == std::string::npos)
          session.push_back(line);
      }
      check_golden(file, played);
    }
  }
}
