#include "tools/predict/predict.h"

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
  return {shared_cost(access).wavefronts, shared_cost(access).conflicts};
}

std::array<int, 2> global_answer(const WarpAccess& access) {
  return {global_cost(access).sectors, global_cost(access).requests};
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
  const std::string good = row("load,4", {"0", "128"}), last = row("store,8", {"8"});
  const std::string table = header() + "\n" + good + "\n" + last;
  for (const std::string& text : {table, table + "\n", "\xef\xbb\xbf" + table,
                                  header() + "\r\n" + good + "\r\n" + last + "\r\n"})
    CHECK(answer(text) == "a,b\n2,1\n1,0\n");
  CHECK_THAT(refusal(header() + "\n" + good + "\n\n" + good),
             contains(": row 2 (line 3): 0 columns, not 34"));
  CHECK(answer(header()) == "a,b\n");
  CHECK(answer(header() + "\n") == "a,b\n");
}

TEST_CASE("A row's lanes may be any, and its addresses as far as memory goes", "[tools]") {
  std::vector<std::string> last_lane(31);
  last_lane.push_back("0x80");
  for (const auto& [line, answered] : {std::pair{row("load,16"), "0,0"},
                                       {row("load,4", std::vector<std::string>(32, "4")), "1,0"},
                                       {row("load,4", last_lane), "1,0"},
                                       {row("load,16", {"233456"}), "1,0"}})
    CHECK(answer(header() + "\n" + line + "\n") == std::string("a,b\n") + answered + "\n");
  CHECK(answer(header() + "\n" + row("load,1", {"18446744073709551615", "0xFFFFFFFFFFFFFFFF"}),
               global_answer) == "a,b\n1,1\n");
}

TEST_CASE("A mistake in a row is refused with its row and column", "[tools]") {
  const std::string good = row("load,4", {"0"});
  for (const auto& [mistake, said] :
       {std::pair<std::string, std::string>{row("load,4", {"0", "6"}),
                                            ", column lane1: address 6 is not a multiple"},
        {row("load,4", {"233472"}), ", column lane0: address 233472 lies outside"},
        {row("load,16", {"0", "", "233464"}), ", column lane2: address 233464 is not"},
        {row("load,4", {"", "", "18446744073709551616"}),
         ", column lane2: `18446744073709551616` is no byte address"},
        {row("load,4", {"-4"}), ", column lane0: `-4` is no byte address"},
        {row("load,4", {"4.0"}), ", column lane0: `4.0` is no byte address"},
        {row("load,4", {" 4"}), ", column lane0: ` 4` is no byte address"},
        {row("load,4", {"four"}), ", column lane0: `four` is no byte address"},
        {row("load,4", {"0x"}), ", column lane0: `0x` is no byte address"},
        {row("load,4", {"\x01"}), ", column lane0: `<U+0001>` is no byte address"},
        {row("move,4", {"0"}), ", column op: `move` is neither load nor store"},
        {row("load,3", {"0"}), ", column bytes: `3` is no width"},
        {row("load,", {"0"}), ", column bytes: `` is no width"},
        {row("load,4", {"0"}) + ",", ": 35 columns, not 34"},
        {row("load,4", {"0"}).substr(0, 10), ": 5 columns, not 34"},
        {"load", ": 1 column, not 34"},
        {"load;4;0;4;8", ": 1 column, not 34"}}) {
    INFO(mistake);
    // Also in a last line without its end.
    for (const std::string& text : {header() + "\n" + good + "\n" + mistake + "\n" + good + "\n",
                                    header() + "\r\n" + good + "\r\n" + mistake})
      CHECK_THAT(refusal(text), contains(": row 2 (line 3)" + said) && EndsWith("."));
  }
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
