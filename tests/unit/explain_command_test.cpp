#include "explain/explain.h"
#include "tests/golden/golden.h"
#include "tests/testing.h"
#include "tests/unit/explain_trace.h"
#include "tests/unit/test_folder.h"

using namespace fathom;
using namespace fathom::explain;
using test::pattern;
using test::strided;
using test::TraceBytes;

namespace {

std::uint64_t random_word(unsigned lane) {
  std::mt19937 engine(lane);
  return engine() % 10000 * 4;
}

std::vector<std::pair<const char*, Pattern>> planted() {
  constexpr auto global = Space::global, shared = Space::shared;
  constexpr auto load = Op::load, store = Op::store;
  const auto row_column = [](unsigned lanes_per_row, unsigned pitch, unsigned bytes) {
    return [=](unsigned i) { return i / lanes_per_row * pitch + i % lanes_per_row * bytes; };
  };
  return {{"a copy", pattern(global, load, 4, strided(4))},
          {"one word", pattern(global, load, 4, [](unsigned) { return 8; })},
          {"every second float", pattern(global, load, 4, strided(8))},
          {"every fourth, stored", pattern(global, store, 4, strided(16))},
          {"a member of seven floats", pattern(global, load, 4, strided(28, 24))},
          {"down a column", pattern(global, load, 4, strided(4096))},
          {"pairs down a column", pattern(global, load, 4, row_column(2, 4096, 4))},
          {"one float on", pattern(global, load, 4, strided(4, 4))},
          {"two rows of an odd pitch", pattern(global, load, 4, row_column(16, 1004, 4))},
          {"a gather", pattern(global, load, 4, random_word)},
          {"an atomic", pattern(global, Op::atomic, 4, strided(128))},
          {"a row", pattern(shared, load, 4, strided(4))},
          {"a padded column", pattern(shared, load, 4, strided(132))},
          {"a column of floats", pattern(shared, load, 4, strided(128))},
          {"a column of doubles", pattern(shared, load, 8, strided(128))},
          {"rows of ldmatrix", pattern(shared, Op::matrix_load, 16, strided(128))},
          {"a fragment of 8 by 4", pattern(shared, load, 4, row_column(4, 128, 4))},
          {"random words, for which no layout is a fix", pattern(shared, load, 4, random_word)},
          {"no lane", pattern(shared, load, 4, random_word, 0, 1, 0)}};
}

}  // namespace

TEST_CASE("A planted fault is named, and what its fix saves", "[explain]") {
  std::string all;
  for (const auto& [name, access] : planted()) {
    const PatternCost cost = cost_of(access);
    all += fmt::format("{}: {} and at least {}\n", name, cost.cost, cost.least);
    if (cost.fault)
      all += fmt::format("  {}: {}; {}: {} fewer\n", to_string(cost.fault->rule), cost.fault->what,
                         cost.fault->fix, cost.fault->saved);
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/explain_rules.txt", all);
}

namespace {

/// Two kernels: `f(float*)` has a stride on line 16, `g` a conflict on line 32 and half-empty warps
/// on line 48.
TraceBytes two_kernels() {
  TraceBytes trace;
  trace.module(1, "machine code");
  trace.launch("_Z1fPf", {pattern(Space::global, Op::load, 4, strided(16), 16, 8),
                          pattern(Space::global, Op::store, 4, strided(4), 32, 8)});
  trace.launch("g",
               {pattern(Space::shared, Op::load, 4, strided(128), 32, 100),
                pattern(Space::global, Op::store, 4, strided(4), 48, 100, 0xffff)},
               48);
  trace.total(3, "_Z1fPf");
  trace.total(1, "g");
  return trace;
}

/// What CUPTI counted of a launch.
const Counts counters{{"global_load_sectors", 80},     {"global_store_sectors", 0},
                      {"shared_load_wavefronts", 640}, {"shared_load_conflicts", 620},
                      {"dram_read_bytes", 1e6},        {"dram_write_bytes", 1e6},
                      {"l2_read_sectors", 80},         {"gpu_time", 2000}};

std::optional<SourceLine> offset_as_line(const std::vector<char>& code, const std::string&,
                                         std::uint64_t offset) {
  if (std::string(code.begin(), code.end()) != "machine code") return {};
  return SourceLine{"app.cu", static_cast<unsigned>(offset)};
}

Explanation explanation_of(const std::string& bytes) {
  return explain::explain(test::read({bytes}), offset_as_line);
}

/// What `fathom explain -- sh -c SCRIPT` ends with; $TRACE is where the recording would be.
struct Run : TestFolder {
  Tools tools{write("libinjection.so", ""), "/opt/libsanitizer.so", offset_as_line};
  ExplainArguments arguments;
  Run() {
    arguments.format = "json";
    arguments.out = *this / "out";
  }
  int operator()(const std::string& script) {
    arguments.program = {"sh", "-c", "TRACE=$FATHOM_EXPLAIN_FOLDER/1.trace; " + script};
    return to_int(explain::explain_command(arguments, tools));
  }
  Refusal failing(const std::string& script) {
    return refusal_of([&] { (*this)(script); });
  }
  /// The command that leaves such a recording.
  std::string recording(const std::string& name, const TraceBytes& trace,
                        const std::string& to = "$TRACE") const {
    return "cp " + write(name, trace.bytes).string() + " " + to + "; ";
  }
};

}  // namespace

TEST_CASE("The pages of a recording say what was sampled and measured, the line and the fix",
          "[explain]") {
  TraceBytes trace = two_kernels();
  // Misalignments with one fix are one fault.
  trace.launch("misaligned", {pattern(Space::global, Op::load, 4, strided(4, 4), 16, 8),
                              pattern(Space::global, Op::load, 4, strided(4, 8), 16, 8),
                              pattern(Space::global, Op::load, 4, strided(4), 16, 8)});
  trace.launch(std::string(200, 'f'), {pattern(Space::global, Op::load, 4, strided(16))});
  trace.launch("idle", {});
  trace.counted("g", counters);
  // Issues are no waiting.
  trace.sampled({"g", 16, {{"long_scoreboard", 50}, {"selected", 900}}, SourceLine{"app.cu", 7}});
  trace.sampled({"g", 48, {{"barrier", 10}}, SourceLine{"app.cu", 7}});
  trace.sampled({"g", 80, {{"wait", 40}}, {}});
  trace.sampled({"g", 96, {{"selected", 5}}, SourceLine{"app.cu", 9}});
  trace.sampled({"not recorded", 16, {{"wait", 40}}, {}});
  std::string all;
  for (const FindLine& find_line : {FindLine(offset_as_line), FindLine(test::no_line)}) {
    Explanation found =
        explain::explain(test::read({trace.bytes}), find_line, {{{"DRAM", 4e12}}, "atlas.json"});
    found.command = "./app -n 3";
    found.seconds = 1.5;
    found.end = "exit status 0";
    for (const char* format : {"text", "md"}) all += page_of(found, "atlas.json", format) + "\n";
    all += page_of(found, "", "json");
  }
  check_golden(FATHOM_SOURCE_DIR "/tests/golden/explain.txt", all);
}

TEST_CASE("A counter that disagrees with the recording is named", "[explain]") {
  Counts other = counters;
  other["shared_load_wavefronts"] = 650;
  // Half the blocks say nothing about the whole, nor where other launches were counted.
  for (const auto& [every, launches, counted, said] :
       {std::tuple(1, 1, counters, "; the recording says the same"),
        {1, 1, other, "; recorded: 640 shared_load_wavefronts"},
        {2, 1, other, "; the recording is of a part"},
        {1, 2, other, "; the recording is of a part"}}) {
    TraceBytes trace;
    trace.launch("f",
                 {pattern(Space::global, Op::load, 4, strided(4), 16, 20),
                  pattern(Space::shared, Op::load, 4, strided(128), 32, 20)},
                 64, every);
    for (int launch = 0; launch < launches; ++launch) trace.counted("f", counted);
    CHECK_THAT(page_of(explanation_of(trace.bytes), "", "text"), contains(said));
  }
}

TEST_CASE("A damaged measurement is refused", "[explain]") {
  for (const char* text : {"", "7", "{\"f\": 7}", "{\"f\": {\"gpu_time\": \"many\"}}",
                           "{\"f\": {\"gpu_time\": -1}}"}) {
    TraceBytes damaged;
    damaged.counted(text);
    CHECK_THROWS_AS(test::read({damaged.bytes}), Error);
  }
}

TEST_CASE("What the GPU can move is taken from a result's facts", "[explain]") {
  Document atlas;
  atlas.facts.resize(2);
  atlas.facts[0].id = "dram.bandwidth";
  atlas.facts[0].value = 3e12;
  atlas.facts[1].id = "l2.bandwidth";
  const Bounds found = bounds_of(atlas, "atlas.json");
  CHECK(found.by_level == std::map<std::string, double>{{"DRAM", 3e12}});
}

TEST_CASE("A recording cut short keeps whole launches, a damaged one is refused", "[explain]") {
  const std::string whole = two_kernels().bytes;
  std::size_t kept = 0, malformed = 0;
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    const Refusal refused = refusal_of([&] {
      const Trace trace = test::read({whole.substr(0, bytes)});
      kept += trace.launches.size() == 1 && trace.cut_short ? 1 : 0;
      CHECK(trace.launches.size() < 3);
    });
    CHECK(refused.code ==
          (bytes < sizeof trace_magic - 1 ? ExitCode::document_malformed : ExitCode::ok));
  }
  CHECK(kept > 10);
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    const Refusal refused = refusal_of([&] { explanation_of(damaged); });
    if (refused.code == ExitCode::ok) continue;
    malformed += refused.code == ExitCode::document_malformed;
    CHECK_THAT(refused.text, contains("is no recording of `fathom explain`"));
  }
  CHECK(malformed > 100);
}

TEST_CASE("explain passes on the program's exit status and writes what it recorded", "[explain]") {
  Run run;
  const std::string copy = run.recording("made", two_kernels());
  for (const auto& [end, code, said] : {std::tuple("exit 0", 0, "\"end\": \"exit status 0\""),
                                        {"exit 7", 7, "exit status 7"},
                                        {"kill -SEGV $$", 128 + 11, "signal SIGSEGV"},
                                        {"kill -INT $$", 130, "bank conflict"}}) {
    CHECK(run(copy + end) == code);
    CHECK_THAT(file_text(run / "out"), contains(said));
  }
}

TEST_CASE("explain gives the program what the library in it needs", "[explain]") {
  Run run;
  run.arguments.kernel = "a b";
  run.arguments.blocks = 0;
  run.failing(
      "env | grep -E '^(CUDA_INJECTION64_PATH|FATHOM_EXPLAIN)' | grep -v FOLDER= | sort > " +
      (run / "seen").string());
  CHECK(file_text(run / "seen") == "CUDA_INJECTION64_PATH=" + run.tools.injection.string() +
                                       "\nFATHOM_EXPLAIN_BLOCKS=0\nFATHOM_EXPLAIN_KERNEL=a b\n"
                                       "FATHOM_EXPLAIN_LAUNCHES=3\n"
                                       "FATHOM_EXPLAIN_SANITIZER=/opt/libsanitizer.so\n");
  CHECK(std::getenv("CUDA_INJECTION64_PATH") == nullptr);
}

TEST_CASE("With --counters the program runs twice more, and is measured", "[explain]") {
  Run run;
  run.tools.measure = "/opt/libmeasure.so";
  run.tools.cupti = "/opt/cupti";
  run.arguments.counters = true;
  const std::string record = run.recording("made", two_kernels());
  const std::string say =
      "echo $CUDA_INJECTION64_PATH $FATHOM_EXPLAIN_MEASURE $FATHOM_CUPTI_DIR >> " +
      (run / "seen").string() + "; ";
  CHECK(run(say + record + "exit 7") == 7);
  CHECK(file_text(run / "seen") == run.tools.injection.string() +
                                       "\n/opt/libmeasure.so counters /opt/cupti\n"
                                       "/opt/libmeasure.so stalls /opt/cupti\n");
  // Ctrl-C in a further run ends it, and what was recorded is explained.
  std::filesystem::remove(run / "seen");
  CHECK(run(say + "[ -n \"$FATHOM_EXPLAIN_MEASURE\" ] && kill -INT $$; " + record + "exit 7") ==
        130);
  CHECK_THAT(file_text(run / "seen"), !contains("stalls"));
  CHECK_THAT(file_text(run / "out"), contains("bank conflict"));
}

TEST_CASE("Bounds are of a GPU that has a recording, whichever process used it", "[explain]") {
  const auto recorded = [](const std::string& first, const std::string& second) {
    Run run;
    run.arguments.format = "text";
    std::string copies;
    for (const std::string& gpu : {first, second}) {
      TraceBytes trace = two_kernels();
      trace.gpu(gpu);
      copies += run.recording(gpu, trace, "${TRACE%1.trace}" + gpu);
    }
    run(copies);
    return file_text(run / "out");
  };
  // The folder gives them in an order of its own.
  const std::string atlas = "recordings/h200/atlas/result.json";
  CHECK_THAT(recorded("H200", "Other"), contains(atlas));
  CHECK_THAT(recorded("Another", "H200"), contains(atlas));
  CHECK_THAT(recorded("Another", "Other"), !contains("recordings/"));
}

TEST_CASE("explain says in one sentence why there is nothing to explain", "[explain]") {
  Run run;
  TraceBytes no_match, misfit;
  no_match.total(4, "_Z5otherPf");
  misfit.note("Compute Sanitizer's library does not fit this driver");
  run.arguments.kernel = "wanted";
  for (const auto& [script, code, sentence] :
       {std::tuple<std::string, int, const char*>{"exit 0", 5, "sh did not use CUDA"},
        {"exit 9", 9, "ended with exit status 9"},
        {run.recording("other", no_match), 5,
         "No kernel matches --kernel wanted; sh launched other(float*), for example."},
        {run.recording("misfit", misfit), 23,
         "Nothing was recorded: Compute Sanitizer's library does not fit this driver."}}) {
    const Refusal refused = run.failing(script);
    CHECK(to_int(refused.code) == code);
    CHECK_THAT(refused.text, contains(sentence));
  }
  run.arguments.program = {"/nowhere/app"};
  CHECK_THROWS_AS(explain::explain_command(run.arguments, run.tools), Error);
}

TEST_CASE("explain refuses what it cannot do before the program starts", "[explain]") {
  const auto refused = [](int code, const char* said, auto change) {
    Run run;
    change(run);
    const Refusal refusal = run.failing("exit 0");
    CHECK(to_int(refusal.code) == code);
    CHECK_THAT(refusal.text, contains(said));
  };
  refused(2, "--kernel", [](Run& r) { r.arguments.kernel = "("; });
  refused(23, "", [](Run& r) { r.tools.sanitizer.clear(); });
  refused(23, "", [](Run& r) { r.tools.injection = "/nowhere/lib.so"; });
  refused(23, "libcupti.so for --counters", [](Run& r) { r.arguments.counters = true; });
  Environment environment;
  environment.set("CUDA_INJECTION64_PATH", "/other/tool.so");
  refused(2, "one tool at a time", [](Run&) {});
}
