// The programs as they are built, where no GPU is to be seen: hidden, if the machine has one.

#include <nlohmann/json.hpp>

#include "sandbox.h"
#include "tools/programs.h"

namespace fathom {
namespace {

const fs::path programs = fs::path(FATHOM_PROGRAM).parent_path();

class Hidden : public Sandbox {
 public:
  Hidden() : Sandbox({}) {
    set("FATHOM_BIN_DIR", programs);
    set("CUDA_VISIBLE_DEVICES", "");
  }
};

TEST_CASE("Every probe program describes itself, has help, and needs a GPU", "[e2e]") {
  Hidden box;
  const auto probes = find_probes(programs);
  CHECK(probes.size() == 15);
  for (const auto& probe : probes) {
    CAPTURE(probe.name);
    CHECK(probe.program.filename() ==
          (probe.name == "gemm" ? "gemm_ladder" : "probe_" + probe.name));
    CHECK(probe.question.ends_with('?'));
    CHECK(probe.claims.empty() == probe.group.starts_with("atlas"));  // that states facts
    expect(0, run_and_capture(probe.program, {"--help"}, 30s)).says("Examples:");
    expect(ExitCode::no_driver, run_and_capture(probe.program, {"--suite", "quick"}, 30s));
    expect(ExitCode::bad_input, run_and_capture(probe.program, {"--siute", "quick"}, 30s))
        .complains("Did you mean `--suite`?");
    // What a case starts once more has a probe of its own.
    expect(probe.name == "copy_bandwidth" ? ExitCode::no_driver : ExitCode::bad_input,
           run_and_capture(probe.program, {"--child"}, 30s));
  }
}

TEST_CASE("A report can have what today's programs conclude, and the document stays", "[e2e]") {
  Hidden box;
  // As it was measured: the recording itself may have been concluded again.
  nlohmann::json measured = nlohmann::json::parse(file_text(FATHOM_RECORDING_FILE));
  measured["context"]["fathom"]["notes"] = nlohmann::json::array();
  write_text(box.folder() / "measured.json", measured.dump());
  const auto page = [&](const std::string& flags) {
    expect(0, box.call("report measured.json --out out " + flags)).no_errors();
    return file_text(box.out() / "README.md");
  };
  lacks(page(""), "conclusions by fathom ");
  has(page("--conclude"), "conclusions by fathom ");
  CHECK(file_text(box.folder() / "measured.json") == measured.dump());
  // No program is needed for that, as on a machine without CUDA.
  box.set("FATHOM_BIN_DIR", box.folder() / "pci");  // which is empty
  has(page("--conclude"), "occupancy, tail_effect, warp_reduce: measured by fathom ");
}

TEST_CASE("The two probes that collect counters longest are never one GPU's of several", "[e2e]") {
  const auto probes = select_probes(find_probes(programs), {}, *find_run_suite("quick"));
  const auto place_of = [&](const char* probe) {
    const auto at = std::ranges::find(probes, probe, &ProbeBinary::name);
    REQUIRE(at != probes.end());
    return at - probes.begin();
  };
  // They are dealt out in turn.
  for (int gpus = 2; gpus <= 8; ++gpus)
    CHECK(place_of("model_validation") % gpus != place_of("copy_bandwidth") % gpus);
}

TEST_CASE("Without a GPU fathom-device fails, doctor and list answer", "[e2e]") {
  Hidden box;
  expect(ExitCode::no_driver, run_and_capture(programs / "fathom-device", {"--facts"}, 30s));
  const CapturedRun doctor =
      expect(0, run_and_capture(programs / "fathom-device", {"--doctor"}, 30s));
  CHECK_FALSE(nlohmann::json::parse(doctor.output).at("checks").empty());
  expect(ExitCode::no_driver, box.call("doctor"));
  const CapturedRun list = expect(0, box.call("list"));
  for (const ProbeBinary& probe : find_probes(programs)) has(list.output, probe.name);
}

}  // namespace
}  // namespace fathom
