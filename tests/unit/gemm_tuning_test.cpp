// Tuned choices on disk and in a run, without a GPU.

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <set>

#include "gemm/autotune.h"
#include "gemm/fp32/tiling_variants.h"
#include "gemm/fp32/tilings.h"
#include "gemm/kernel_names.h"
#include "gemm/request.h"
#include "gemm/tuning.h"
#include "results/error.h"
#include "tests/unit/report_folder.h"

using namespace fathom;
using namespace fathom::gemm;
using Catch::Matchers::ContainsSubstring;

namespace {

const TuningFingerprint h200{"NVIDIA H200", "580.65.06", 132};
const Problem product = make_problem(Class::fp32, 512, 256, 1024);

TunedChoice choice(const std::string& rung, const std::string& of, const std::string& variant) {
  return {rung, of, variant, "the default", 1.25e-3, 1.5e-3, 7, "2026-01-31T12:00:00Z", "0.1.0 (1a2b3c4d)"};
}

Rung rung_with_variants() {
  Rung rung;
  rung.id = "fp32/99_many_ways";
  rung.variants = [](const Problem&, int) { return std::vector<Variant>{{"first", {}, 0, {}}, {"second", {}, 0, {}}}; };
  return rung;
}

/// What the Error says that `act` throws; empty if it throws none.
template <class Act>
std::string refusal(const Act& act, ExitCode expected) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(error.code() == expected);
    return error.what();
  }
  return "";
}

/// What reading the text says.
std::string refusal(const ReportFolder& folder, const std::string& text) {
  const auto path = folder.path() / "tuning.json";
  std::ofstream(path, std::ios::binary) << text;
  return refusal([&] { read_tuning_file(path); }, ExitCode::document_malformed);
}

std::string file_of(const std::string& gpu, const std::string& sms, const std::string& choices) {
  return R"({"fathom_tuning": 1, "gpu": )" + gpu + R"(, "driver": "580", "sms": )" + sms + R"(, "choices": )" + choices + "}";
}

std::string all(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

/// An environment variable as it was before, afterwards.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("tuned choices come back from disk, and a newer one takes the place of its product's", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "deeper" / "tuning.json";
  const std::vector two{choice("fp32/b", "p", "x"), choice("fp32/a", "p", "y")};
  write_choices(path, h200, two);
  TuningFile file = read_tuning_file(path);
  CHECK(file.fingerprint == h200);
  CHECK(file.choices == std::vector{two[1], two[0]});  // by rung
  const TunedChoice newer = choice("fp32/a", "p", "z"), other = choice("fp32/a", "q", "y");
  write_choices(path, h200, std::vector{newer, other});
  CHECK(read_tuning_file(path).choices == std::vector{newer, other, two[0]});
  // Of another driver none of them says anything.
  const TuningFingerprint updated{"NVIDIA H200", "590.1", 132};
  write_choices(path, updated, std::vector{other});
  file = read_tuning_file(path);
  CHECK(file.fingerprint == updated);
  CHECK(file.choices == std::vector{other});
  // No temporary file stays behind.
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("a file of tuned choices that is none is refused in one sentence with the place", "[gemm]") {
  const ReportFolder folder;
  CHECK(refusal(folder, file_of("\"H200\"", "132", "[]")).empty());
  for (const auto& [text, expected] :
       {std::pair<std::string, std::string>{
            "", "is empty; a file of tuned choices (JSON) was expected."},
        {"{\"fathom_tuning\": 1", "it may be truncated, or not a file of tuned choices."},
        {"[]", "should be an object"},
        {"{\"fathom_tuning\": 2}", "/fathom_tuning should be a whole number from 1 to 1"},
        {"{\"fathom_tuning\": true}", "/fathom_tuning"},
        {file_of("7", "132", "[]"), "/gpu should be a text"},
        {file_of("\"H200\"", "0", "[]"), "/sms should be"},
        {file_of("\"H200\"", "1e3", "[]"), "/sms should be"},
        {file_of("\"H200\"", "18446744073709551615", "[]"), "/sms should be"},
        {file_of("\"H200\"", "132", "{}"), "/choices should be a list"},
        {file_of("\"H200\"", "132", "[3]"), "/choices/0 should be an object"},
        {file_of("\"H200\"", "132", "[{\"rung\": \"a\"}]"), "/choices/0/product should be a text"},
        {file_of("\"H200\"", "132",
                 R"([{"rung":"a","product":"b","variant":"c","default_variant":"d","seconds":0}])"),
         "/choices/0/seconds should be a positive number"}}) {
    CAPTURE(text);
    const std::string sentence = refusal(folder, text);
    CHECK_THAT(sentence, ContainsSubstring(expected));
    CHECK_THAT(sentence, ContainsSubstring("tuning.json"));
    CHECK(sentence.find('\n') == std::string::npos);
  }
}

TEST_CASE("processes that keep choices at once lose none", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "tuning.json";
  constexpr int writers = 4, each = 8;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    children.push_back(child);
    if (child != 0) continue;
    int failed = 0;
    for (int i = 0; i < each; ++i) {
      try {
        const TunedChoice mine = choice("fp32/" + std::to_string(w), std::to_string(i), "v");
        write_choices(path, h200, {&mine, 1});
      } catch (...) {
        failed = 1;
      }
    }
    _exit(failed);
  }
  for (const pid_t child : children) {  // not just any: other tests may have children too
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(read_tuning_file(path).choices.size() == writers * each);
}

TEST_CASE("where choices are kept follows the XDG specification", "[gemm]") {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable state("XDG_STATE_HOME", "/state");
    CHECK(default_tuning_file("NVIDIA H200") == "/state/fathom/tuning/nvidia-h200.json");
  }
  const Variable relative("XDG_STATE_HOME", "relative");
  CHECK(default_tuning_file("NVIDIA H200") == "/home/somebody/.local/state/fathom/tuning/nvidia-h200.json");
  CHECK(default_tuning_file("../x") == "/home/somebody/.local/state/fathom/tuning/x.json");
  const Variable nowhere("HOME", nullptr);
  CHECK(default_tuning_file("NVIDIA H200").empty());
  CHECK_NOTHROW(Tuning({}, h200));
  CHECK_THROWS_AS(Tuning({.tune = true}, h200), Error);
}

TEST_CASE("a choice is used where the GPU is the same and the variant still there, and that is said", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "tuning.json";
  const Rung rung = rung_with_variants();
  const auto variants = rung.variants(product, 132);
  write_choices(path, h200, std::vector{choice(rung.id, product.describe(), "second")});

  Tuning same({.file = path}, h200);
  CHECK(same.notes().empty());  // nothing was used yet
  REQUIRE(same.find(rung, product, variants) != nullptr);
  same.find(rung, product, variants);
  REQUIRE(same.notes().size() == 1);
  CHECK_THAT(same.notes()[0], ContainsSubstring("were used for one product") && ContainsSubstring("tuning.json") &&
                                  ContainsSubstring(rung.id + " on " + product.describe() + ": second"));

  CHECK(same.find(rung, make_problem(Class::fp32, 512, 256, 1025), variants) == nullptr);
  CHECK_THAT(same.notes().at(0),
             ContainsSubstring("has no tuned choice for " + rung.id + " on fp32 NN 512x256x1025,"));
  CHECK(same.find(rung, make_problem(Class::fp32, 512, 256, 1026), variants) == nullptr);
  CHECK_THAT(same.notes().at(0), ContainsSubstring("for 2 products, the first " + rung.id));

  Tuning gone({.file = path}, h200);
  CHECK(gone.find(rung, product, {{"first", {}, 0, {}}}) == nullptr);
  CHECK_THAT(all(gone.notes()), ContainsSubstring("no such variant any more"));

  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  write_choices(default_tuning_file(h200.gpu), h200,
                std::vector{choice(rung.id, product.describe(), "second")});
  Tuning other({}, {"NVIDIA H200", "590.1", 132});
  CHECK(other.find(rung, product, variants) == nullptr);
  CHECK_THAT(all(other.notes()), ContainsSubstring("are not used") && ContainsSubstring("driver 580.65.06") &&
                                     ContainsSubstring("driver 590.1"));

  Tuning without({.unused = true}, h200);
  CHECK(without.find(rung, product, variants) == nullptr);
  CHECK(without.notes().empty());
}

TEST_CASE("a run that tunes makes choices anew, once, and keeps them", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "tuning.json";
  const Rung rung = rung_with_variants();
  const auto variants = rung.variants(product, 132);
  write_choices(path, h200, std::vector{choice(rung.id, product.describe(), "second")});
  Tuning tuning({.tune = true, .file = path}, h200);
  CHECK_FALSE(tuning.is_of_this_run(tuning.find(rung, product, variants)));
  tuning.keep(choice(rung.id, product.describe(), "first"));
  const TunedChoice* kept = tuning.find(rung, product, variants);
  REQUIRE(kept != nullptr);
  CHECK(tuning.is_of_this_run(kept));
  CHECK(kept->variant == "first");
  CHECK(read_tuning_file(path).choices.at(0).variant == "first");
  REQUIRE(tuning.notes().size() == 1);
  CHECK_THAT(tuning.notes()[0], ContainsSubstring("Autotuning chose") && ContainsSubstring("1.25 ms against 1.5 ms"));
}

TEST_CASE("a named file that cannot serve ends the run; the default file does not", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "mine.json";
  CHECK_THROWS_AS(Tuning({.file = path}, h200), Error);  // there is none
  CHECK_NOTHROW(Tuning({.tune = true, .file = path}, h200));
  write_choices(path, {"NVIDIA A100", "580.65.06", 108}, {});
  for (const bool tune : {true, false}) {  // somebody else's
    const std::string said =
        refusal([&] { Tuning({.tune = tune, .file = path}, h200); }, ExitCode::bad_input);
    CHECK_THAT(said, ContainsSubstring("NVIDIA A100") && ContainsSubstring("NVIDIA H200") &&
                         ContainsSubstring("--tuning"));
  }
  std::ofstream(path) << "not JSON";
  CHECK_THROWS_AS(Tuning({.file = path}, h200), Error);
  CHECK_THROWS_AS(Tuning({.tune = true, .file = path}, h200), Error);

  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  const auto usual = default_tuning_file(h200.gpu);
  std::filesystem::create_directories(usual.parent_path());
  std::ofstream(usual) << "not JSON";
  const Tuning reads({}, h200);
  REQUIRE(reads.notes().size() == 1);
  CHECK_THAT(reads.notes()[0], ContainsSubstring("not used"));
  Tuning tunes({.tune = true}, h200);
  CHECK_THAT(all(tunes.notes()), ContainsSubstring("replaced by this run's"));
  tunes.keep(choice("fp32/a", "p", "x"));
  CHECK(read_tuning_file(usual).choices.size() == 1);
}

TEST_CASE("a file that cannot be tuned into ends the run before anything is timed", "[gemm]") {
  const ReportFolder folder;
  const auto path = folder.path() / "mine.json";
  CHECK_NOTHROW(Tuning({.tune = true, .file = path}, h200));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(std::filesystem::is_empty(folder.path()));
  std::ofstream(path) << "{}";
  for (const auto& unwritable :
       {path / "below_a_file.json", std::filesystem::path("/proc/mine.json")}) {
    const std::string said = refusal([&] { Tuning({.tune = true, .file = unwritable}, h200); },
                                     ExitCode::output_unwritable);
    CHECK_THAT(said, ContainsSubstring("--tuning"));
  }
  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  const auto usual = default_tuning_file(h200.gpu);
  std::filesystem::create_directories(usual);  // a folder has the name
  CHECK_THAT(refusal([] { Tuning({.tune = true}, h200); }, ExitCode::output_unwritable),
             ContainsSubstring("cannot be written to"));
  CHECK(std::distance(std::filesystem::directory_iterator(usual.parent_path()), {}) == 1);
}

TEST_CASE("a run that finds nothing to tune says so", "[gemm]") {
  const ReportFolder folder;
  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  Tuning tuning({.tune = true}, h200);
  CHECK_THAT(all(tuning.notes()),
             ContainsSubstring("Nothing was tuned") && ContainsSubstring("fp32/22_planned_tiles"));
  const Rung rung = rung_with_variants();
  tuning.find(rung, product, rung.variants(product, 132));
  CHECK(tuning.notes().empty());
  CHECK(Tuning({}, h200).notes().empty());
}

TEST_CASE("the command line's words for tuning", "[gemm]") {
  CHECK_FALSE(read_request({}).tuning.tune);
  const Request request = read_request({{"autotune", std::int64_t{1}}, {"tuning", std::string("f.json")}});
  CHECK((request.tuning.tune && request.tuning.file == "f.json"));
  CHECK_THROWS_AS(read_request({{"no-tuning", std::int64_t{1}}, {"autotune", std::int64_t{1}}}), Error);
  CHECK_THROWS_AS(read_request({{"no-tuning", std::int64_t{1}}, {"tuning", std::string("f")}}), Error);
  CHECK_THROWS_AS(read_request({{"tuning", std::string()}}), Error);
}

TEST_CASE("a variant is preferred to the default only where it is clearly faster", "[gemm]") {
  CHECK(choose_variant({1.0}) == 0);
  CHECK(choose_variant({1.0, 0.999, 0.998}) == 0);
  CHECK(choose_variant({1.0, 0.98, 0.97, 0.99}) == 2);
  CHECK(choose_variant({1.0, 1.2}) == 0);
}

TEST_CASE("the tilings' variants begin with the plan's and fit the product", "[gemm]") {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4096, 4096, 4096}, {128, 8192, 8192}, {16, 8192, 8192}, {300, 300, 7}}) {
    const Problem problem = make_problem(Class::fp32, m, n, k);
    const auto variants = fp32::tiling_variants(problem, 132);
    CAPTURE(problem.describe(), variants.size());
    const fp32::Plan plan = fp32::make_plan(problem, 132);
    REQUIRE(plan.tiling != nullptr);
    REQUIRE_FALSE(variants.empty());
    CHECK(variants.front().kernel.function == plan.tiling->kernel.function);
    CHECK(variants.front().kernel.parts == plan.parts);
    std::set<std::string> names;
    for (const Variant& variant : variants) {
      CHECK(names.insert(variant.name).second);
      CHECK(variant.workspace_bytes == fp32::bytes_of_parts(problem, variant.kernel.parts));
      CHECK(variant.launch);
    }
    CHECK(variants.size() > 1);
    CHECK(variants.size() < 60);
  }
  CHECK(fp32::tiling_variants(make_problem(Class::fp32, 4, 4, 4), 132).empty());
}

TEST_CASE("a kernel's name is shown without what a reader does not need", "[gemm]") {
  CHECK(readable_kernel_name("ampere_sgemm_128x128_nn") == "ampere_sgemm_128x128_nn");
  CHECK(readable_kernel_name("_Z4copyILi4EEvPKfPf") == "copy<4>");
  CHECK(readable_kernel_name("_ZN12_GLOBAL__N_13addEPf") == "(anonymous namespace)::add");
  CHECK(readable_kernel_name(std::string(300, 'x')).size() == 160);
}
