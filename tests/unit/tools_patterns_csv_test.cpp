#include "tools/predict/patterns.h"

#include "models/global_memory.h"
#include "models/shared_memory.h"
#include "test_folder.h"
#include "tests/testing.h"

namespace fathom {
namespace {

using namespace models;

std::string header() {
  std::string text = "op,bytes";
  for (int lane = 0; lane < 32; ++lane) text += ",lane" + std::to_string(lane);
  return text;
}

/// "load,4" and the addresses of as many lanes as given; the rest are inactive.
std::string row(const std::string& begin, const std::vector<std::string>& lanes = {}) {
  std::string text = begin;
  for (std::size_t lane = 0; lane < 32; ++lane)
    text += "," + (lane < lanes.size() ? lanes[lane] : "");
  return text;
}

std::array<int, 2> shared_answer(const WarpAccess& access) {
  const SharedCost cost = shared_cost(access);
  return {cost.wavefronts, cost.conflicts};
}

std::array<int, 2> global_answer(const WarpAccess& access) {
  const GlobalCost cost = global_cost(access);
  return {cost.sectors, cost.requests};
}

std::string answer(const std::string& text, AnswerOfAccess model = shared_answer) {
  const TestFolder folder;
  return answer_patterns(folder.write("patterns.csv", text), "a,b", model);
}

std::string refusal(const std::string& text, AnswerOfAccess model = shared_answer) {
  const Refusal refused = refusal_of([&] { answer(text, model); });
  CAPTURE(text.substr(0, 200));
  CHECK(refused.code == ExitCode::bad_input);
  return refused.text;
}

TEST_CASE("Line ends and byte order marks are not rows", "[tools]") {
  const std::string good = row("load,4", {"0", "128"});
  const std::string wanted = "a,b\n2,1\n1,0\n";
  const std::string last = row("store,8", {"8"});
  CHECK(answer(header() + "\n" + good + "\n" + last + "\n") == wanted);
  CHECK(answer(header() + "\n" + good + "\n" + last) == wanted);
  CHECK(answer(header() + "\r\n" + good + "\r\n" + last + "\r\n") == wanted);
  CHECK(answer("\xef\xbb\xbf" + header() + "\n" + good + "\n" + last + "\n") == wanted);
  CHECK_THAT(refusal(header() + "\n" + good + "\n\n" + good),
             contains(": row 2 (line 3): 1 column, not 34"));
  CHECK(answer(header()) == "a,b\n");
  CHECK(answer(header() + "\n") == "a,b\n");
  // No lane active; all of them; the last alone; hexadecimal.
  CHECK(answer(header() + "\n" + row("load,16") + "\n") == "a,b\n0,0\n");
  CHECK(answer(header() + "\n" + row("load,4", std::vector<std::string>(32, "4"))) == "a,b\n1,0\n");
  std::vector<std::string> last_lane(31);
  last_lane.push_back("0x80");
  CHECK(answer(header() + "\n" + row("load,4", last_lane)) == "a,b\n1,0\n");
  // The whole range of addresses in global memory, the end of shared memory.
  CHECK(answer(header() + "\n" + row("load,1", {"18446744073709551615", "0xFFFFFFFFFFFFFFFF"}),
               global_answer) == "a,b\n1,1\n");
  CHECK(answer(header() + "\n" + row("load,16", {"233456"})) == "a,b\n1,0\n");
}

struct Mistake {
  std::string row;
  const char* said;
};

TEST_CASE("A mistake in a row is refused with its row and column", "[tools]") {
  const auto mistake = GENERATE(
      Mistake{row("load,4", {"0", "6"}), ", column lane1: address 6 is not a multiple"},
      Mistake{row("load,4", {"233472"}), ", column lane0: address 233472 lies outside"},
      Mistake{row("load,16", {"0", "", "233464"}), ", column lane2: address 233464 is not"},
      Mistake{row("load,4", {"", "", "18446744073709551616"}),
              ", column lane2: `18446744073709551616` is no byte address"},
      Mistake{row("load,4", {"-4"}), ", column lane0: `-4` is no byte address"},
      Mistake{row("load,4", {"4.0"}), ", column lane0: `4.0` is no byte address"},
      Mistake{row("load,4", {" 4"}), ", column lane0: ` 4` is no byte address"},
      Mistake{row("load,4", {"four"}), ", column lane0: `four` is no byte address"},
      Mistake{row("load,4", {"0x"}), ", column lane0: `0x` is no byte address"},
      Mistake{row("load,4", {"\x01"}), ", column lane0: `<U+0001>` is no byte address"},
      Mistake{row("move,4", {"0"}), ", column op: `move` is neither load nor store"},
      Mistake{row("load,3", {"0"}), ", column bytes: `3` is no width"},
      Mistake{row("load,", {"0"}), ", column bytes: `` is no width"},
      Mistake{row("load,4", {"0"}) + ",", ": 35 columns, not 34"},
      Mistake{row("load,4", {"0"}).substr(0, 10), ": 5 columns, not 34"},
      Mistake{"load", ": 1 column, not 34"}, Mistake{"load;4;0;4;8", ": 1 column, not 34"});
  const std::string good = row("load,4", {"0"});
  INFO(mistake.row);
  CHECK_THAT(refusal(header() + "\n" + good + "\n" + mistake.row + "\n" + good + "\n"),
             contains(std::string(": row 2 (line 3)") + mistake.said) && EndsWith("."));
  // ... also in a last line without its end.
  CHECK_THAT(refusal(header() + "\r\n" + good + "\r\n" + mistake.row),
             contains(std::string(": row 2 (line 3)") + mistake.said));
}

TEST_CASE("A header that is not the header is refused", "[tools]") {
  const std::string good = "\n" + row("load,4", {"0"}) + "\n";
  for (const std::string& text :
       {std::string(), std::string("\n"), row("load,4", {"0"}), header() + ",lane32" + good,
        header().substr(0, header().rfind(',')) + good, "op,bytes,lane1" + good})
    CHECK_THAT(refusal(text), EndsWith("the first line must be op,bytes,lane0,...,lane31."));
}

TEST_CASE("A file that is no table, or none at all, is refused", "[tools]") {
  CHECK_THAT(refusal(header() + "\n" + std::string(std::size_t{3} << 20, 'x')),
             contains("line 2 goes on for over 1 MiB"));
  CHECK_THROWS_AS(answer_patterns("/nonexistent.csv", "a,b", shared_answer), Error);
  CHECK_THROWS_AS(answer_patterns("/", "a,b", shared_answer), Error);
}

}  // namespace
}  // namespace fathom
